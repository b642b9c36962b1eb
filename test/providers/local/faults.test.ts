import assert from 'node:assert/strict';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { sshErrors } from '../../../src/base/ssh/errors.ts';
import type { Clock } from '../../../src/base/time/clock.ts';
import { wallClock } from '../../../src/base/time/wall-clock.ts';
import { providerErrors } from '../../../src/providers/errors.ts';
import { localEvents } from '../../../src/providers/local/events.ts';
import type { LocalProvider } from '../../../src/providers/local/provider.ts';
import { type ClaimRecord, LocalRecords } from '../../../src/providers/local/record.ts';
import type { LaunchRequest } from '../../../src/providers/provider.ts';
import { never, until } from '../../contract/waiting.ts';
import { HostBed, ownHost, terms, type } from './stand-in-hosts.ts';

/** A claim of a head. */
const headRecord = (
  head: Pick<ClaimRecord, 'id' | 'type' | 'host' | 'launchedAt'> & Partial<Pick<ClaimRecord, 'tags'>>,
): ClaimRecord => ({ tags: {}, ...head, format: 1, launchToken: head.id, kind: 'head', state: 'held' });

const request = (token: string, count = 1): LaunchRequest => ({ token, type, count, market: 'on-demand', tags: {} });
const addresses = async (provider: LocalProvider): Promise<string[]> =>
  (await provider.list(never)).map(({ address }) => address?.inside ?? '').toSorted();
const gone = (provider: LocalProvider): Promise<true> =>
  until('the list is empty', async () => (await provider.list(never)).length === 0);
const heldBy = (bed: HostBed): string[] =>
  bed.hosts.flatMap((host) => host.claims().map((claim) => `${host.name} ${String(claim['clusterId'])}`));

describe('hosts that do not answer', () => {
  test('are passed over, with others in their place', async (t) => {
    const bed = new HostBed(t, 4);
    bed.host('h1').down = bed.host('h2').down = true;
    const provider = bed.provider();
    await provider.launch(request('two', 2), never);
    assert.deepEqual(await addresses(provider), ['h3', 'h4']);
    assert.ok(bed.told.some(({ code, text }) => code === localEvents.passedOver.code && /h1.*refused/.test(text)));
  });

  test('are named, each with its reason, when nothing is left', async (t) => {
    const bed = new HostBed(t, 3);
    bed.host('h1').down = true;
    await bed.provider({ clusterId: 'other' }).launch(request('theirs'), never);
    const provider = bed.provider();
    await provider.launch(request('mine'), never);
    await assert.rejects(provider.launch(request('more'), never), (error: Error) => {
      assert.ok(providerErrors.NoCapacity.is(error));
      assert.match(
        error.message,
        /h1: .*refused; h2: held by cluster 'lab' of someone@other .*; h3: in use by this cluster/,
      );
      return true;
    });
  });

  test('rest for a while when they could not be set up, until somebody has changed something or it worked', async (t) => {
    const bed = new HostBed(t, 2);
    const provider = bed.provider({ pace: { coolOff: 60_000 } });
    const fail = async (token: string): Promise<string | undefined> => {
      const [machine] = await provider.launch(request(token), never);
      provider.wasSetUp(machine?.id ?? '', 'pip: no such package\nits output');
      await provider.terminate([machine?.id ?? ''], never);
      await gone(provider);
      return machine?.address?.inside;
    };
    assert.deepEqual([await fail('one'), await fail('two')], ['h1', 'h2']);
    await assert.rejects(provider.launch(request('three'), never), /h1: setup failed: pip: no such package; h2/);
    assert.ok(
      bed.told.some(({ code, text }) => code === localEvents.passedOver.code && /h1 .*no such package$/.test(text)),
    );
    provider.retryNow();
    assert.equal(await fail('four'), 'h1');
    const [machine] = await provider.launch(request('five'), never);
    assert.equal(machine?.address?.inside, 'h2');
    provider.wasSetUp(machine?.id ?? '');
  });

  test('rest for a while after a failure, and then have another chance', async (t) => {
    const bed = new HostBed(t, 1);
    const [host] = bed.hosts;
    const provider = bed.provider({ pace: { coolOff: 60_000 } });
    const again = bed.provider({ pace: { coolOff: 0 } });
    assert.ok(host);
    host.down = true;
    for (const _ of [1, 2, 3]) await assert.rejects(provider.launch(request('x'), never), /no capacity/);
    assert.equal(host.connects, 1);
    for (const _ of [1, 2, 3]) await assert.rejects(again.launch(request('x'), never), /no capacity/);
    assert.equal(host.connects, 4);
    host.down = false;
    assert.equal((await again.launch(request('x'), never)).length, 1);
  });

  test('have another chance after a while, wherever the clock is set meanwhile', async (t) => {
    const bed = new HostBed(t, 1);
    let back = 0;
    const provider = bed.provider({ clock: { ...wallClock, now: () => Date.now() - back } });
    const [host] = bed.hosts;
    assert.ok(host);
    host.down = true;
    await assert.rejects(provider.launch(request('x'), never), /no capacity/);
    back = 5 * 3_600_000;
    host.down = false;
    await until('it is taken', async () => (await provider.launch(request('x'), never)).length === 1);
  });

  test('hold up nobody, however slow they are', async (t) => {
    const bed = new HostBed(t, 3);
    const provider = bed.provider({
      pace: { patience: 10 },
      connect: ({ name }) => ({
        ...bed.host(name).as(),
        connect: ({ signal }) =>
          name === 'h3'
            ? Promise.resolve()
            : new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
      }),
    });
    assert.equal((await provider.launch(request('one'), never))[0]?.address?.inside, 'h3');
    // What there is comes at once; the rest is not waited for.
    const fresh = bed.provider({
      clusterId: 'second',
      pace: { patience: 10 },
      pools: () => [{ type, hosts: bed.hosts.slice(0, 2).map(ownHost) }],
      connect: ({ name }) => ({
        ...bed.host(name).as(),
        connect: ({ signal }) =>
          name === 'h2'
            ? Promise.resolve()
            : new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
      }),
    });
    assert.deepEqual(
      (await fresh.launch(request('both', 2), never)).map(({ address }) => address?.inside),
      ['h2'],
    );
  });

  test('that let nobody in are a refusal that waiting does not help', async (t) => {
    const bed = new HostBed(t, 2);
    const provider = bed.provider({
      connect: ({ name }) => ({
        ...bed.host(name).as(),
        connect: () => Promise.reject(sshErrors.AuthFailed({ host: name, detail: 'publickey', keys: [] })),
      }),
    });
    await assert.rejects(provider.launch(request('x'), never), { code: providerErrors.Denied.code });
  });
});

describe('a host of another key than before', () => {
  test('is told of once, with both keys and the command that takes the new one', async (t) => {
    const bed = new HostBed(t, 1);
    const changed = { host: 'h1', instance: 'h1', file: 'h1.pin', pinned: ['SHA256:old'], offered: 'SHA256:new' };
    const error = sshErrors.HostKeyChanged({ ...changed, accept: 'manta host-key accept -n lab h1' });
    const connect = ({ name }: { readonly name: string }) => ({
      ...bed.host(name).as(),
      connect: () => Promise.reject(error),
    });
    const provider = bed.provider({ connect, pace: { coolOff: 0 } });
    for (const _ of [1, 2]) await assert.rejects(provider.launch(request('x'), never), /refused/);
    const told = bed.told.filter(({ code }) => code === localEvents.keyChanged.code).map(({ text }) => text);
    assert.deepEqual(told, [
      "not using host h1: its host key changed from SHA256:old to SHA256:new; if you reinstalled it, accept the new key with 'manta host-key accept -n lab h1'",
    ]);
  });
});

test('a host whose key is just being put there is waited for, and has not failed', async (t) => {
  const bed = new HostBed(t, 2);
  const withKey = new Set(['h1']);
  const provider = bed.provider({
    awaitsKey: ({ name }) => !withKey.has(name),
    connect: ({ name }) => ({
      ...bed.host(name).as(),
      connect: async () => {
        if (!withKey.has(name)) throw sshErrors.AuthFailed({ host: name, detail: 'publickey', keys: [] });
      },
    }),
    pace: { patience: 10 },
  });
  assert.deepEqual(
    (await provider.launch(request('both', 2), never)).map(({ address }) => address?.inside),
    ['h1'],
  );
  const second = provider.launch(request('more'), never);
  withKey.add('h2');
  assert.equal((await second)[0]?.address?.inside, 'h2');
  assert.ok(!bed.told.some(({ code }) => code === localEvents.passedOver.code));
});

describe('answers that are lost', () => {
  test('are asked for once more before anybody notices', async (t) => {
    const bed = new HostBed(t, 2);
    for (const host of bed.hosts) host.loseAnswers = 1;
    const provider = bed.provider();
    assert.equal((await provider.launch(request('x', 2), never)).length, 2);
    assert.equal(heldBy(bed).length, 2);
  });

  test('for good are no second machine: others are taken, and the first is given back when it answers', async (t) => {
    const bed = new HostBed(t, 2);
    const provider = bed.provider();
    const [first] = bed.hosts;
    assert.ok(first);
    first.loseAnswers = 2;
    await assert.rejects(provider.launch(request('x'), never), { code: providerErrors.Unreachable.code });
    first.down = true;
    const made = await provider.launch(request('x'), never);
    assert.deepEqual(
      made.map(({ address }) => address?.inside),
      ['h2'],
    );
    assert.deepEqual(await addresses(provider), ['h2']);
    first.down = false;
    await until('it is given back', () => first.claims().length === 0);
    assert.deepEqual(await addresses(provider), ['h2']);
  });

  test('for good are not waited for by a launch that is repeated, though others ask for them too', async (t) => {
    const bed = new HostBed(t, 2);
    const provider = bed.provider({ pace: { silent: 20, giveUp: 3_600_000 } });
    bed.host('h1').loseAnswers = 2;
    await assert.rejects(provider.launch(request('x'), never), { code: providerErrors.Unreachable.code });
    bed.host('h1').down = true;
    assert.deepEqual(await addresses(provider), ['h1']);
    assert.deepEqual(
      (await provider.launch(request('x'), never)).map(({ address }) => address?.inside),
      ['h2'],
    );
    bed.host('h1').down = false;
    await until('it is given back', async () => {
      await provider.list(never);
      return bed.host('h1').claims().length === 0;
    });
    assert.deepEqual(await addresses(provider), ['h2']);
  });

  test('are not waited for when nobody wants the launch any more', async (t) => {
    const bed = new HostBed(t, 1);
    const provider = bed.provider({ pace: { silent: 3_600_000, giveUp: 3_600_000 } });
    bed.host('h1').loseAnswers = 2;
    await assert.rejects(provider.launch(request('x'), never), { code: providerErrors.Unreachable.code });
    bed.host('h1').down = true;
    await provider.list(never);
    const over = new AbortController();
    const again = provider.launch(request('x'), over.signal);
    over.abort();
    await assert.rejects(again, { name: 'AbortError' });
  });

  test('because the head died are known to the next one', async (t) => {
    const bed = new HostBed(t, 3);
    const dying = bed.provider();
    for (const host of bed.hosts) host.loseAnswers = 2;
    await assert.rejects(dying.launch(request('x', 2), never), { code: providerErrors.Unreachable.code });
    await dying.close();
    const fresh = bed.provider();
    assert.deepEqual(
      (await fresh.list(never)).map(({ state, launchToken }) => `${state} ${launchToken}`),
      ['pending x', 'pending x'],
    );
    await until('they run', async () => (await fresh.list(never)).every(({ state }) => state === 'running'));
    assert.equal((await fresh.launch(request('x', 2), never)).length, 2);
    assert.equal(heldBy(bed).length, 2);
  });
});

describe('an end', () => {
  test('ends Ray on the host before the claim is given back', async (t) => {
    const bed = new HostBed(t, 1);
    const seen: number[] = [];
    const provider = bed.provider({ end: async () => void seen.push(bed.hosts[0]?.claims().length ?? -1) });
    const [instance] = await provider.launch(request('x'), never);
    await provider.terminate([instance?.id ?? ''], never);
    await gone(provider);
    assert.deepEqual(seen, [1]);
    assert.deepEqual(heldBy(bed), []);
  });

  test('goes on until the host answers', async (t) => {
    const bed = new HostBed(t, 1);
    const provider = bed.provider();
    const [instance] = await provider.launch(request('x'), never);
    const [host] = bed.hosts;
    assert.ok(host);
    host.down = true;
    await provider.terminate([instance?.id ?? ''], never);
    const before = host.connects;
    await until('it was tried again', () => host.connects > before + 2);
    assert.equal((await provider.list(never))[0]?.state, 'stopping');
    host.down = false;
    await gone(provider);
    assert.deepEqual(heldBy(bed), []);
  });

  test('that a host does not answer to leaves the list after a while, is told, and happens when it answers', async (t) => {
    const bed = new HostBed(t, 1);
    const provider = bed.provider({ pace: { silent: 0 } });
    const [instance] = await provider.launch(request('x'), never);
    const [host] = bed.hosts;
    assert.ok(host);
    host.down = true;
    await provider.terminate([instance?.id ?? ''], never);
    await gone(provider);
    assert.ok(bed.told.some(({ code }) => code === localEvents.unverified.code));
    await assert.rejects(provider.tag(instance?.id ?? '', {}, never), { code: providerErrors.NotFound.code });
    host.down = false;
    await until('it has ended there', () => bed.ended.length === 1);
    await until('it is told', () => bed.told.some(({ code }) => code === localEvents.cleaned.code));
    assert.deepEqual(heldBy(bed), []);
  });

  test('that was ordered by a clock that was ahead leaves the list as soon as any', async (t) => {
    const bed = new HostBed(t, 1);
    bed.host('h1').down = true;
    const records = new LocalRecords(join(bed.folder, 'records/mine'));
    const ahead = Date.now() + 24 * 3_600_000;
    const host = ownHost({ name: 'h1' });
    const ending = {
      ...headRecord({ id: 'i-1', type, host, launchedAt: ahead }),
      kind: 'worker',
      state: 'ending',
    } as const;
    records.write({ ...ending, endingSince: ahead });
    await gone(bed.provider({ pace: { silent: 20 } }));
    assert.ok(bed.told.some(({ code }) => code === localEvents.unverified.code));
  });

  test('that is still due happens before the host is claimed again', async (t) => {
    const bed = new HostBed(t, 1);
    // No second try of its own within the test.
    const provider = bed.provider({ pace: { silent: 0, endAgain: 3_600_000, coolOff: 0 } });
    const [first] = await provider.launch(request('x'), never);
    const [host] = bed.hosts;
    assert.ok(host);
    host.down = true;
    await provider.terminate([first?.id ?? ''], never);
    await gone(provider);
    host.down = false;
    const [second] = await provider.launch(request('y'), never);
    assert.deepEqual(bed.ended, [`h1 ${first?.id}`]);
    assert.deepEqual(
      host.claims().map((claim) => claim['instance']),
      [second?.id],
    );
  });

  test('that cannot be done is told once for each cause, with what to do about it', async (t) => {
    const bed = new HostBed(t, 1);
    let wrong: Error | undefined;
    const provider = bed.provider({
      connect: ({ name }) => ({
        ...bed.host(name).as(),
        connect: () => (wrong ? Promise.reject(wrong) : Promise.resolve()),
      }),
    });
    const [instance] = await provider.launch(request('x'), never);
    const told = (): string[] => bed.told.filter(({ code }) => code === localEvents.notEnded.code).map((e) => e.text);
    const [host] = bed.hosts;
    wrong = sshErrors.Unreachable({ host: 'h1', detail: 'No route to host' });
    await provider.terminate([instance?.id ?? ''], never);
    await until('it is told', () => told().length === 1);
    assert.match(told()[0] ?? '', /could not stop \S+ on h1 yet, retrying: .*No route to host; check the address/);
    const changed = { host: 'h1', instance: 'h1', file: 'h1.pin', pinned: ['SHA256:old'], offered: 'SHA256:new' };
    wrong = sshErrors.HostKeyChanged({ ...changed, accept: 'manta host-key accept -n lab h1' });
    await until('the other cause is told', () => told().length === 2);
    assert.match(told()[1] ?? '', /accept the new key with 'manta host-key accept -n lab h1'/);
    wrong = undefined;
    await gone(provider);
    assert.equal(told().length, 2);
    assert.deepEqual(host?.claims(), []);
  });

  test('on a host that answers is not given up because the host is slow to end it', async (t) => {
    const bed = new HostBed(t, 1);
    let tries = 0;
    const provider = bed.provider({
      pace: { silent: 0 },
      end: async () => {
        if (++tries < 4) throw new Error('a process is left');
      },
    });
    const [instance] = await provider.launch(request('x'), never);
    await provider.terminate([instance?.id ?? ''], never);
    await gone(provider);
    assert.equal(tries, 4);
    assert.ok(!bed.told.some(({ code }) => code === localEvents.unverified.code));
  });

  test('frees its place for another host at once when its own is silent, and its own is asked last', async (t) => {
    const bed = new HostBed(t, 2);
    const provider = bed.provider({ pace: { silent: 0, endAgain: 3_600_000, coolOff: 0 } });
    const [first] = await provider.launch(request('x'), never);
    bed.host('h1').down = true;
    await provider.terminate([first?.id ?? ''], never);
    await gone(provider);
    const before = bed.host('h1').connects;
    assert.equal((await provider.launch(request('y'), never))[0]?.address?.inside, 'h2');
    assert.equal(bed.host('h1').connects, before);
    assert.equal(bed.host('h1').claims()[0]?.['instance'], first?.id);
  });

  test('of a host that a person empties leaves it alone for a while, or until something is changed', async (t) => {
    const bed = new HostBed(t, 1);
    const provider = bed.provider();
    const [first] = await provider.launch(request('x'), never);
    provider.rest(first?.id ?? '');
    await provider.terminate([first?.id ?? ''], never);
    await gone(provider);
    await assert.rejects(provider.launch(request('y'), never), /h1: it was drained by hand/);
    provider.retryNow();
    assert.equal((await provider.launch(request('y'), never)).length, 1);
  });

  test('puts the host at the end of the line', async (t) => {
    const bed = new HostBed(t, 2);
    const provider = bed.provider();
    const [first] = await provider.launch(request('x'), never);
    assert.equal(first?.address?.inside, 'h1');
    await provider.terminate([first?.id ?? ''], never);
    await gone(provider);
    assert.equal((await provider.launch(request('y'), never))[0]?.address?.inside, 'h2');
  });

  test('of the head is not the business of the provider, which lists it', async (t) => {
    const bed = new HostBed(t, 2);
    const records = new LocalRecords(join(bed.folder, 'records/mine'));
    records.write(headRecord({ id: 'head-0a1b', type, host: ownHost({ name: 'h1' }), launchedAt: 5 }));
    const provider = bed.provider({ pools: () => [{ type, hosts: [ownHost({ name: 'h2' })] }] });
    assert.deepEqual(
      (await provider.list(never)).map(({ id, kind, state }) => [id, kind, state]),
      [['head-0a1b', 'head', 'running']],
    );
    await assert.rejects(provider.terminate(['head-0a1b'], never), { code: providerErrors.Denied.code });
    await provider.renew(never);
    assert.deepEqual(heldBy(bed), ['h1 mine']);
  });
});

describe('what was lost sight of', () => {
  test('is found on the host and ended before it is claimed again', async (t) => {
    const bed = new HostBed(t, 1);
    const [old] = await bed.provider().launch(request('x'), never);
    rmSync(join(bed.folder, 'records'), { recursive: true });
    const fresh = bed.provider();
    const [instance] = await fresh.launch(request('y'), never);
    assert.deepEqual(bed.ended, [`h1 ${old?.id}`]);
    assert.equal(bed.hosts[0]?.claims()[0]?.['instance'], instance?.id);
    assert.ok(bed.told.some(({ code }) => code === localEvents.orphan.code));
  });

  test('costs one instance, not the list, when a record cannot be read', async (t) => {
    const bed = new HostBed(t, 2);
    const provider = bed.provider();
    const [good, bad] = await provider.launch(request('x', 2), never);
    const claims = join(bed.folder, 'records/mine/claims');
    writeFileSync(join(claims, `${bad?.id}.json`), '{"half');
    assert.deepEqual(
      (await provider.list(never)).map(({ id }) => id),
      [good?.id],
    );
    assert.ok(bed.told.some(({ code }) => code === localEvents.badRecord.code));
    assert.equal((await provider.launch(request('y'), never)).length, 1);
    assert.deepEqual(bed.ended, [`${bad?.address?.inside} ${bad?.id}`]);
  });
});

test('launches that nobody asks for any more are forgotten while the head lives, also those that cannot be read', async (t) => {
  const bed = new HostBed(t, 0);
  const records = new LocalRecords(join(bed.folder, 'records/mine'));
  let now = Date.now();
  const clock: Clock = {
    now: () => now,
    sleep: async (pause) => {
      now += pause;
      await turn();
    },
  };
  const provider = bed.provider({ clock, terms: { ...terms, lifetime: 5 * 24 * 3_600_000 } });
  records.writeLaunch({ request: request('old'), at: now, made: true, ids: [] });
  writeFileSync(join(bed.folder, 'records/mine/launches/bad.json'), '{"half');
  const over = new AbortController();
  const kept = provider.keepClaims(over.signal);
  await until('it is forgotten', () => readdirSync(join(bed.folder, 'records/mine/launches')).length === 0);
  over.abort();
  await kept;
  assert.equal(bed.told.filter(({ code }) => code === localEvents.badRecord.code).length, 1);
});

describe('renewals', () => {
  test('keep every claim, and tell of hosts that do not answer', async (t) => {
    const bed = new HostBed(t, 3);
    const provider = bed.provider();
    await provider.launch(request('x', 3), never);
    for (const host of bed.hosts) host.boot('0a-1', 1400);
    bed.host('h2').down = true;
    await provider.renew(never);
    const renewed = bed.hosts.filter((host) => host.claims()[0]?.['uptime'] === 1400).map(({ name }) => name);
    assert.deepEqual(renewed, ['h1', 'h3']);
    assert.ok(bed.told.some(({ code, text }) => code === localEvents.notRenewed.code && text.includes('h2')));
    assert.equal((await provider.list(never)).length, 3);
  });

  test('that come too late end the instance and leave the new holder alone', async (t) => {
    const bed = new HostBed(t, 1);
    const provider = bed.provider();
    await provider.launch(request('x'), never);
    bed.hosts[0]?.boot('0a-1', 9000);
    await bed.provider({ clusterId: 'other' }).launch(request('theirs'), never);
    await provider.renew(never);
    await gone(provider);
    assert.ok(bed.told.some(({ code, text }) => code === localEvents.lost.code && text.includes('someone@other')));
    assert.deepEqual(heldBy(bed), ['h1 other']);
  });
});

test('what hosts have is learned by claims and by a survey, and the least of a pool counts', async (t) => {
  const bed = new HostBed(t, 3);
  const provider = bed.provider();
  assert.equal(provider.learned().size, 0);
  writeFileSync(join(bed.host('h1').folder, 'proc/meminfo'), 'MemTotal: 1000 kB\n');
  writeFileSync(join(bed.host('h1').folder, 'dev/nvidia0'), '');
  await provider.launch(request('x'), never);
  assert.equal(provider.learned().get(type)?.['GPU'], 1);
  writeFileSync(join(bed.host('h2').folder, 'proc/meminfo'), 'MemTotal: 500 kB\n');
  bed.host('h3').down = true;
  await provider.survey(never);
  const { CPU, ...rest } = bed.provider().learned().get(type) ?? {};
  assert.ok((CPU ?? 0) > 0);
  assert.deepEqual(rest, { memory: Math.floor(500 * 1024 * 0.7) });
});

test('clusters that share hosts never have one in common, whatever fails meanwhile', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          cluster: fc.constantFrom('a', 'b', 'c'),
          count: fc.integer({ min: 1, max: 4 }),
          end: fc.boolean(),
          drops: fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.boolean()), { maxLength: 3 }),
        }),
        { minLength: 3, maxLength: 6 },
      ),
      async (steps) => {
        const bed = new HostBed(t, 5);
        const providers = new Map(
          ['a', 'b', 'c'].map((id) => [id, bed.provider({ clusterId: id, pace: { coolOff: 0 } })]),
        );
        await Promise.all(
          steps.map(async ({ cluster, count, end, drops }, index) => {
            for (const [host, after] of drops) {
              const stand = bed.host(`h${host}`);
              if (after) stand.loseAnswers = 1;
              else stand.dropBefore = 1;
            }
            const provider = providers.get(cluster) as LocalProvider;
            const made = await provider.launch(request(`${cluster}${index}`, count), never).catch(() => []);
            if (end)
              await provider.terminate(
                made.map(({ id }) => id),
                never,
              );
          }),
        );
        for (const host of bed.hosts) {
          host.loseAnswers = 0;
          host.dropBefore = 0;
        }
        const shown = new Map<string, string[]>();
        for (const [cluster, provider] of providers) {
          await until('all is settled', async () =>
            (await provider.list(never)).every(({ state }) => state === 'running'),
          );
          for (const address of await addresses(provider)) shown.set(address, [...(shown.get(address) ?? []), cluster]);
        }
        for (const host of bed.hosts) {
          const claims = host.claims().map((claim) => claim['clusterId']);
          assert.ok(claims.length <= 1, `${host.name} is held by ${claims.join()}`);
          assert.deepEqual(shown.get(host.name) ?? [], claims, host.name);
        }
        for (const provider of providers.values()) await provider.close();
        assert.deepEqual(
          readdirSync(bed.folder).filter((name) => name.startsWith('.')),
          [],
        );
      },
    ),
    { numRuns: 15 },
  );
});
