import assert from 'node:assert/strict';
import { test } from 'node:test';
import { autoscalerEvents } from '../../src/autoscaler/events.ts';
import type { Plan } from '../../src/core/plan/plan.ts';
import { waitingWords } from '../../src/core/plan/words.ts';
import { providerErrors } from '../../src/providers/errors.ts';
import { worldOf } from '../simulation/worlds.ts';
import { loopIn, providerOf, seconds } from './loop-in-world.ts';

const oneTask = { work: [{ tasks: 1, needs: { CPU: 1 }, duration: '20s' }] };

test('what the provider says to a launch that it refuses is told, remembered and the reason why demand waits', async () => {
  const world = worldOf(oneTask);
  let last: Plan | undefined;
  const detail = `no permission\n ec2:RunInstances, password=hunter22 ${'x'.repeat(1_000)}`;
  const loop = loopIn(world, {
    onPass: (_, plan) => (last = plan),
    provider: providerOf(world, { launch: () => Promise.reject(providerErrors.Denied({ call: 'launch', detail })) }),
  });
  loop.start();
  await seconds(world, 30);
  const [event] = loop.happened('REFUSED');
  const text = autoscalerEvents.refused.text(event?.data as Parameters<typeof autoscalerEvents.refused.text>[0]);
  const [fact] = loop.journal.facts.filter(({ kind }) => kind === 'refused');
  const [waiting] = last?.waiting ?? [];
  assert.ok(fact?.kind === 'refused' && waiting !== undefined);
  const moves = loop.journal.facts.flatMap((each) => (each.kind === 'instance' ? each.moves : []));
  for (const said of [text, fact.refusal.detail ?? '', waitingWords(waiting, world.time.now), JSON.stringify(moves)]) {
    assert.match(said, /no permission ec2:RunInstances/);
    assert.doesNotMatch(said, /hunter22/);
  }
  assert.ok((fact.refusal.detail ?? '').length < 400);
});
