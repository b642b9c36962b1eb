// needs: openssl, google-discovery

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { never } from '../../contract/waiting.ts';
import { codesOf } from '../../core/spec/cluster-text.ts';
import { asker, compute } from '../../lab/google-bed.ts';
import { ask, clusterText, preparedOf, providerOf, specOf, standInGoogle, zone } from './google-bed.ts';

const marketsOf = (worker: string): readonly string[] =>
  specOf(clusterText({ worker: [worker] }))
    .nodeTypes.find(({ name }) => name === 'worker')!
    .offers.map(({ market }) => market);

test('a file asks for spot by a list, by a mapping, by the model and by text', () => {
  for (const scheduling of [
    '[{preemptible: true}, {onHostMaintenance: TERMINATE}]',
    '{preemptible: true}',
    '{provisioningModel: SPOT}',
    '{preemptible: "true"}',
  ])
    assert.deepEqual(marketsOf(`scheduling: ${scheduling}`), ['spot'], scheduling);
  assert.deepEqual(marketsOf('scheduling: [{onHostMaintenance: TERMINATE}]'), ['on-demand']);
});

test('one mapping counts for a list of them, and what Google only answers is ignored', async (t) => {
  const google = await standInGoogle(t);
  const text = clusterText({
    worker: [
      'kind: compute#instance',
      `zone: projects/x/zones/${zone}`,
      'tags: {items: [web]}',
      'disks: {boot: true, autoDelete: true, initializeParams: {diskSizeGb: 60}}',
      'networkInterfaces: {kind: compute#networkInterface, network: global/networks/default}',
      'metadata: {items: {key: team, value: ml}}',
    ],
  });
  const [made] = await providerOf(google, { text }).launch(ask('one'), never);
  const shown = await asker(google.localEndpoint, google.token)(
    'GET',
    `${compute}/zones/${made!.id.replace('/', '/instances/')}`,
  );
  assert.equal(shown.disks[0].diskSizeGb, '60');
  assert.ok(
    shown.metadata.items.some(({ key, value }: { key: string; value: string }) => key === 'team' && value === 'ml'),
  );
});

test('what Google does not have is refused where it stands', () => {
  assert.deepEqual(codesOf(clusterText({ worker: ['machinetype: n1-standard-2'] })), ['19:7 GCP_UNKNOWN_MEMBER']);
  assert.deepEqual(codesOf(clusterText({ worker: ['disks: large'] })), ['19:14 GCP_MEMBER_TYPE']);
});

test('a machine with accelerators is launched although the file does not say that it cannot be moved', async (t) => {
  const google = await standInGoogle(t);
  const text = clusterText({
    worker: ['guestAccelerators: [{acceleratorType: nvidia-tesla-t4, acceleratorCount: 1}]'],
  });
  const prepared = preparedOf({}, { resources: { CPU: 2, GPU: 1 } });
  const [made] = await providerOf(google, { text, prepared }).launch(ask('cards'), never);
  assert.equal(made?.state, 'running');
});
