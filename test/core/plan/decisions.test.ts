import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { plan } from '../../../src/core/plan/plan-cluster.ts';
import { ray } from '../../../src/core/plan/policy.ts';
import { endWords } from '../../../src/core/plan/words.ts';
import type { LaunchRefusal } from '../../../src/core/view.ts';
import {
  ask,
  ends,
  launchCounts,
  launches,
  now,
  pending,
  priced,
  running,
  specOf,
  tasks,
  typeOf,
  viewOf,
} from './clusters.ts';

const small = typeOf('small', { CPU: 1 }, priced(0.05));
const big = typeOf('big', { CPU: 8 }, priced(0.3));
const gpu = typeOf('gpu', { CPU: 16, GPU: 4 }, priced(0.2));

const refusal = (type: string, more: Partial<LaunchRefusal> = {}): LaunchRefusal => ({
  type,
  market: 'on-demand',
  reason: 'no-capacity',
  times: 1,
  last: now - 1000,
  until: now + 60_000,
  ...more,
});

describe('choosing what to launch', () => {
  it('everything that is needed is launched at once', () => {
    const made = plan(viewOf([], tasks(100, { CPU: 1 })), specOf([typeOf('w', { CPU: 4 })]), now);
    assert.deepEqual(launchCounts(made), { w: 25 });
  });

  it('four hundred nodes with a CPU free each take their share of 800 tasks, and no more is launched than the rest needs', () => {
    const w = typeOf('w', { CPU: 4 }, { maxWorkers: 1_000 });
    const nodes = Array.from({ length: 400 }, () => running(w, { CPU: 1 }));
    assert.deepEqual(launchCounts(plan(viewOf(nodes, tasks(800, { CPU: 1 })), specOf([w]), now)), { w: 100 });
  });

  it('the type that holds the demand for less money is taken, and the rest goes where it is cheapest', () => {
    const made = plan(viewOf([], tasks(20, { CPU: 1 })), specOf([small, big]), now);
    assert.deepEqual(launchCounts(made), { big: 2, small: 4 });
  });

  it('eight small nodes are taken where they are cheaper than one large one', () => {
    const cheap = typeOf('small', { CPU: 1 }, priced(0.03));
    assert.deepEqual(launchCounts(plan(viewOf([], tasks(8, { CPU: 1 })), specOf([cheap, big]), now)), { small: 8 });
  });

  it('at the same price fewer nodes are taken', () => {
    const same = typeOf('small', { CPU: 1 }, priced(0.3 / 8));
    assert.deepEqual(launchCounts(plan(viewOf([], tasks(8, { CPU: 1 })), specOf([same, big]), now)), { big: 1 });
  });

  it('one larger node is taken where filling smaller ones would cost more in the end', () => {
    const wide = typeOf('wide', { CPU: 16 }, priced(0.5));
    assert.deepEqual(launchCounts(plan(viewOf([], tasks(9, { CPU: 1 })), specOf([big, wide]), now)), { wide: 1 });
  });

  it('a GPU node is not launched for work without GPUs, however cheap', () => {
    assert.deepEqual(launchCounts(plan(viewOf([], tasks(16, { CPU: 1 })), specOf([gpu, big]), now)), { big: 2 });
    assert.deepEqual(launchCounts(plan(viewOf([], tasks(2, { CPU: 1, GPU: 1 })), specOf([gpu, big]), now)), { gpu: 1 });
  });

  it("a type's priority goes before its price", () => {
    const wanted = typeOf('wanted', { CPU: 8 }, { ...priced(9), priority: 1 });
    assert.deepEqual(launchCounts(plan(viewOf([], tasks(8, { CPU: 1 })), specOf([big, wanted]), now)), { wanted: 1 });
  });

  describe('where one type holds what a cheaper one cannot', () => {
    const lean = typeOf('lean', { CPU: 8, memory: 16 }, priced(0.34));
    const broad = typeOf('broad', { CPU: 8, memory: 32 }, { ...priced(0.38), maxWorkers: 2 });
    const spec = specOf([lean, broad]);
    const atWork = running(broad, { CPU: 0, memory: 8 });

    it('the cheaper one is taken while nothing needs more', () => {
      const full = running(broad, { CPU: 0, memory: 32 });
      assert.deepEqual(launchCounts(plan(viewOf([full], tasks(1, { CPU: 1 })), spec, now)), { lean: 1 });
    });

    it('the other one is taken where work of the cluster needs it, so that all work can share the nodes', () => {
      const made = plan(viewOf([atWork], tasks(1, { CPU: 1 })), spec, now);
      assert.deepEqual(launchCounts(made), { broad: 1 });
      assert.deepEqual(launches(made)[0]?.because[0]?.instead, [
        { type: 'lean', why: { kind: 'narrow', broader: 'broad' } },
      ]);
    });

    it('the cheaper one is taken where the other one costs over a fifth more', () => {
      const dear = { ...broad, ...priced(0.42) };
      assert.deepEqual(launchCounts(plan(viewOf([atWork], tasks(1, { CPU: 1 })), specOf([lean, dear]), now)), {
        lean: 1,
      });
    });

    it('the cheaper one takes what is beyond the limit of the other', () => {
      const made = plan(viewOf([atWork], tasks(24, { CPU: 1 })), spec, now);
      assert.deepEqual(launchCounts(made), { broad: 1, lean: 2 });
    });
  });

  it('free room on the head is used first', () => {
    const head = typeOf('head', { CPU: 4 }, { maxWorkers: 0 });
    const view = viewOf([running(head, { CPU: 4 }, { kind: 'head' })], tasks(6, { CPU: 1 }));
    assert.deepEqual(launchCounts(plan(view, specOf([head, small]), now)), { small: 2 });
  });

  it('fractions add up as they do in Ray, in ten-thousandths', () => {
    const made = plan(viewOf([], tasks(3, { CPU: 0.2 })), specOf([typeOf('w', { CPU: 0.6 })]), now);
    assert.deepEqual(launchCounts(made), { w: 1 });
  });

  it('a node that the provider takes back is no room, and leaves its place to another from the notice on', () => {
    const w = typeOf('w', { CPU: 2 }, { maxWorkers: 1 });
    const leaving = { ...running(w, { CPU: 2 }), takenBackAt: now + 60_000 };
    const at = { ...specOf([w]), maxWorkers: 1 };
    assert.deepEqual(launchCounts(plan(viewOf([leaving], tasks(1, { CPU: 2 })), at, now)), { w: 1 });
    assert.deepEqual(launchCounts(plan(viewOf([{ ...leaving, status: 'draining' }], tasks(1, { CPU: 2 })), at, now)), {
      w: 1,
    });
    const ray = plan(viewOf([leaving], tasks(1, { CPU: 2 })), at, now, { like: 'ray' });
    assert.deepEqual(launchCounts(ray), {});
  });

  it('a draining node is no room, and holds its place within the limits', () => {
    const w = typeOf('w', { CPU: 4 }, { maxWorkers: 2 });
    const view = viewOf([running(w, { CPU: 4 }, { status: 'draining' })], tasks(8, { CPU: 1 }));
    const made = plan(view, specOf([w]), now);
    assert.deepEqual(launchCounts(made), { w: 1 });
    assert.deepEqual(made.waiting[0]?.for, [{ type: 'w', why: { kind: 'type-limit', max: 2, leaving: 1 } }]);
  });

  it('a machine in set-up whose end is under way is no room, and holds its place within the limits', () => {
    const w = typeOf('w', { CPU: 4 }, { maxWorkers: 2 });
    const ending = { ...running(w, { CPU: 4 }, { status: 'setting-up' }), ending: true };
    const made = plan(viewOf([ending], tasks(8, { CPU: 1 })), specOf([w]), now);
    assert.deepEqual(launchCounts(made), { w: 1 });
    assert.deepEqual(made.waiting[0]?.for, [{ type: 'w', why: { kind: 'type-limit', max: 2, leaving: 1 } }]);
  });

  it('every launch says what it serves and why the other types were passed over', () => {
    const made = plan(viewOf([], tasks(2, { CPU: 4 })), specOf([small, big, gpu]), now);
    assert.deepEqual(launches(made)[0]?.because, [
      {
        serves: { kind: 'tasks', request: ask({ CPU: 4 }), count: 2 },
        instead: [
          { type: 'small', why: { kind: 'too-small', resource: 'CPU', asked: 4, has: 1 } },
          { type: 'gpu', why: { kind: 'keeps-gpus' } },
        ],
      },
    ]);
  });
});

describe('what cannot be placed', () => {
  it('is infeasible, with the reason of each type, when no type can ever hold it', () => {
    const made = plan(viewOf([], tasks(1, { CPU: 99 })), specOf([small, big]), now);
    assert.deepEqual(made.infeasible, [
      {
        kind: 'tasks',
        request: ask({ CPU: 99 }),
        count: 1,
        types: [
          { type: 'small', why: { kind: 'too-small', resource: 'CPU', asked: 99, has: 1 } },
          { type: 'big', why: { kind: 'too-small', resource: 'CPU', asked: 99, has: 8 } },
        ],
      },
    ]);
  });

  it('waits when only limits keep it out, or when a node that runs could hold it once it is free', () => {
    const full = plan(viewOf([], tasks(3, { CPU: 8 })), specOf([big], { maxWorkers: 2 }), now);
    assert.deepEqual(full.infeasible, []);
    assert.deepEqual(full.waiting[0]?.for, [{ type: 'big', why: { kind: 'cluster-limit', max: 2 } }]);
    const ending = { ...pending(big), status: 'terminating' as const };
    const soon = plan(viewOf([ending], tasks(2, { CPU: 8 })), specOf([big], { maxWorkers: 1 }), now);
    assert.deepEqual(soon.waiting[0]?.for, [{ type: 'big', why: { kind: 'cluster-limit', max: 1, leaving: 1 } }]);
    const special = running(big, { CPU: 0 }, {});
    const owner = { ...special, node: { ...special.node!, total: { CPU: 8, disk: 1 } } };
    const made = plan(viewOf([owner], tasks(1, { disk: 1 })), specOf([big]), now);
    assert.deepEqual([made.infeasible.length, made.waiting.length], [0, 1]);
  });
});

describe('when the provider refuses', () => {
  const zoned = typeOf(
    'zoned',
    { CPU: 8 },
    {
      offers: [
        { zone: 'a', market: 'spot', pricePerHour: 0.1 },
        { zone: 'b', market: 'spot', pricePerHour: 0.1 },
        { zone: 'a', market: 'on-demand', pricePerHour: 0.3 },
      ],
    },
  );
  const remembering = (...refusals: LaunchRefusal[]) =>
    viewOf([], tasks(8, { CPU: 1 }), { memory: { refusals, unneededSince: {} } });

  it('the next offer of the type is asked', () => {
    const made = plan(remembering(refusal('zoned', { zone: 'a', market: 'spot' })), specOf([zoned]), now);
    assert.deepEqual(
      launches(made).map(({ zone, market }) => [zone, market]),
      [['b', 'spot']],
    );
  });

  it('the next type is taken when all offers are refused, and the launch names the refusal', () => {
    const made = plan(remembering(refusal('small')), specOf([small, big]), now);
    assert.deepEqual(launchCounts(made), { big: 1 });
    assert.equal(launches(made)[0]?.because[0]?.instead[0]?.why.kind, 'refused');
  });

  it('the demand waits until the first back-off ends when nothing else holds it', () => {
    const made = plan(remembering(refusal('big')), specOf([big]), now);
    assert.deepEqual(made.actions, []);
    assert.equal(made.waiting[0]?.until, now + 60_000);
    assert.equal(made.lookAgainAt, now + 60_000);
  });

  it('the type is asked again when the back-off has ended', () => {
    const made = plan(remembering(refusal('big', { until: now })), specOf([big]), now);
    assert.deepEqual(launchCounts(made), { big: 1 });
  });
});

describe('upscaling speed', () => {
  const w = typeOf('w', { CPU: 1 });
  const spec = specOf([w], { upscalingSpeed: 1 });

  it('five may be pending from nothing, and the rest waits with the reason', () => {
    const made = plan(viewOf([], tasks(20, { CPU: 1 })), spec, now);
    assert.deepEqual(launchCounts(made), { w: 5 });
    assert.deepEqual(made.waiting, [
      {
        demand: { kind: 'tasks', request: ask({ CPU: 1 }), count: 15 },
        for: [{ type: 'w', why: { kind: 'upscaling-speed', pending: 0, allowed: 5 } }],
      },
    ]);
    assert.ok(made.lookAgainAt !== undefined);
  });

  it('as many as run may be pending', () => {
    const busy = Array.from({ length: 12 }, () => running(w, { CPU: 0 }));
    assert.deepEqual(launchCounts(plan(viewOf(busy, tasks(40, { CPU: 1 })), spec, now)), { w: 12 });
  });

  it('one more goes every five seconds however many are pending, as in Ray', () => {
    const coming = Array.from({ length: 6 }, () => pending(w));
    assert.deepEqual(launchCounts(plan(viewOf(coming, tasks(40, { CPU: 1 })), spec, now)), { w: 1 });
    const lately = [...coming, pending(w, { requestedAt: now - 2_000 })];
    const made = plan(viewOf(lately, tasks(40, { CPU: 1 })), spec, now);
    assert.deepEqual(launchCounts(made), {});
    assert.equal(made.lookAgainAt, now + 3_000);
  });

  it('floors, gangs and standing requests are not held back', () => {
    const floored = specOf([{ ...w, minWorkers: 30 }], { upscalingSpeed: 1 });
    assert.deepEqual(launchCounts(plan(viewOf([]), floored, now)), { w: 30 });
    const gang = { id: 'pg', requests: Array.from({ length: 20 }, () => ask({ CPU: 1 })) };
    assert.deepEqual(launchCounts(plan(viewOf([], { gangs: [gang] }), spec, now)), { w: 20 });
    const standing = { requests: [{ request: ask({ CPU: 1 }), count: 20 }] };
    assert.deepEqual(launchCounts(plan(viewOf([], { standing: [standing] }), spec, now)), { w: 20 });
  });
});

describe('gangs', () => {
  const w = typeOf('w', { CPU: 4 }, { maxWorkers: 3 });
  const gangOf = (count: number, kind?: 'apart' | 'together') => ({
    id: 'pg',
    requests: Array.from({ length: count }, () =>
      ask({ CPU: 2 }, kind === undefined ? {} : { placement: [{ kind, label: '_PG_1', value: '' }] }),
    ),
  });

  it('bundles that must be apart get a node each, those that must be together one node', () => {
    assert.deepEqual(launchCounts(plan(viewOf([], { gangs: [gangOf(3, 'apart')] }), specOf([w]), now)), { w: 3 });
    assert.deepEqual(launchCounts(plan(viewOf([], { gangs: [gangOf(2, 'together')] }), specOf([w]), now)), { w: 1 });
  });

  it('nothing is launched for a gang that the limits cannot hold', () => {
    const made = plan(viewOf([], { gangs: [gangOf(4, 'apart')] }), specOf([w]), now);
    assert.deepEqual(made.actions, []);
    assert.equal(made.infeasible[0]?.kind, 'gang');
  });

  it('a gang that only waits for room is not called infeasible', () => {
    const busy = [running(w, { CPU: 0 }), running(w, { CPU: 0 })];
    const made = plan(viewOf(busy, { gangs: [gangOf(3, 'apart')] }), specOf([w]), now);
    assert.deepEqual(made.infeasible, []);
    assert.deepEqual(made.waiting[0]?.demand, { kind: 'gang', gang: 'pg' });
  });
});

describe('on the way down', () => {
  const w = typeOf('w', { CPU: 4 });

  it('a node idle for longer than its timeout is drained, one that demand needs is not', () => {
    const view = viewOf([
      running(w, { CPU: 4 }, { id: 'idle' }, 400_000),
      running(w, { CPU: 4 }, { id: 'fresh' }, 100_000),
    ]);
    const made = plan(view, specOf([w]), now);
    assert.deepEqual(ends(made), ['drain idle idle']);
    assert.equal(made.lookAgainAt, now + 200_001);
    assert.deepEqual(
      ends(plan({ ...view, demand: { ...view.demand, ...tasks(5, { CPU: 1 }) } }, specOf([w]), now)),
      [],
    );
  });

  it('what is due is no reason to look again while a side does not answer', () => {
    const nodes = [running(w, { CPU: 4 }, { id: 'idle' }, 400_000), pending(w, { id: 'p' })];
    const memory = { refusals: [], unneededSince: { p: now - 400_000 } };
    const complete = { engine: true, provider: false };
    const made = plan(viewOf(nodes, {}, { memory, complete }), specOf([w]), now);
    assert.deepEqual(made.actions, []);
    assert.equal(made.lookAgainAt, undefined);
  });

  it('demand goes to the node that was busy last, so that the longest idle one can go', () => {
    const view = viewOf(
      [running(w, { CPU: 4 }, { id: 'long' }, 900_000), running(w, { CPU: 4 }, { id: 'short' }, 310_000)],
      tasks(4, { CPU: 1 }),
    );
    assert.deepEqual(ends(plan(view, specOf([w]), now)), ['drain long idle']);
  });

  describe('with idle: economic', () => {
    const w = typeOf('w', { CPU: 4 }, priced(1));
    // They took 90 seconds to start.
    const started = { requestedAt: now - 600_000, since: now - 510_000 };
    const idle = (seconds: number) => running(w, { CPU: 4 }, { id: `${seconds}`, ...started }, seconds * 1_000);

    it('a node goes when it has been idle for as long as a new one takes to start, and not before', () => {
      const spec = specOf([w], { idle: 'economic' });
      const made = plan(viewOf([idle(80), idle(100)]), spec, now);
      assert.deepEqual(ends(made), ['drain 100 idle']);
      assert.equal(made.lookAgainAt, now + 10_001);
      const [action] = made.actions;
      assert.ok(action?.kind === 'drain');
      assert.match(endWords(action.because, now), /idle for 100 s, which costs more than a new node's start of 90 s/);
    });

    it('the idle timeout of the file is never exceeded, and floors stay', () => {
      const short = specOf([w], { idle: 'economic', idleTimeout: 60_000 });
      assert.deepEqual(ends(plan(viewOf([idle(80)]), short, now)), ['drain 80 idle']);
      const floor = { ...w, minWorkers: 1 };
      assert.deepEqual(ends(plan(viewOf([idle(100)]), specOf([floor], { idle: 'economic' }), now)), []);
    });

    it('without prices, and as Ray decides, the timeout counts', () => {
      const free = typeOf('w', { CPU: 4 });
      assert.deepEqual(ends(plan(viewOf([idle(100)]), specOf([free], { idle: 'economic' }), now)), []);
      assert.deepEqual(ends(plan(viewOf([idle(100)]), specOf([w], { idle: 'economic' }), now, ray)), []);
    });
  });

  it('of idle nodes that the floor does not need the dearest goes', () => {
    const mixed = typeOf(
      'w',
      { CPU: 4 },
      {
        minWorkers: 1,
        offers: [
          { market: 'spot', pricePerHour: 0.1 },
          { market: 'on-demand', pricePerHour: 0.3 },
        ],
      },
    );
    const view = viewOf([
      running(mixed, { CPU: 4 }, { id: 'cheap', market: 'spot' }, 900_000),
      running(mixed, { CPU: 4 }, { id: 'dear', market: 'on-demand' }, 400_000),
    ]);
    assert.deepEqual(ends(plan(view, specOf([mixed]), now)), ['drain dear idle']);
  });

  it('a standing request lies on the nodes that have been idle longest, so that those used last stay', () => {
    const idle = [400_000, 350_000, 310_000].map((idleFor) => running(w, { CPU: 4 }, { id: `${idleFor}` }, idleFor));
    const standing = [{ requests: [{ request: ask({ CPU: 4 }), count: 2 }] }];
    assert.deepEqual(ends(plan(viewOf(idle, { standing }), specOf([w]), now)), ['drain 310000 idle']);
  });

  it('an instance in set-up that nothing needs is kept a little longer', () => {
    const memory = { refusals: [], unneededSince: { p: now } };
    const view = viewOf([pending(w, { id: 'p', status: 'setting-up' })], {}, { memory });
    assert.deepEqual(ends(plan(view, specOf([w]), now + 30_000)), []);
    assert.deepEqual(ends(plan(view, specOf([w]), now + 45_000)), ['terminate p unneeded-pending']);
  });

  it('a pending instance that nothing needs is remembered, then cancelled after a short grace', () => {
    const view = viewOf([pending(w, { id: 'p' })]);
    const first = plan(view, specOf([w]), now);
    assert.deepEqual(first.actions, []);
    assert.deepEqual(first.facts, [{ kind: 'unneeded', instance: 'p', since: now }]);
    assert.equal(first.lookAgainAt, now + 30_000);
    const memory = { refusals: [], unneededSince: { p: now } };
    assert.deepEqual(ends(plan({ ...view, memory }, specOf([w]), now + 30_000)), ['terminate p unneeded-pending']);
    const needed = { ...view, memory, demand: { ...view.demand, ...tasks(1, { CPU: 1 }) } };
    assert.deepEqual(plan(needed, specOf([w]), now + 30_000).facts, [{ kind: 'needed-again', instance: 'p' }]);
  });

  it('the one that is least far along is cancelled', () => {
    const view = viewOf(
      [pending(w, { id: 'late', status: 'queued' }), pending(w, { id: 'soon', status: 'setting-up' })],
      tasks(4, { CPU: 1 }),
      { memory: { refusals: [], unneededSince: { late: now - 30_000 } } },
    );
    assert.deepEqual(ends(plan(view, specOf([w]), now)), ['terminate late unneeded-pending']);
  });

  it('what stopped or failed is ended', () => {
    const view = viewOf([
      pending(w, { id: 'f', status: 'setup-failed' }),
      pending(w, { id: 't', status: 'terminating' }),
    ]);
    assert.deepEqual(ends(plan(view, specOf([w]), now)), ['terminate f failed']);
  });

  it('above a lowered limit what runs nothing goes first, then what is idle', () => {
    const lower = specOf([{ ...w, maxWorkers: 1 }]);
    const view = viewOf([
      running(w, { CPU: 0 }, { id: 'busy' }),
      running(w, { CPU: 4 }, { id: 'idle' }, 5_000),
      pending(w, { id: 'asked', status: 'requested' }),
    ]);
    assert.deepEqual(ends(plan(view, lower, now)), ['drain idle type-limit', 'terminate asked type-limit']);
  });
});

describe('instances of an earlier make', () => {
  const w = typeOf('w', { CPU: 4 }, { launchHash: 'new', maxWorkers: 8, minWorkers: 8 });
  const spec = specOf([w], { replaceOutdated: true });
  const old = (id: string, idleFor: number) =>
    running(w, { CPU: idleFor > 0 ? 4 : 0 }, { id, launchHash: 'old' }, idleFor);

  it('are replaced a quarter at a time, the longest idle first', () => {
    const view = viewOf(Array.from({ length: 8 }, (_, at) => old(`n${at}`, at * 1_000)));
    assert.deepEqual(ends(plan(view, spec, now)), ['drain n6 outdated', 'drain n7 outdated']);
  });

  it('wait while others are on their way out or up', () => {
    const rest = Array.from({ length: 6 }, (_, at) => old(`n${at}`, 1_000));
    const away = [pending(w, { id: 'up', status: 'setting-up', launchHash: 'new' }), old('out', 1_000)];
    const view = viewOf([
      ...rest,
      ...away.map((each) => (each.id === 'out' ? { ...each, status: 'draining' as const } : each)),
    ]);
    assert.deepEqual(ends(plan(view, spec, now)), []);
  });

  it('are replaced one by one where there are few, and never where the view is not complete', () => {
    const few = viewOf([old('a', 1_000), old('b', 2_000)]);
    assert.deepEqual(ends(plan(few, spec, now)), ['drain b outdated']);
    assert.deepEqual(ends(plan({ ...few, complete: { engine: false, provider: true } }, spec, now)), []);
  });

  it('of a slice go with all of its hosts', () => {
    const pod = typeOf('pod', { CPU: 8 }, { hostsPerSlice: 2, maxWorkers: 4, minWorkers: 4, launchHash: 'new' });
    const hosts = ['a0', 'a1', 'b0', 'b1'].map((id) =>
      running(pod, { CPU: 8 }, { id, slice: id[0] as string, launchHash: 'old' }, 1_000),
    );
    const made = ends(plan(viewOf(hosts), specOf([pod], { replaceOutdated: true }), now));
    assert.deepEqual(made, ['drain a0 outdated', 'drain a1 outdated']);
  });
});

describe('slices of several hosts', () => {
  const pod = typeOf('pod', { CPU: 8, TPU: 4 }, { hostsPerSlice: 4, maxWorkers: 8 });
  const hosts = (slice: string, count: number, idleFor: number) =>
    Array.from({ length: count }, (_, at) => running(pod, { CPU: 8, TPU: 4 }, { id: `${slice}${at}`, slice }, idleFor));

  it('a unit is launched whole and takes work on all of its hosts', () => {
    const made = plan(viewOf([], tasks(5, { TPU: 4 })), specOf([pod]), now);
    assert.deepEqual(launchCounts(made), { pod: 2 });
  });

  it('a unit that the limit cannot hold whole is not launched', () => {
    const made = plan(viewOf([], tasks(1, { TPU: 4 })), specOf([{ ...pod, maxWorkers: 3 }]), now);
    assert.deepEqual(made.actions, []);
  });

  it('work for whole slices gets one each, though a slice has several hosts', () => {
    const named = { ...pod, firstHost: { 'TPU-v4-32-head': 1 } };
    const gang = { id: 'g', requests: [1, 2].map(() => ask({ 'TPU-v4-32-head': 1 })) };
    assert.deepEqual(launchCounts(plan(viewOf([], { gangs: [gang] }), specOf([named]), now)), { pod: 2 });
    assert.deepEqual(launchCounts(plan(viewOf([], tasks(4, { TPU: 4 })), specOf([named]), now)), { pod: 1 });
    const three = { id: 'g', requests: [1, 2, 3].map(() => ask({ 'TPU-v4-32-head': 1 })) };
    const beyond = plan(viewOf([], { gangs: [three] }), specOf([named]), now);
    assert.deepEqual([beyond.actions, beyond.infeasible.length], [[], 1]);
  });

  it('a slice that lost a host is ended and replaced whole', () => {
    const made = plan(viewOf(hosts('s', 3, 0), tasks(1, { TPU: 4 })), specOf([pod]), now);
    assert.deepEqual(ends(made), [
      'terminate s0 slice-broken',
      'terminate s1 slice-broken',
      'terminate s2 slice-broken',
    ]);
    assert.deepEqual(launchCounts(made), { pod: 1 });
  });

  it('a slice goes when all of its hosts are idle, and not before', () => {
    assert.equal(ends(plan(viewOf(hosts('s', 4, 400_000)), specOf([pod]), now)).length, 4);
    const oneBusy = [...hosts('s', 3, 400_000), running(pod, { CPU: 0, TPU: 0 }, { slice: 's' })];
    assert.deepEqual(ends(plan(viewOf(oneBusy), specOf([pod]), now)), []);
  });
});
