import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { providerErrors } from '../../src/providers/errors.ts';
import type { LaunchRequest, Provider, ProviderInstance } from '../../src/providers/provider.ts';
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
}

const refusalKinds = {
  'no-capacity': providerErrors.NoCapacity,
  quota: providerErrors.Quota,
  throttled: providerErrors.Throttled,
  denied: providerErrors.Denied,
} as const;

/**
 * What every provider promises, sentence by sentence of `providers/provider.ts`. `refusals` are those that it can have:
 * own machines have no quota.
 */
export function providerContract(
  name: string,
  make: (t: TestContext) => Promise<ProviderUnderTest>,
  refusals: readonly RefusalKind[] = ['no-capacity', 'quota', 'throttled', 'denied'],
): void {
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
  });
}
