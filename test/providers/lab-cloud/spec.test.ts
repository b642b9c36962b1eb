import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openCluster } from '../../../src/core/spec/read.ts';
import { completeFromCatalog } from '../../../src/providers/lab-cloud/complete.ts';
import { labCloudErrors } from '../../../src/providers/lab-cloud/errors.ts';
import { readLabCloud, readToken } from '../../../src/providers/lab-cloud/spec.ts';
import { providers } from '../../../src/providers/table.ts';
import { never } from '../../contract/waiting.ts';
import { providerOf, standInCloud } from './cloud-bed.ts';

const file = (provider: string, worker = '{machine_type: small}'): string => `
cluster_name: lab
max_workers: 4
provider: {type: lab_cloud, ${provider}}
auth: {ssh_user: ubuntu}
head_node_type: head
available_node_types:
  head: {node_config: {machine_type: medium}, resources: {CPU: 4}}
  worker: {node_config: ${worker}, max_workers: 4}
`;

function specOf(text: string) {
  const { spec, problems } = openCluster('lab.yaml', Buffer.from(text), {}, providers);
  assert.deepEqual(
    problems.filter(({ severity }) => severity === 'error'),
    [],
  );
  assert.ok(spec);
  return spec;
}

const whole = 'endpoint: "http://10.77.0.254:8700", token_file: ~/token, availability_zone: "lab-1a, lab-1b"';

test('a cluster file says where the cloud is and what to launch', () => {
  const spec = specOf(file(whole, '{machine_type: small, market: spot, zone: lab-1c}'));
  assert.deepEqual(readLabCloud(spec), {
    endpoint: 'http://10.77.0.254:8700',
    token: { file: '~/token' },
    keepsStopped: false,
    zones: ['lab-1a', 'lab-1b'],
    types: new Map([
      ['head', { machineType: 'medium' }],
      ['worker', { machineType: 'small', zone: 'lab-1c', market: 'spot' }],
    ]),
  });
  assert.deepEqual(spec.nodeTypes[1]?.offers, [{ zone: 'lab-1c', market: 'spot' }]);
  assert.deepEqual(spec.nodeTypes[0]?.offers, [
    { zone: 'lab-1a', market: 'on-demand' },
    { zone: 'lab-1b', market: 'on-demand' },
  ]);
});

test('what is wrong in it is named', () => {
  for (const [provider, worker, at] of [
    ['token_env: T', undefined, 'provider.endpoint'],
    ['endpoint: "10.0.0.1:80"', undefined, 'provider.endpoint'],
    [whole, '{market: spot}', 'worker.node_config.machine_type'],
    [whole, '{machine_type: small, market: cheap}', 'worker.node_config.market'],
    [whole, '{machine_type: 7}', 'worker.node_config.machine_type'],
  ] as const)
    assert.throws(
      () => readLabCloud(specOf(file(provider, worker))),
      (error: Error & { code: string }) => error.code === labCloudErrors.BadConfig.code && error.message.includes(at),
    );
});

test('the token is read from a file or the environment each time, and its absence is said', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'manta-token-')), 'token');
  assert.throws(() => readToken({ file: path }, {}), { code: labCloudErrors.NoToken.code });
  writeFileSync(path, 'one\n');
  assert.equal(readToken({ file: path }, {}), 'one');
  writeFileSync(path, 'two\n');
  assert.equal(readToken({ file: path }, {}), 'two');
  assert.equal(readToken({ env: 'T' }, { T: 'three' }), 'three');
  assert.throws(() => readToken({ env: 'T' }, {}), { code: labCloudErrors.NoToken.code });
});

test('what the file leaves out comes from the cloud, with the prices of the moment', async (t) => {
  const cloud = await standInCloud(t);
  const provider = providerOf(cloud);
  const spec = specOf(file(whole));
  const first = completeFromCatalog(spec, await provider.catalog(never));
  assert.deepEqual(first.nodeTypes[0]?.resources, { CPU: 4 }, 'the file counts');
  assert.deepEqual(first.nodeTypes[1]?.resources, { CPU: 2, memory: Math.floor(0.7 * 4 * 2 ** 30) });
  assert.deepEqual(
    first.nodeTypes[1]?.offers.map(({ pricePerHour }) => pricePerHour),
    [0.1, 0.1],
  );
  await cloud.admin.set({ prices: [{ type: 'small', zone: 'lab-1b', price: 0.05 }] });
  const second = completeFromCatalog(spec, await provider.catalog(never));
  assert.deepEqual(
    second.nodeTypes[1]?.offers.map(({ pricePerHour }) => pricePerHour),
    [0.1, 0.05],
  );
});
