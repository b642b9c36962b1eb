import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { mantaTags } from '../../src/core/ray-tags.ts';
import { type Closing, providerErrors } from '../../src/providers/errors.ts';
import type {
  InstanceAddress,
  LateRefusal,
  LaunchRequest,
  Provider,
  ProviderInstance,
} from '../../src/providers/provider.ts';
import { never, until } from './waiting.ts';

export type RefusalKind = 'no-capacity' | 'quota' | 'throttled' | 'denied';

/** One provider with an account of its own, empty at first. Everything in it is ended by the maker when the test ends. */
export interface ProviderUnderTest {
  /** A provider as a head makes it at its start; each call is another head on the same account. */
  provider(): Provider;
  /** One whose next launch is refused. */
  refusing(kind: RefusalKind): Provider;
  /** One that can give only `count` instances at once. */
  limited(count: number): Provider;
  /** One whose next launch works but loses its answer. */
  losingAnswer(): Provider;
  readonly type: string;
  /** With `late`: one whose next launch is accepted, and whose instances are ended before they run. */
  refusingLate?(kind: LateRefusal['kind'], detail: string): Provider;
  /** With `quotas`: one whose next launch is beyond a quota that closes this much. */
  beyondQuota?(closes: Closing): Provider;
}

/** What not every provider can. */
export interface ProviderAbilities {
  /** Instances tell where they are reached: from inside, and from outside too. */
  readonly addresses?: readonly (keyof InstanceAddress)[];
  /** Launches may be refused after they were accepted. */
  readonly late?: true;
  /** What quotas close. */
  readonly quotas?: readonly Closing[];
  /** It makes slices: of three hosts, of the type under test, unless it says otherwise. */
  readonly slices?: true | { readonly type: string; readonly hosts: number };
  /** Instances can be stopped, and are started by later launches. */
  readonly stops?: true;
}

const refusalKinds = {
  'no-capacity': providerErrors.NoCapacity,
  quota: providerErrors.Quota,
  throttled: providerErrors.Throttled,
  denied: providerErrors.Denied,
} as const;

type Make = (t: TestContext) => Promise<ProviderUnderTest>;

const request = (
  made: ProviderUnderTest,
  token: string,
  count = 1,
  more: Partial<LaunchRequest> = {},
): LaunchRequest => ({
  token,
  type: made.type,
  count,
  market: 'on-demand',
  tags: { purpose: 'contract' },
  ...more,
});
const ids = (instances: readonly ProviderInstance[]): string[] => instances.map((instance) => instance.id).sort();
const listed = (provider: Provider, wanted: readonly string[]): Promise<true> =>
  until(`the list shows ${wanted.join(', ') || 'nothing'}`, async () => {
    const found = ids(await provider.list(never));
    return found.length === wanted.length && found.every((id, index) => id === wanted.toSorted()[index]);
  });
const inState = (
  provider: Provider,
  wanted: readonly string[],
  state: ProviderInstance['state'],
): Promise<readonly ProviderInstance[]> =>
  until(`${wanted.join(', ')} are ${state}`, async () => {
    const found = (await provider.list(never)).filter((each) => wanted.includes(each.id) && each.state === state);
    return found.length === wanted.length && found;
  });

/**
 * What every provider promises, sentence by sentence of `providers/provider.ts`. `refusals` are those that it can have:
 * own machines have no quota. `abilities` are what it has beyond what all have.
 */
export function providerContract(
  name: string,
  make: Make,
  refusals: readonly RefusalKind[] = ['no-capacity', 'quota', 'throttled', 'denied'],
  abilities: ProviderAbilities = {},
): void {
  describe(`provider contract: ${name}`, () => {
    it('lists nothing where nothing was launched', async (t) => {
      assert.deepEqual(await (await make(t)).provider().list(never), []);
    });

    it('gives as many instances as asked for, each with its own id, and lists them with their token, type and tags', async (t) => {
      const made = await make(t);
      const provider = made.provider();
      const launched = await provider.launch(request(made, 'first', 3), never);
      assert.equal(new Set(ids(launched)).size, 3);
      await listed(provider, ids(launched));
      for (const instance of await provider.list(never)) {
        assert.equal(instance.launchToken, 'first');
        assert.equal(instance.type, made.type);
        assert.equal(instance.kind, 'worker');
        assert.equal(instance.tags.purpose, 'contract');
      }
    });

    it('shows an instance as running once it runs', async (t) => {
      const made = await make(t);
      const provider = made.provider();
      await provider.launch(request(made, 'runs'), never);
      await until('it runs', async () => (await provider.list(never))[0]?.state === 'running');
    });

    it('lists the same to a head that has just started', async (t) => {
      const made = await make(t);
      const launched = await made.provider().launch(request(made, 'seen', 2), never);
      await listed(made.provider(), ids(launched));
    });

    it('never makes a second set for the same token', async (t) => {
      const made = await make(t);
      const provider = made.provider();
      const first = await provider.launch(request(made, 'same', 2), never);
      const [again, other] = await Promise.all([
        provider.launch(request(made, 'same', 2), never),
        made.provider().launch(request(made, 'same', 2), never),
      ]);
      assert.deepEqual(ids(again), ids(first));
      assert.deepEqual(ids(other), ids(first));
      await listed(provider, ids(first));
    });

    it('makes another set for another token', async (t) => {
      const made = await make(t);
      const provider = made.provider();
      const sets = [
        await provider.launch(request(made, 'one'), never),
        await provider.launch(request(made, 'two'), never),
      ];
      assert.equal(new Set(sets.flatMap(ids)).size, 2);
    });

    it('may give fewer than asked for, and says no capacity when it can give none', async (t) => {
      const made = await make(t);
      const provider = made.limited(2);
      const some = await provider.launch(request(made, 'some', 5), never);
      assert.equal(some.length, 2);
      await assert.rejects(provider.launch(request(made, 'none', 1), never), { code: providerErrors.NoCapacity.code });
      assert.deepEqual(ids(await provider.launch(request(made, 'some', 5), never)), ids(some));
    });

    for (const kind of refusals)
      it(`tells '${kind}' by its own error and makes nothing`, async (t) => {
        const made = await make(t);
        const provider = made.refusing(kind);
        await assert.rejects(provider.launch(request(made, 'refused'), never), {
          code: refusalKinds[kind].code,
        });
        await listed(made.provider(), []);
      });

    it('lets a lost answer be resolved by the token in the list', async (t) => {
      const made = await make(t);
      await assert.rejects(made.losingAnswer().launch(request(made, 'lost', 2), never), {
        code: providerErrors.Unreachable.code,
      });
      const provider = made.provider();
      const found = await until('the list shows the set', async () => {
        const mine = (await provider.list(never)).filter((instance) => instance.launchToken === 'lost');
        return mine.length === 2 && mine;
      });
      assert.deepEqual(ids(await provider.launch(request(made, 'lost', 2), never)), ids(found));
    });

    it('ends instances so that the list no longer shows them, and only those', async (t) => {
      const made = await make(t);
      const provider = made.provider();
      const [first, second] = await provider.launch(request(made, 'pair', 2), never);
      await provider.terminate([first?.id ?? ''], never);
      await listed(provider, [second?.id ?? '']);
    });

    it('takes the end of an instance that is gone, or was never there, without complaint', async (t) => {
      const made = await make(t);
      const provider = made.provider();
      const [instance] = await provider.launch(request(made, 'twice'), never);
      const id = instance?.id ?? '';
      await listed(provider, [id]);
      await provider.terminate([id], never);
      await provider.terminate([id, id], never);
      await listed(provider, []);
      await provider.terminate([id, 'i-0000-0', '../elsewhere'], never);
    });

    it('goes on ending what a head ordered before it died', async (t) => {
      const made = await make(t);
      const launched = await made.provider().launch(request(made, 'orphaned', 2), never);
      await listed(made.provider(), ids(launched));
      await made.provider().terminate(ids(launched), never);
      await listed(made.provider(), []);
    });

    it('does not bring ended instances back for their token', async (t) => {
      const made = await make(t);
      const provider = made.provider();
      const launched = await provider.launch(request(made, 'ended'), never);
      await listed(provider, ids(launched));
      await provider.terminate(ids(launched), never);
      await listed(provider, []);
      assert.deepEqual(await provider.launch(request(made, 'ended'), never), []);
      assert.deepEqual(await provider.list(never), []);
    });

    it('sets tags and leaves the others', async (t) => {
      const made = await make(t);
      const provider = made.provider();
      const [instance] = await provider.launch(request(made, 'tagged'), never);
      await provider.tag(instance?.id ?? '', { state: 'up', name: 'n' }, never);
      await provider.tag(instance?.id ?? '', { state: 'down' }, never);
      await until('the tags are seen', async () => {
        const tags = (await made.provider().list(never))[0]?.tags;
        return tags?.purpose === 'contract' && tags.state === 'down' && tags.name === 'n';
      });
    });

    it('says so when an instance to tag is gone', async (t) => {
      const made = await make(t);
      const provider = made.provider();
      await assert.rejects(provider.tag('i-0000-0', { a: 'b' }, never), { code: providerErrors.NotFound.code });
      const [instance] = await provider.launch(request(made, 'gone'), never);
      await listed(provider, [instance?.id ?? '']);
      await provider.terminate([instance?.id ?? ''], never);
      await listed(provider, []);
      await assert.rejects(provider.tag(instance?.id ?? '', { a: 'b' }, never), { code: providerErrors.NotFound.code });
    });

    it('does nothing when the caller has given up', async (t) => {
      const made = await make(t);
      const provider = made.provider();
      const gaveUp = AbortSignal.abort();
      await assert.rejects(provider.launch(request(made, 'late'), gaveUp));
      await assert.rejects(provider.list(gaveUp));
      await listed(provider, []);
    });

    if (abilities.addresses !== undefined) addressContract(make, abilities.addresses);
    if (abilities.late) lateRefusalContract(make);
    for (const closes of abilities.quotas ?? [])
      it(`says that a quota closes the ${closes}`, async (t) => {
        const made = await make(t);
        await assert.rejects(
          made.beyondQuota!(closes).launch(request(made, 'beyond'), never),
          (error) => providerErrors.Quota.is(error) && error.data.closes === closes,
        );
        await listed(made.provider(), []);
      });
    if (abilities.slices) sliceContract(make, abilities.slices === true ? undefined : abilities.slices);
    else
      it('does not say that it makes slices', async (t) => {
        assert.equal((await make(t)).provider().slices, undefined);
      });
    if (abilities.stops) stopContract(make);
    else
      it('does not say that it can stop instances', async (t) => {
        assert.equal('stop' in (await make(t)).provider(), false);
      });
  });
}

function addressContract(make: Make, known: readonly (keyof InstanceAddress)[]): void {
  it(`tells where an instance that runs is reached: ${known.join(', ')}`, async (t) => {
    const made = await make(t);
    const provider = made.provider();
    const launched = await provider.launch(request(made, 'reached', 2), never);
    const running = await inState(provider, ids(launched), 'running');
    for (const side of known) {
      const addresses = running.map(({ address }) => address?.[side] ?? '');
      assert.ok(!addresses.includes(''));
      assert.equal(new Set(addresses).size, 2);
    }
    assert.ok(running.every(({ address }) => address?.outside === undefined || address.outside !== address.inside));
  });
}

function lateRefusalContract(make: Make): void {
  for (const kind of ['no-capacity', 'quota', 'denied'] as const)
    it(`lists an instance that was accepted and never ran with why: ${kind}`, async (t) => {
      const made = await make(t);
      const [accepted] = await made.refusingLate!(kind, 'none left after all').launch(request(made, 'late'), never);
      const provider = made.provider();
      const [seen] = await until('it is listed with why', async () => {
        const found = (await provider.list(never)).filter(({ failed }) => failed !== undefined);
        return found.length === 1 && found;
      });
      assert.equal(seen?.id, accepted?.id);
      assert.deepEqual([seen?.launchToken, seen?.state], ['late', 'stopping']);
      assert.equal(seen?.failed?.kind, kind);
      assert.match(seen?.failed?.detail ?? '', /none left after all/);
      const [next] = await provider.launch(request(made, 'next'), never);
      assert.equal((await inState(provider, [next?.id ?? ''], 'running'))[0]?.failed, undefined);
    });
}

function sliceContract(make: Make, own?: { readonly type: string; readonly hosts: number }): void {
  const { hosts = 3, ...type } = own ?? {};
  const ofSlices = { ...type, slice: { hosts } };
  const indexes = Array.from({ length: hosts }, (_, index) => index);
  const members = (instances: readonly ProviderInstance[]): string[] =>
    instances.map((each) => `${each.slice?.id} ${each.slice?.index} of ${each.slice?.of}`).sort();

  it('gives whole slices, whose members say so', async (t) => {
    const made = await make(t);
    const provider = made.provider();
    assert.equal(provider.slices, true);
    const launched = await provider.launch(request(made, 'slices', 2, ofSlices), never);
    assert.equal(launched.length, 2 * hosts);
    const slices = [...new Set(launched.map((each) => each.slice?.id ?? ''))].sort((a, b) => a.localeCompare(b));
    assert.equal(slices.length, 2);
    const expected = slices.flatMap((id) => indexes.map((index) => `${id} ${index} of ${hosts}`));
    assert.deepEqual(members(launched), expected);
    await listed(provider, ids(launched));
    assert.deepEqual(members(await made.provider().list(never)), expected);
    assert.deepEqual(ids(await provider.launch(request(made, 'slices', 2, ofSlices), never)), ids(launched));
  });

  it('gives fewer slices than asked for, and never a part of one', async (t) => {
    const made = await make(t);
    const provider = made.limited(2 * hosts - 1);
    const launched = await provider.launch(request(made, 'some', 2, ofSlices), never);
    assert.equal(launched.length, hosts);
    await assert.rejects(provider.launch(request(made, 'none', 1, ofSlices), never), {
      code: providerErrors.NoCapacity.code,
    });
    await listed(provider, ids(launched));
  });

  it('ends a slice whole when one member is ended, and no other', async (t) => {
    const made = await make(t);
    const provider = made.provider();
    const launched = await provider.launch(request(made, 'two', 2, ofSlices), never);
    await listed(provider, ids(launched));
    const [first] = launched;
    await provider.terminate([first?.id ?? ''], never);
    await listed(provider, ids(launched.filter((each) => each.slice?.id !== first?.slice?.id)));
  });
}

function stopContract(make: Make): void {
  const like = (hash: string): Partial<LaunchRequest> => ({ tags: { [mantaTags.launchHash]: hash } });
  const stopped = async (made: ProviderUnderTest, count: number, hash = 'one'): Promise<string[]> => {
    const provider = made.provider();
    const launched = ids(await provider.launch(request(made, `first ${hash}`, count, like(hash)), never));
    await inState(provider, launched, 'running');
    await provider.stop!(launched, never);
    await inState(provider, launched, 'stopped');
    return launched;
  };

  it('lists what is stopped, and starts it for a launch of the same type and hash, under the new token', async (t) => {
    const made = await make(t);
    const before = await stopped(made, 2);
    const provider = made.provider();
    const launched = await provider.launch(request(made, 'second', 2, like('one')), never);
    assert.deepEqual(ids(launched), before);
    await until('they run under the new token', async () =>
      (await made.provider().list(never)).every((each) => each.state === 'running' && each.launchToken === 'second'),
    );
    assert.deepEqual(ids(await made.provider().launch(request(made, 'second', 2, like('one')), never)), before);
    await listed(provider, before);
  });

  it('makes others where too few are stopped, and the same token gives the same set again', async (t) => {
    const made = await make(t);
    const before = await stopped(made, 1);
    const provider = made.provider();
    const launched = ids(await provider.launch(request(made, 'more', 3, like('one')), never));
    assert.equal(launched.length, 3);
    assert.ok(before.every((id) => launched.includes(id)));
    await listed(provider, launched);
    assert.deepEqual(ids(await provider.launch(request(made, 'more', 3, like('one')), never)), launched);
    await listed(provider, launched);
  });

  it('does not start what was launched with another hash', async (t) => {
    const made = await make(t);
    const before = await stopped(made, 1);
    const launched = await made.provider().launch(request(made, 'other', 1, like('two')), never);
    assert.ok(!ids(launched).some((id) => before.includes(id)));
    await inState(made.provider(), before, 'stopped');
  });

  it('ends what is stopped, and takes another order to stop it without complaint', async (t) => {
    const made = await make(t);
    const provider = made.provider();
    const before = await stopped(made, 1);
    await provider.stop!(before, never);
    await provider.terminate(before, never);
    await listed(provider, []);
  });
}
