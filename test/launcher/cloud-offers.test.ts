import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ClusterSpec } from '../../src/core/spec/cluster.ts';
import { ensureCloudHead } from '../../src/launcher/head/cloud-head.ts';
import { labCloud } from '../../src/providers/lab-cloud/descriptor.ts';
import type { LateRefusal, ProviderInstance } from '../../src/providers/provider.ts';
import { readLaptopRecord } from '../../src/state/cluster-record.ts';
import { never, until } from '../contract/waiting.ts';
import { cloudBed, zoneA, zoneB } from './cloud-bed.ts';

const both = `, availability_zone: "${zoneA},${zoneB}"`;

test('the head is asked for in the zones of the file in turn, each with a token of its own', async (t) => {
  const { admin, textOf, requestFor, told, existing } = await cloudBed(t, {
    settings: { capacity: [{ zone: zoneA, limit: 0 }] },
  });
  const request = requestFor(textOf(both));
  const { id, zone } = await ensureCloudHead(request, never);
  assert.equal(zone, zoneB);
  assert.deepEqual(existing(), [id]);
  const launches = await admin.calls({ call: 'launch' });
  assert.deepEqual(
    launches.map(({ asked, status }) => [asked?.zone, status === 200]),
    [
      [zoneA, false],
      [zoneB, true],
    ],
  );
  assert.notEqual(launches[0]?.asked?.token, launches[1]?.asked?.token);
  assert.ok(told.includes('MANTA_LAUNCHER_HEAD_REFUSED_THERE'));
  assert.equal(readLaptopRecord(request.folder)?.remote.zone, zoneB);
});

test('where no zone has room for the head, the error lists what was tried', async (t) => {
  const { textOf, requestFor, existing } = await cloudBed(t, { settings: { capacity: [{ limit: 0 }] } });
  await assert.rejects(
    ensureCloudHead(requestFor(textOf(both)), never),
    (error: Error & { code?: string; exit?: number }) => {
      assert.deepEqual([error.code, error.exit], ['MANTA_LAUNCHER_HEAD_REFUSED', 5]);
      assert.match(error.message, new RegExp(`${zoneA}: .*no capacity[^]*${zoneB}: .*no capacity`));
      return true;
    },
  );
  assert.deepEqual(existing(), []);
});

test('a head that was asked for in the second zone and not answered is asked for there first, by the same token', async (t) => {
  const { cloud, admin, textOf, requestFor, existing } = await cloudBed(t, {
    settings: { capacity: [{ zone: zoneA, limit: 0 }] },
  });
  cloud.faults.add({ fault: 'lost-answer', call: 'launch', zone: zoneB, times: 5 });
  const request = requestFor(textOf(both));
  await assert.rejects(ensureCloudHead(request, never), /MANTA_PROVIDER_UNREACHABLE|did not answer/);
  // Room comes back where the first try was refused: a second head could be made there.
  cloud.settings = { ...cloud.settings, capacity: [] };
  cloud.faults.add({ fault: 'stale-list', seconds: 3600, times: 2 });
  const { zone } = await ensureCloudHead(request, never);
  assert.equal(zone, zoneB);
  assert.equal(existing().length, 1);
  const tokens = (await admin.calls({ call: 'launch' })).map(({ asked }) => asked?.token);
  assert.equal(new Set(tokens).size, 2, 'one for each zone');
});

test('a head on spot is asked for on spot', async (t) => {
  const { cloud, textOf, requestFor } = await cloudBed(t);
  const types = '{head: {node_config: {machine_type: small, market: spot}}}';
  const { id } = await ensureCloudHead(requestFor(textOf('', types)), never);
  assert.equal(cloud.truth().find((each) => each.id === id)?.market, 'spot');
});

test('a head that the cloud accepted and ended before it ran is asked for elsewhere', async (t) => {
  const { cloud, textOf, requestFor, existing } = await cloudBed(t);
  withLateRefusal(t, { kind: 'no-capacity', detail: 'Server.InsufficientInstanceCapacity' });
  const { zone } = await ensureCloudHead(requestFor(textOf(both)), never);
  assert.equal(zone, zoneB);
  await until('the first has ended', async () => existing().length === 1);
  assert.equal(cloud.truth().length, 2);
});

/** The first instance in the first zone ends before it runs, and is shown with the reason. */
function withLateRefusal(t: TestContext, failed: LateRefusal): void {
  const load = labCloud.load;
  let refused: ProviderInstance | undefined;
  t.mock.method(labCloud, 'load', async () => {
    const module = await load();
    return {
      ...module,
      openCloud: (client: Parameters<typeof module.openCloud>[0]) => {
        const provider = module.openCloud(client);
        const [list, launch] = [provider.list.bind(provider), provider.launch.bind(provider)];
        return Object.assign(provider, {
          launch: async (...asked: Parameters<typeof launch>) => {
            const made = await launch(...asked);
            const [first] = made;
            if (first?.zone === zoneA) {
              refused = { ...first, state: 'stopping', failed };
              await provider.terminate([first.id], asked[1]);
            }
            return made;
          },
          list: async (signal: AbortSignal) => [
            ...(await list(signal)).filter(({ id }) => id !== refused?.id),
            ...(refused === undefined ? [] : [refused]),
          ],
        });
      },
    };
  });
}

test('zones that the cloud knows of are tried where the file names none', async (t) => {
  const { requestFor } = await cloudBed(t, { settings: { capacity: [{ zone: zoneA, limit: 0 }] } });
  const load = labCloud.load;
  t.mock.method(labCloud, 'load', async () => {
    const module = await load();
    const openCloud: typeof module.openCloud = (client) =>
      Object.assign(module.openCloud(client), {
        learn: async () => (spec: ClusterSpec) => ({
          ...spec,
          nodeTypes: spec.nodeTypes.map((type) => ({
            ...type,
            offers: [zoneA, zoneB].map((zone) => ({ zone, market: 'on-demand' as const })),
          })),
        }),
      });
    return { ...module, openCloud };
  });
  assert.equal((await ensureCloudHead(requestFor(), never)).zone, zoneB);
});
