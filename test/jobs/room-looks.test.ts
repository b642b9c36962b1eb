/** Jobs that find no room cost time: what one user's take of it does not hold up anybody else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AttemptOrder } from '../../src/engines/runner.ts';
import { until } from '../contract/waiting.ts';
import { FakeRunner } from './fake-runner.ts';
import { ManualClock, settle } from './manual-clock.ts';
import { makeBed } from './queue-bed.ts';

/** An engine that takes a while to say that it has no room for what is too large. */
class SlowRunner extends FakeRunner {
  readonly asked: number[] = [];

  override hasRoom(order: Pick<AttemptOrder, 'resources' | 'labels' | 'gang'>): boolean {
    const { CPU = 0 } = order.resources;
    if (CPU <= 4) return super.hasRoom(order);
    this.asked.push(CPU);
    const began = performance.now();
    while (performance.now() - began < 10);
    return false;
  }
}

test('jobs without room keep neither the head nor the jobs of others waiting, and all of them are looked at', async (t) => {
  const clock = new ManualClock();
  const runner = new SlowRunner(clock);
  const bed = await makeBed({ clock, runner, run: false });
  t.after(() => bed.remove());
  const count = 100;
  const large = (i: number) => ({ id: `large-${i}`, user: 'greedy', entrypoint: 'true', resources: { CPU: 10 + i } });
  await Promise.all(Array.from({ length: count }, (_, i) => bed.queue.submit(large(i))));
  await bed.queue.submit({ id: 'small', user: 'ada', entrypoint: 'true', resources: { CPU: 1 } });

  let others = 0;
  const beat = setInterval(() => (others += 1), 1);
  t.after(() => clearInterval(beat));
  await bed.queue.run();
  await until('the job of the other user starts', () => runner.orders.length === 1);
  assert.ok(runner.asked.length < count / 2, `${runner.asked.length} of ${count} were looked at before`);
  assert.ok(others > 1, 'others had their turn meanwhile');

  const seen = (): number => new Set(runner.asked).size;
  for (let pass = 0; seen() < count && pass < 1_000; pass++) {
    await clock.advance(1_000);
    await settle();
  }
  assert.equal(seen(), count);
  assert.ok(runner.asked.length < 2 * count, 'none of them again before all of them');
});
