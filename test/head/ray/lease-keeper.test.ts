import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silent } from '../../../src/base/events.ts';
import type { Host } from '../../../src/base/host.ts';
import { keepLeases } from '../../../src/head/ray/lease-keeper.ts';
import type { Provider, ProviderInstance } from '../../../src/providers/provider.ts';
import { VirtualClock, VirtualTime } from '../../../src/simulation/virtual-time.ts';

/** Workers whose renewal takes so long, or never comes to an answer; and when each was renewed or given up. */
async function renewals(count: number, lasts: number, takes: number): Promise<{ at: number[]; atOnce: number }> {
  const time = new VirtualTime(0);
  const clock = new VirtualClock(time);
  const ending = new AbortController();
  const at: number[] = [];
  let [open, atOnce] = [0, 0];
  const hostOf = ({ id }: ProviderInstance): Host =>
    ({
      name: id,
      connect: async ({ within }: { within: number }) => {
        open++;
        atOnce = Math.max(atOnce, open);
        await time.sleep(Math.min(takes, within));
        open--;
        at.push(time.now);
        if (takes > within) throw new Error('no answer');
      },
      sh: async () => ({ code: 0, stdout: 'renewed\n', stderr: '' }),
    }) as unknown as Host;
  const workers = Array.from({ length: count }, (_, index) => ({ id: `w${index}`, kind: 'worker', state: 'running' }));
  const provider = { list: async () => workers } as unknown as Provider;
  const keeping = { cluster: 'lab', provider, hostOf, clock, events: silent, lasts: () => lasts };
  const kept = keepLeases(keeping, ending.signal);
  await time.run(lasts);
  const during = { at: [...at], atOnce };
  ending.abort();
  // Those that were under way come to their end.
  await time.run(2 * lasts);
  await kept;
  return during;
}

test('the leases of a thousand workers are renewed one after the other, and each several times while it lasts', async () => {
  const { at, atOnce } = await renewals(1_000, 1_800_000, 30);
  assert.ok(atOnce <= 4, `${atOnce} at once`);
  assert.ok(at.length >= 4_000, `${at.length} renewals`);
});

test('workers that do not answer keep no other from its renewal, however short the lease', async () => {
  for (const lasts of [10_000, 60_000, 1_800_000]) {
    const { at } = await renewals(300, lasts, Number.POSITIVE_INFINITY);
    assert.ok(at.length >= 300, `${at.length} had their turn while a lease of ${lasts} ms lasts`);
  }
});
