import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FaultRule } from '../../../lab/cloud/faults.ts';
import type { ProviderInstance } from '../../../src/providers/provider.ts';
import { never } from '../../contract/waiting.ts';
import { fc } from '../../property.ts';
import { providerOf, standInCloud } from './cloud-bed.ts';

const faults: fc.Arbitrary<readonly FaultRule[]> = fc.array(
  fc.record(
    {
      fault: fc.constantFrom(
        ...(['throttle', 'server-error', 'lost-request', 'lost-answer', 'duplicate-call', 'duplicate-entry'] as const),
        ...(['partial-fill', 'no-capacity', 'quota', 'denied', 'late-answer', 'stale-list'] as const),
      ),
      call: fc.constantFrom('launch', 'list', 'terminate'),
      times: fc.integer({ min: 1, max: 4 }),
      skip: fc.integer({ min: 0, max: 3 }),
      after: fc.boolean(),
      seconds: fc.constant(0.005),
    },
    { requiredKeys: ['fault', 'times', 'skip', 'after', 'seconds'] },
  ),
  { maxLength: 8 },
);

test('whatever goes wrong, a token makes one set, the list finds it, and its end ends it', async (t) => {
  const cloud = await standInCloud(t, { settings: { page_size: 2 } });
  let tokens = 0;
  /** As a caller does that has to have an answer. */
  const again = async <T>(work: () => Promise<T>): Promise<T> => {
    for (let tries = 0; ; tries++) {
      try {
        return await work();
      } catch (error) {
        if (tries > 100) throw error;
      }
    }
  };
  const ids = (instances: readonly ProviderInstance[]): string[] => instances.map(({ id }) => id).sort();
  await fc.assert(
    fc.asyncProperty(faults, fc.integer({ min: 1, max: 5 }), async (rules, count) => {
      const token = `t${tokens++}`;
      const provider = providerOf(cloud, { clusterId: token });
      await cloud.admin.calm();
      await cloud.admin.set({ page_size: 2 });
      await cloud.admin.fault(...rules);
      const request = { token, type: 'worker', count, market: 'on-demand', tags: {} } as const;
      const made = ids(await again(() => provider.launch(request, never)));
      assert.ok(made.length >= 1 && made.length <= count);
      assert.deepEqual(ids(await again(() => provider.launch(request, never))), made);
      const truth = (await cloud.admin.instances()).filter(({ tags }) => tags['manta-cluster-id'] === token);
      assert.deepEqual(truth.map(({ id }) => id).sort(), made, 'nothing beside the set was made');
      await cloud.admin.calm();
      assert.deepEqual(ids(await provider.list(never)), made);
      await cloud.admin.fault(...rules);
      await again(() => provider.terminate(made, never));
      await cloud.admin.calm();
      assert.ok((await provider.list(never)).every(({ state }) => state === 'stopping'));
    }),
    { numRuns: 60 },
  );
});
