// needs: botocore

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FaultRule } from '../../../lab/cloud/faults.ts';
import type { ProviderInstance } from '../../../src/providers/provider.ts';
import { never } from '../../contract/waiting.ts';
import { fc } from '../../property.ts';
import { ask, fastClock, providerOf, standInAws } from './aws-bed.ts';

const faults: fc.Arbitrary<readonly FaultRule[]> = fc.array(
  fc.record(
    {
      fault: fc.constantFrom(
        ...(['throttle', 'server-error', 'lost-request', 'lost-answer', 'duplicate-call', 'duplicate-entry'] as const),
        ...(['partial-fill', 'no-capacity', 'quota', 'denied', 'late-answer', 'stale-list', 'half-list'] as const),
      ),
      call: fc.constantFrom('RunInstances', 'DescribeInstances', 'TerminateInstances'),
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
  const aws = await standInAws(t, { settings: { page_size: 5 } });
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
    fc.asyncProperty(faults, fc.integer({ min: 1, max: 12 }), async (rules, count) => {
      const token = `t${tokens++}`;
      const provider = providerOf(aws, { clusterId: token, clock: fastClock });
      await aws.admin.calm();
      await aws.admin.set({ page_size: 5 });
      await aws.admin.fault(...rules);
      const request = ask(token, { count });
      const made = ids(await again(() => provider.launch(request, never)));
      assert.ok(made.length >= 1 && made.length <= count);
      assert.deepEqual(ids(await again(() => provider.launch(request, never))), made);
      const truth = (await aws.admin.instances()).filter(({ tags }) => tags['manta-cluster-id'] === token);
      assert.deepEqual(truth.map(({ id }) => id).sort(), made, 'nothing beside the set was made');
      await aws.admin.calm();
      assert.deepEqual(ids(await provider.list(never)), made);
      await aws.admin.fault(...rules);
      await again(() => provider.terminate(made, never));
      await aws.admin.calm();
      assert.ok((await provider.list(never)).every(({ state }) => state === 'stopping'));
    }),
    { numRuns: 40 },
  );
});
