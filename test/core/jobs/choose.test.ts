import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseNext, defaultLimits, type Limits, wantedNow } from '../../../src/core/jobs/choose.ts';
import { charge, decayed, halfLife, usageOf } from '../../../src/core/jobs/fair-share.ts';
import type { Job } from '../../../src/core/jobs/job.ts';
import { fc } from '../../property.ts';
import { job } from './jobs.ts';

const roomFor = (cpus: number) => (it: Job, chosen: readonly Job[]) =>
  [...chosen, it].reduce((sum, each) => sum + (each.resources['CPU'] ?? 0), 0) <= cpus;
const ids = (jobs: readonly Job[]): string => jobs.map((each) => each.id).join(' ');
const choose = (waiting: Job[], cpus: number, limits: Partial<Limits> = {}, handedOver: Job[] = [], now = 0) =>
  chooseNext(waiting, handedOver, new Map(), { ...defaultLimits, ...limits }, now, roomFor(cpus));

test('higher priority goes first, then the older job', () => {
  const waiting = [job({ id: 'a' }), job({ id: 'b', priority: 5 }), job({ id: 'c' }), job({ id: 'd', priority: 5 })];
  assert.equal(ids(choose(waiting, 3).start), 'b d a');
});

test('a user’s priority orders that user’s jobs and passes nobody else’s; an administrator’s passes everybody’s', () => {
  const waiting = [
    job({ id: 'bob', user: 'bob' }),
    job({ id: 'low', user: 'ada' }),
    job({ id: 'high', user: 'ada', priority: 9 }),
  ];
  assert.equal(ids(choose(waiting, 3).start), 'bob high low');
  assert.equal(ids(choose(waiting, 3, { admins: new Set(['ada']) }).start), 'high bob low');
  const last = [job({ id: 'later', user: 'ada', priority: -1 }), ...waiting.slice(0, 1)];
  assert.equal(ids(choose(last, 2, { admins: new Set(['ada']) }).start), 'bob later');
});

test('for any priorities: a user is not kept waiting once the other has had as much', () => {
  const anyTurn = fc.record({ priority: fc.integer({ min: -9, max: 9 }), seconds: fc.integer({ min: 60, max: 600 }) });
  fc.assert(
    fc.property(
      fc.array(anyTurn, { minLength: 61, maxLength: 61 }),
      fc.integer({ min: -9, max: 9 }),
      fc.nat(3_600),
      (turns, priority, had) => {
        let usage = charge(new Map(), 'bob', job({ id: 'x' }), had * 1_000, 0);
        let now = 0;
        const patient = job({ id: 'patient', user: 'bob', priority });
        for (const [i, turn] of turns.entries()) {
          const greedy = job({ id: `greedy-${i}`, user: 'ada', priority: turn.priority });
          const [next] = chooseNext([greedy, patient], [], usage, defaultLimits, now, roomFor(1)).start;
          if (next === patient) return;
          assert.ok(decayed(usage.get('ada'), now) <= decayed(usage.get('bob'), now));
          now += turn.seconds * 1_000;
          usage = charge(usage, 'ada', greedy, turn.seconds * 1_000, now);
        }
        assert.fail('the other user had an hour and more, and bob still waits');
      },
    ),
  );
});

test('users take turns, and a user of double weight gets double', () => {
  const of = (user: string, count: number) => Array.from({ length: count }, (_, i) => job({ id: `${user}${i}`, user }));
  const waiting = [...of('ada', 6), ...of('bob', 6)];
  const even = choose(waiting, 6).start;
  assert.equal(even.filter((each) => each.user === 'ada').length, 3);
  const weighted = choose(waiting, 6, { weights: new Map([['bob', 2]]) }).start;
  assert.equal(weighted.filter((each) => each.user === 'bob').length, 4);
});

test('a user who has had much lately waits for one who has had little', () => {
  const usage = charge(new Map(), 'ada', job({ id: 'x' }), 3_600_000, 0);
  const waiting = [job({ id: 'a', user: 'ada' }), job({ id: 'b', user: 'bob' })];
  assert.equal(ids(chooseNext(waiting, [], usage, defaultLimits, 0, roomFor(1)).start), 'b');
  assert.ok(Math.abs(decayed(usage.get('ada'), halfLife) - 1_800) < 1e-6);
  assert.equal(decayed(usage.get('ada'), -5_000), 3_600);
});

test('a queue that starts again knows what its users have had', () => {
  const done = job({ id: 'x', attempts: [{ id: 'x.1', number: 1, startedAt: 0, endedAt: 100_000 }] });
  assert.deepEqual(usageOf([done], 100_000).get('ada'), { amount: 100, at: 100_000 });
});

test('limits hold, and say which one', () => {
  const waiting = [job({ id: 'a' }), job({ id: 'b' }), job({ id: 'c', resources: {} })];
  const byUser = choose(waiting, 9, { runningPerUser: 1 }, [job({ id: 'r', state: 'running' })]);
  assert.deepEqual([...byUser.blocked.values()], ['user-limit', 'user-limit', 'user-limit']);
  assert.equal(choose(waiting, 9, { headJobs: 0 }).blocked.get('c'), 'head-limit');
  assert.equal(choose(waiting, 9, { running: 2 }).start.length, 2);
});

test('small jobs pass a large one that has no room, until its patience ends', () => {
  const waiting = [
    job({ id: 'large', resources: { CPU: 8 } }),
    job({ id: 'small' }),
    job({ id: 'gpu', resources: { GPU: 1 } }),
  ];
  const early = choose(waiting, 4, { patience: 1_000 }, [], 500);
  assert.equal(ids(early.start), 'small gpu');
  const late = choose(waiting, 4, { patience: 1_000 }, [], 5_000);
  assert.equal(ids(late.start), 'gpu');
  assert.deepEqual(
    [...late.blocked],
    [
      ['large', 'no-room'],
      ['small', 'reserved'],
    ],
  );
});

test('only what the limits would let start counts as wanted', () => {
  const waiting = Array.from({ length: 5 }, (_, i) => job({ id: String(i) }));
  assert.equal(wantedNow(waiting, [], new Map(), { ...defaultLimits, runningPerUser: 2 }, 0).length, 2);
});

test('for any queue: no limit is passed, nothing is invented, room is kept, and no room is wasted', () => {
  const anyJob = fc.record({
    user: fc.constantFrom('ada', 'bob', 'cyd'),
    priority: fc.integer({ min: -2, max: 2 }),
    cpus: fc.integer({ min: 0, max: 4 }),
  });
  fc.assert(
    fc.property(
      fc.array(anyJob, { maxLength: 30 }),
      fc.nat(12),
      fc.nat(6),
      fc.nat(4),
      (shapes, cpus, running, headJobs) => {
        const waiting = shapes.map((shape, i) =>
          job({
            id: String(i),
            user: shape.user,
            priority: shape.priority,
            resources: shape.cpus ? { CPU: shape.cpus } : {},
          }),
        );
        const { start, blocked } = choose(waiting, cpus, { running, headJobs });
        assert.equal(start.length + blocked.size, waiting.length);
        assert.equal(new Set(start).size, start.length);
        assert.ok(start.length <= running);
        const used = start.reduce((sum, each) => sum + (each.resources['CPU'] ?? 0), 0);
        assert.ok(used <= cpus);
        assert.ok(start.filter((each) => !each.resources['CPU']).length <= headJobs);
        for (const each of waiting) {
          if (blocked.get(each.id) === 'no-room') assert.ok(used + (each.resources['CPU'] ?? 0) > cpus - 4);
          if (blocked.get(each.id) === 'cluster-limit') assert.equal(start.length, running);
        }
        for (const [i, each] of start.entries()) {
          const next = start[i + 1];
          if (next && next.user === each.user) assert.ok(each.priority >= next.priority);
        }
      },
    ),
  );
});
