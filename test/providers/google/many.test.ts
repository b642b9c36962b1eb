// needs: openssl, google-discovery

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { endInstances } from '../../../src/autoscaler/teardown.ts';
import type { Clock } from '../../../src/base/time/clock.ts';
import { wallClock } from '../../../src/base/time/wall-clock.ts';
import { never } from '../../contract/waiting.ts';
import { compute } from '../../lab/google-bed.ts';
import { ask, clusterText, providerOf, standInGoogle, tpuZone } from './google-bed.ts';
import { cluster, preparationBed } from './prepare-bed.ts';

const text = clusterText().replace('max_workers: 200', 'max_workers: 1000');

/** Google counts calls by the minute: whoever waits for the next one has waited when they ask for the time. */
function hurriedClock(): Clock {
  let slept = 0;
  return {
    now: () => Date.now() + slept,
    sleep: async (duration, signal) => {
      slept += duration;
      await setImmediate();
      signal?.throwIfAborted();
    },
  };
}

test('600 machines and their slices are all terminated, of however many pages their list is', async (t) => {
  const google = await standInGoogle(t, { settings: { page_size: 100 } });
  const provider = providerOf(google, { text, clock: hurriedClock() });
  const made = await provider.launch(ask('many', { count: 600 }), never);
  await provider.launch(ask('slices', { type: 'slice', zone: tpuZone, count: 3, slice: { hosts: 2 } }), never);
  assert.equal(made.length, 600);
  assert.equal(google.cloud.existing().length, 606);
  const asked = (await google.admin.calls()).filter(({ operation }) => operation === 'instances.bulkInsert');
  assert.equal(asked.length, 1);
  const { ended, left } = await endInstances(provider, { clock: wallClock, settles: 0, within: 60_000 }, never);
  assert.deepEqual([ended.length, left, google.cloud.existing().length], [606, [], 0]);
  assert.deepEqual(await provider.remains(never), []);
});

test('a cluster comes up in a project whose metadata are full, and leaves them as they are', async (t) => {
  const { up, project, ask: call, ...google } = await preparationBed(t);
  const full = new Map([
    ['ssh-keys', 'x'.repeat(262_144)],
    ['others', 'x'.repeat(262_120)],
  ]);
  const items = [...full].map(([key, value]) => ({ key, value }));
  const { fingerprint } = (await call('GET', compute)).commonInstanceMetadata;
  await call('POST', `${compute}/setCommonInstanceMetadata`, { items, fingerprint });
  const file = cluster({ places: 'region: us-west1, availability_zone: us-west1-a' });
  const prepared = await up({ text: file });
  const [made] = await providerOf({ ...google, project }, { text: file, prepared }).launch(ask('one'), never);
  assert.equal(made?.state, 'running');
  assert.deepEqual(new Map(project.metadata), full);
  const calls = await google.admin.calls();
  assert.equal(calls.filter(({ operation }) => operation === 'projects.setCommonInstanceMetadata').length, 1);
});
