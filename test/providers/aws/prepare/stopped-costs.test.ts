// needs: botocore

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diskPrice } from '../../../../lab/cloud/cloud.ts';
import { completeFromPrepared } from '../../../../src/providers/aws/complete.ts';
import { specOf } from '../../../core/spec/cluster-text.ts';
import { cluster, isChange, preparationBed } from './prepare-bed.ts';

const kept = (worker: string): string =>
  cluster({ worker }).replace('cache_stopped_nodes: false', 'cache_stopped_nodes: true');

const disk = (device: string, size: number, more = ''): string =>
  `{DeviceName: ${device}, Ebs: {VolumeSize: ${size}${more}}}`;

test('a stopped worker costs what its disks cost: those of its image, and those of the file', async (t) => {
  const { up, image, world } = await preparationBed(t);
  const { rootDevice, rootGib } = world.images('123456789012', 'us-west-2').find(({ id }) => id === image)!;
  const costOf = async (...disks: readonly string[]): Promise<number | undefined> =>
    (await up({ text: kept(`ImageId: ${image}, BlockDeviceMappings: [${disks.join(', ')}]`) })).types['worker']
      ?.stoppedPerHour;
  const near = (cost: number | undefined, gib: number) =>
    assert.ok(Math.abs((cost ?? 0) - gib * diskPrice) < 1e-9, `${cost} is not the price of ${gib} GiB`);
  near(await costOf(), rootGib);
  near(await costOf(disk(rootDevice, 100)), 100);
  near(await costOf(disk('/dev/sdf', 40, ', VolumeType: gp3')), rootGib + 40);
  near(await costOf('{DeviceName: /dev/sdb, VirtualName: ephemeral0}'), rootGib);
  assert.equal(await costOf(disk('/dev/sdf', 40, ', VolumeType: io2, Iops: 1000')), undefined, 'they are not all');
});

test('offers on demand carry it, and it is asked for only where workers are stopped', async (t) => {
  const bed = await preparationBed(t);
  const text = kept('');
  const prepared = await bed.up({ text });
  const { offers } = completeFromPrepared(specOf(text), prepared).nodeTypes.find(({ name }) => name === 'worker')!;
  assert.ok(offers.length > 0 && offers.every(({ stoppedPerHour = 0 }) => stoppedPerHour > 0));
  const spot = await bed.up({ text: kept('InstanceMarketOptions: {MarketType: spot}') });
  assert.equal(spot.types['worker']?.stoppedPerHour, undefined);
  assert.equal((await bed.up({ text: cluster() })).types['worker']?.stoppedPerHour, undefined);
});

test('where AWS does not tell the price, the cost of stopped workers is not known, and the rest is prepared', async (t) => {
  const bed = await preparationBed(t);
  bed.cloud.faults.add({ fault: 'refuse', call: 'GetProducts', code: 'AccessDeniedException', message: 'no' });
  const { types } = await bed.up({ text: kept('') });
  assert.equal(types['worker']?.stoppedPerHour, undefined);
  assert.ok((await bed.calls()).some(isChange));
});
