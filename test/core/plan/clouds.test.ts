import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { plan } from '../../../src/core/plan/plan-cluster.ts';
import type { Offer } from '../../../src/core/scaling.ts';
import type { LaunchRefusal } from '../../../src/core/view.ts';
import {
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

const onDemand: Offer = { market: 'on-demand', zone: 'a', pricePerHour: 1 };
const reserved: Offer = { market: 'reserved', zone: 'a', pricePerHour: 5 };

describe('reserved capacity', () => {
  it('is the cheapest, whatever it is billed at, for it is paid for already', () => {
    const booked = typeOf('booked', { CPU: 4 }, { offers: [reserved] });
    const cheap = typeOf('cheap', { CPU: 4 }, priced(0.1));
    assert.deepEqual(launchCounts(plan(viewOf([], tasks(1, { CPU: 4 })), specOf([cheap, booked]), now)), { booked: 1 });
  });

  it('is tried where the file lists it, no earlier', () => {
    const offerOf = (offers: readonly Offer[]) => {
      const made = plan(viewOf([], tasks(1, { CPU: 4 })), specOf([typeOf('t', { CPU: 4 }, { offers })]), now);
      return launches(made)[0]?.market;
    };
    assert.equal(offerOf([onDemand, reserved]), 'on-demand');
    assert.equal(offerOf([reserved, onDemand]), 'reserved');
  });

  it('is the last to be ended among idle nodes', () => {
    const type = typeOf('t', { CPU: 4 }, { offers: [onDemand, reserved], minWorkers: 1 });
    const idle = (id: string, offer: Offer) =>
      running(type, { CPU: 4 }, { id, zone: offer.zone!, market: offer.market }, 600_000);
    const view = viewOf([idle('booked', reserved), idle('paid', onDemand)]);
    assert.deepEqual(ends(plan(view, specOf([type]), now)), ['drain paid idle']);
  });
});

describe('a refusal for want of quota', () => {
  const offers: readonly Offer[] = [
    { market: 'spot', zone: 'a' },
    { market: 'spot', zone: 'b' },
    { market: 'on-demand', zone: 'a' },
  ];
  const types = [typeOf('small', { CPU: 4 }, { offers }), typeOf('large', { CPU: 8 }, { offers })];
  const quota: LaunchRefusal = {
    ...{ type: 'small', market: 'spot', zone: 'a', reason: 'quota' },
    ...{ times: 1, last: now, until: now + 60_000 },
  };
  const chosen = (closes: LaunchRefusal['closes'], asked: number): string => {
    const refusals = [{ ...quota, ...(closes !== undefined && { closes }) }];
    const view = viewOf([], tasks(1, { CPU: asked }), { memory: { refusals, unneededSince: {} } });
    const [launch] = launches(plan(view, specOf(asked === 4 ? types.slice(0, 1) : types), now));
    return `${launch?.type} ${launch?.market} ${launch?.zone}`;
  };

  it('closes the zone, the region or the project that it names, in its market', () => {
    assert.equal(chosen(undefined, 4), 'small spot b');
    assert.equal(chosen('zone', 4), 'small spot b');
    assert.equal(chosen('region', 4), 'small on-demand a');
    assert.equal(chosen('project', 4), 'small on-demand a');
  });

  it('closes other types only with the project', () => {
    assert.equal(chosen('region', 8), 'large spot a');
    assert.equal(chosen('project', 8), 'large on-demand a');
  });
});

describe('stopped machines', () => {
  const type = typeOf('t', { CPU: 4 }, { maxWorkers: 2, launchHash: 'h' });
  const spec = specOf([type], { stopsIdle: true });
  const off = (id: string, more = {}) =>
    pending(type, { id, status: 'machine-stopped', market: 'on-demand', launchHash: 'h', ...more });

  it('come from idle workers on demand, and from no other end', () => {
    const idle = (id: string, more = {}) => running(type, { CPU: 4 }, { id, market: 'on-demand', ...more }, 600_000);
    const view = viewOf([idle('a'), idle('b', { market: 'spot' })]);
    const stops = plan(view, spec, now).actions.map(
      (action) => action.kind === 'drain' && `${action.instance} ${action.stops}`,
    );
    assert.deepEqual(new Set(stops), new Set(['a true', 'b undefined']));
    const without = plan(view, specOf([type]), now).actions;
    assert.ok(without.every((action) => action.kind === 'drain' && action.stops === undefined));
  });

  it('hold their place until a list shows them stopped', () => {
    const made = plan(viewOf([off('a', { ending: true }), off('b')], tasks(2, { CPU: 4 })), spec, now);
    assert.deepEqual([launchCounts(made), ends(made)], [{ t: 1 }, []]);
  });

  it('take no work and no room: a launch goes on as if there were none', () => {
    const made = plan(viewOf([off('a'), off('b')], tasks(2, { CPU: 4 })), spec, now);
    assert.deepEqual([launchCounts(made), ends(made)], [{ t: 2 }, []]);
  });

  it('are terminated when nothing will start them', () => {
    const others = [off('spot', { market: 'spot' }), off('old', { launchHash: 'g' }), off('gone', { type: 'x' })];
    assert.deepEqual(ends(plan(viewOf([off('a'), ...others]), spec, now)), [
      'terminate gone type-removed',
      'terminate old outdated',
      'terminate spot not-kept',
    ]);
    assert.deepEqual(ends(plan(viewOf([off('a')]), specOf([type]), now)), ['terminate a not-kept']);
    const many = viewOf([off('a', { since: now - 3 }), off('b', { since: now - 2 }), off('c', { since: now - 1 })]);
    assert.deepEqual(ends(plan(many, spec, now)), ['terminate a type-limit']);
    assert.deepEqual(ends(plan(many, { ...spec, maxWorkers: 1 }, now)), [
      'terminate a cluster-limit',
      'terminate b cluster-limit',
    ]);
  });

  it('stay while a launch may be about to start them, and while a side is silent', () => {
    const many = [off('a'), off('b'), off('c')];
    const asked = pending(type, { id: 'asked', status: 'requested' });
    assert.deepEqual(ends(plan(viewOf([...many, asked], tasks(1, { CPU: 4 })), spec, now)), []);
    assert.deepEqual(ends(plan(viewOf(many, {}, { complete: { engine: true, provider: false } }), spec, now)), []);
  });
});

it('demand is placed on what only one host of a slice has, while it is on its way', () => {
  const pod = typeOf('pod', { CPU: 8, TPU: 4 }, { hostsPerSlice: 2, maxWorkers: 4 });
  const host = (id: string, extra?: Record<string, number>) =>
    pending(pod, { id, slice: 's', ...(extra && { extra }) });
  const view = viewOf([host('a', { 'TPU-head': 1 }), host('b')], tasks(1, { 'TPU-head': 1 }));
  const made = plan(view, specOf([pod]), now);
  assert.deepEqual([made.infeasible, made.waiting, made.actions], [[], [], []]);
});
