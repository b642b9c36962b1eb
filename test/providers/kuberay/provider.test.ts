import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeRayWorld } from '../../../lab/kuberay/server.ts';
import type { EventKind, EventSink } from '../../../src/base/events.ts';
import { readBook, writeBook } from '../../../src/providers/kuberay/launch-book.ts';
import type { LaunchRequest, Provider, ProviderInstance } from '../../../src/providers/provider.ts';
import { never, until } from '../../contract/waiting.ts';
import { providerOf, standIn } from './kuberay-bed.ts';

const asked = (token: string, count = 1): LaunchRequest => ({
  token,
  type: 'worker',
  count,
  market: 'on-demand',
  tags: {},
});
const ids = (instances: readonly ProviderInstance[]): string[] => instances.map(({ id }) => id).sort();
const running = (provider: Provider, count: number): Promise<readonly ProviderInstance[]> =>
  until(`${count} run`, async () => {
    const found = await provider.list(never);
    return found.length === count && found.every(({ state }) => state === 'running') && found;
  });
const group = ({ cluster }: KubeRayWorld) => cluster.spec.workerGroupSpecs[0]!;
const toDelete = (world: KubeRayWorld): readonly string[] => group(world).scaleStrategy?.workersToDelete ?? [];

describe('pods of a RayCluster', () => {
  test('what ran before anybody asked is listed, each with a token of its own, and nothing is made or ended', async (t) => {
    const world = await standIn(t, [{ replicas: 2, minReplicas: 1 }]);
    const provider = providerOf(t, world);
    const found = await running(provider, 2);
    assert.deepEqual(ids(found), [...world.pods.keys()].sort());
    assert.equal(new Set(found.map(({ launchToken }) => launchToken)).size, 2);
    assert.equal(group(world).replicas, 2);
  });

  test('the pod that it runs in is the head, and no order ends it', async (t) => {
    const world = await standIn(t);
    const provider = providerOf(t, world, { head: { pod: 'demo-head-1', type: 'headgroup' } });
    await provider.terminate(['demo-head-1'], never);
    const found = await provider.list(never);
    assert.deepEqual(
      found.map(({ id, kind, type, state }) => [id, kind, type, state]),
      [['demo-head-1', 'head', 'headgroup', 'running']],
    );
    assert.equal(world.cluster.metadata.annotations, undefined);
  });

  test('a replica without a pod is listed as pending, and its pod takes its place with its token', async (t) => {
    const world = await standIn(t);
    const provider = providerOf(t, world);
    world.faults = { operatorDown: true };
    const launching = provider.launch(asked('slow', 2), never);
    const waiting = await until('both are listed', async () => {
      const found = await provider.list(never);
      return found.length === 2 && found;
    });
    assert.deepEqual(
      waiting.map(({ id, state, launchToken }) => [id, state, launchToken]),
      [
        ['slow.0', 'pending', 'slow'],
        ['slow.1', 'pending', 'slow'],
      ],
    );
    world.faults = {};
    const launched = await launching;
    assert.deepEqual(ids(launched), [...world.pods.keys()].sort());
    assert.ok(launched.every(({ launchToken }) => launchToken === 'slow'));
  });

  test('one that ends before its pod was made takes that pod with it', async (t) => {
    const world = await standIn(t);
    const provider = providerOf(t, world);
    world.faults = { operatorDown: true };
    const launching = provider.launch(asked('unwanted'), never);
    await until('it is listed', async () => (await provider.list(never)).length === 1);
    // The operator acts on what it read before the order came.
    world.faults = {};
    await until('its pod is made', () => world.pods.size === 1);
    world.faults = { operatorDown: true };
    await provider.terminate(['unwanted.0'], never);
    await launching;
    world.faults = {};
    for (const { id } of await provider.list(never)) await provider.terminate([id], never);
    await until('nothing is left', async () => (await provider.list(never)).length === 0 && world.pods.size === 0);
    assert.equal(group(world).replicas, 0);
  });

  test('the pod that the operator makes for a dead one has its token: nothing is launched for it', async (t) => {
    const world = await standIn(t);
    const provider = providerOf(t, world);
    const [first] = await provider.launch(asked('old', 1), never);
    await provider.launch(asked('young', 1), never);
    await running(provider, 2);
    world.lose(first!.id);
    const after = await until('another has its place', async () => {
      const found = await running(provider, 2);
      return !ids(found).includes(first!.id) && found;
    });
    assert.deepEqual(after.map(({ launchToken }) => launchToken).sort(), ['old', 'young']);
    assert.equal(group(world).replicas, 2);
    await provider.terminate([first!.id], never);
    assert.equal((await running(provider, 2)).length, 2, 'an order for the dead one ends no other');
  });

  test('an end names its pod, lowers replicas in the same patch, and leaves nothing behind', async (t) => {
    const world = await standIn(t);
    const provider = providerOf(t, world);
    const launched = await provider.launch(asked('three', 3), never);
    const [gone, ...rest] = ids(launched);
    world.faults = { operatorDown: true };
    await provider.terminate([gone!], never);
    assert.deepEqual([group(world).replicas, toDelete(world)], [2, [gone]]);
    world.faults = {};
    await until('it is gone', async () => (await provider.list(never)).length === 2);
    await until('its name is cleared', async () => {
      await provider.list(never);
      return toDelete(world).length === 0;
    });
    assert.deepEqual([...world.pods.keys()].sort(), rest);
  });

  test('replicas that somebody else has reset end no pod; it is set back, and said once', async (t) => {
    const world = await standIn(t);
    const said: unknown[] = [];
    const events: EventSink = { emit: (kind: EventKind<never>, data: unknown) => void said.push([kind.code, data]) };
    const provider = providerOf(t, world, { events });
    const launched = await provider.launch(asked('work', 3), never);
    for (let round = 0; round < 3; round++) {
      world.edit(({ spec }) => (spec.workerGroupSpecs[0]!.replicas = 1));
      assert.deepEqual(ids(await provider.list(never)), ids(launched));
      assert.equal(group(world).replicas, 3);
    }
    assert.deepEqual(said, [['MANTA_KUBERAY_REPLICAS_RESET', { group: 'worker', from: 1, to: 3 }]]);
    const [more] = await provider.launch(asked('more'), never);
    assert.deepEqual(ids(await running(provider, 4)), ids([...launched, more!]));
  });

  test('replicas that somebody else has raised count, before their pods are there', async (t) => {
    const world = await standIn(t);
    const provider = providerOf(t, world);
    await provider.launch(asked('one'), never);
    world.faults = { operatorDown: true };
    world.edit(({ spec }) => (spec.workerGroupSpecs[0]!.replicas = 3));
    assert.equal((await provider.list(never)).length, 3);
    world.faults = {};
    await running(provider, 3);
    assert.equal(group(world).replicas, 3);
  });

  test('a pod that no node has room for is left where the group must have it', async (t) => {
    const world = await standIn(t, [{ replicas: 1, minReplicas: 1 }]);
    world.faults = { noRoom: '0/1 nodes are available' };
    const provider = providerOf(t, world);
    await until('it is listed', async () => (await provider.list(never)).length === 1);
    const patience = { unschedulable: 0, refused: 0, shown: 60_000 };
    const [kept] = await providerOf(t, world, { patience }).list(never);
    assert.deepEqual([kept?.state, kept?.failed], ['pending', undefined]);
  });

  test('status writes of the operator and another head in between lose no launch and make none twice', async (t) => {
    const world = await standIn(t);
    const writes = setInterval(() => world.edit(() => {}), 3);
    t.after(() => clearInterval(writes));
    const tokens = Array.from({ length: 8 }, (_, at) => `t${at}`);
    const heads = [providerOf(t, world), providerOf(t, world)];
    await Promise.all(heads.flatMap((head) => tokens.map((token) => head.launch(asked(token), never))));
    const found = await running(heads[0]!, 8);
    assert.deepEqual(found.map(({ launchToken }) => launchToken).sort(), tokens);
    assert.equal(world.pods.size, 8);
  });

  test('what ended long ago is struck from the note', async (t) => {
    const world = await standIn(t);
    const provider = providerOf(t, world);
    const launched = await provider.launch(asked('past'), never);
    await provider.terminate(ids(launched), never);
    await until('it is gone', async () => (await provider.list(never)).length === 0);
    const note = (): string => world.cluster.metadata.annotations?.['manta/launches'] ?? '';
    assert.match(note(), /past/);
    world.edit(({ metadata }) => {
      metadata.annotations!['manta/launches'] = note().replace(/"at":\d+/, `"at":${Date.now() - 4_000_000}`);
    });
    await provider.list(never);
    assert.doesNotMatch(note(), /past/);
  });

  test('the note of 1,500 pods has room in an annotation, and is read as it was written', () => {
    const at = Date.now();
    const launches = Array.from({ length: 1_500 }, (_, n) => {
      const unit = `a-cluster-of-some-length-and-a-group-worker-${String(n).padStart(5, '0')}`;
      return {
        token: `i${at.toString(16)}${n}`,
        group: 'a-group',
        at,
        tags: {},
        seats: [{ n: 0, before: 0, unit, pods: [unit] }],
      };
    });
    const slice = { n: 1, before: 2, unit: 'r', pods: ['p', 'q'], endingSince: at };
    const book = {
      written: { 'a-group': 1_500 },
      launches: [
        ...launches,
        { token: 's', group: 'slices', at, tags: { a: 'b' }, seats: [slice, { n: 0, before: 0 }] },
      ],
    };
    const note = writeBook(book);
    assert.ok(note.length < 256 * 1024, `${note.length} bytes`);
    assert.deepEqual(readBook(note), book);
    assert.deepEqual(readBook('{"not": "ours"}').launches, []);
  });
});
