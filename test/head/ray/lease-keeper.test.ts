import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silent } from '../../../src/base/events.ts';
import type { Host } from '../../../src/base/host.ts';
import { keepLeases } from '../../../src/head/ray/machines/lease-keeper.ts';
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
  const keeping = { cluster: 'lab', provider, seen: async () => [], hostOf, clock, events: silent, lasts: () => lasts };
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

const worker = (id: string) => ({ id, kind: 'worker', state: 'running' }) as unknown as ProviderInstance;

test('a provider that does not answer for longer than a lease costs no worker its lease, and is told of once', async () => {
  const lasts = 60_000;
  const time = new VirtualTime(0);
  const ending = new AbortController();
  const renewed = new Map<string, number[]>();
  const told: string[] = [];
  let lists = 0;
  const hostOf = ({ id }: ProviderInstance) =>
    ({
      name: id,
      connect: async () => void renewed.set(id, [...(renewed.get(id) ?? []), time.now]),
      sh: async () => ({ code: 0, stdout: 'renewed\n', stderr: '' }),
    }) as unknown as Host;
  const down = (): boolean => time.now > 5_000 && time.now < 10 * lasts;
  const provider = {
    list: async () => {
      lists++;
      if (down()) throw new Error('503 from the cloud');
      return [worker('listed')];
    },
  } as unknown as Provider;
  const kept = keepLeases(
    {
      cluster: 'lab',
      provider,
      seen: async () => [worker('listed'), worker('shown')],
      hostOf,
      clock: new VirtualClock(time),
      events: { emit: (kind, data) => void told.push(kind.text(data)) },
      lasts: () => lasts,
    },
    ending.signal,
  );
  await time.run(11 * lasts);
  ending.abort();
  await time.run(12 * lasts);
  await kept;
  for (const [id, from] of [
    ['listed', 0],
    ['shown', 2 * lasts],
  ] as const) {
    const turns = (renewed.get(id) ?? []).filter((at) => at >= from && at < 10 * lasts);
    const longest = Math.max(...turns.slice(1).map((at, index) => at - (turns[index] as number)));
    assert.ok(longest <= lasts / 3, `${id} waited ${longest} ms of ${lasts} for its turn`);
    assert.ok(turns.length <= 70, `${id} had ${turns.length} turns: no more than while lists come`);
  }
  assert.ok(lists > 100, `the provider was asked ${lists} times`);
  assert.deepEqual(told, [
    'the provider did not list its instances: 503 from the cloud; renewing the leases of the 2 known workers',
  ]);
});

test('a renewal also asks a worker for what only it was told', async () => {
  const time = new VirtualTime(0);
  const ending = new AbortController();
  const [sent, heard] = [new Array<string>(), new Array<string>()];
  const hostOf = ({ id }: ProviderInstance) =>
    ({
      name: id,
      connect: async () => {},
      sh: async (text: string) => {
        sent.push(text);
        return { code: 0, stdout: `renewed\n${id === 'a' ? 'notice leave soon\n' : ''}`, stderr: '' };
      },
    }) as unknown as Host;
  const notices = { program: 'ask-the-cloud\n', heard: (id: string, said: string) => void heard.push(`${id} ${said}`) };
  const provider = { list: async () => [worker('a'), worker('b')], notices } as unknown as Provider;
  const clock = new VirtualClock(time);
  const keeping = {
    cluster: 'lab',
    provider,
    seen: async () => [],
    hostOf,
    clock,
    events: silent,
    lasts: () => 60_000,
  };
  const kept = keepLeases(keeping, ending.signal);
  await time.run(5_000);
  ending.abort();
  await time.run(60_000);
  await kept;
  assert.ok(sent.length >= 2 && sent.every((text) => text.endsWith('\nask-the-cloud\n')));
  assert.deepEqual(heard, ['a leave soon']);
});
