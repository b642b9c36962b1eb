import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { durationOf, durationWords } from '../../src/core/duration.ts';
import type { Job } from '../../src/core/jobs/job.ts';
import { minutes } from '../../src/core/spec/cluster.ts';
import { mantaSpec } from '../../src/core/spec/manta.ts';
import {
  activityWords,
  afterLook,
  extendedBy,
  type IdleMemory,
  jobActivity,
  longestBlindness,
  reasonWords,
  type TurnOffFacts,
  type TurnOffTerms,
  turnOffOf,
  turnOffTerms,
  warnsFrom,
} from '../../src/core/turn-off.ts';

const instant = fc.integer({ min: 1_700_000_000_000, max: 1_800_000_000_000 });
const length = fc.integer({ min: 1_000, max: 30 * 86_400_000 });
const terms: fc.Arbitrary<TurnOffTerms> = fc.record(
  { idleShutdown: length, maxLifetime: length, until: instant, keepUntil: instant },
  { requiredKeys: [] },
);
const facts: fc.Arbitrary<TurnOffFacts> = fc.record(
  { livesSince: instant, idleSince: instant },
  { requiredKeys: ['livesSince'] },
);

test('a cluster without terms never ends by itself', () => {
  fc.assert(
    fc.property(facts, instant, (known, now) => {
      assert.equal(turnOffOf({}, known, now), undefined);
    }),
  );
});

test('a cluster of which nobody knows that it is idle does not end for idleness', () => {
  fc.assert(
    fc.property(terms, facts, instant, (given, { livesSince }, now) => {
      assert.notEqual(turnOffOf(given, { livesSince }, now)?.because.kind, 'idle');
    }),
  );
});

test('each term ends the cluster when it is due, and no later', () => {
  fc.assert(
    fc.property(terms, facts, instant, ({ keepUntil: _, ...given }, known, now) => {
      const end = turnOffOf(given, known, now);
      const each = (Object.keys(given) as (keyof typeof given)[]).flatMap(
        (key) => turnOffOf({ [key]: given[key] }, known, now)?.at ?? [],
      );
      assert.equal(end?.at, each.length === 0 ? undefined : Math.min(...each));
    }),
  );
});

test('what was extended does not end before, and is not shortened by it', () => {
  fc.assert(
    fc.property(terms, facts, length, instant, (given, known, by, now) => {
      const keepUntil = extendedBy(given, known.livesSince, by, now);
      assert.ok(keepUntil >= now + by);
      const before = turnOffOf(given, known, now);
      const after = turnOffOf({ ...given, keepUntil }, known, now);
      assert.equal(after === undefined, before === undefined);
      if (after && before) assert.ok(after.at >= keepUntil && after.at >= before.at);
    }),
  );
});

test('an extension counts from the end that was set, and else from now', () => {
  const now = 1_000_000;
  assert.equal(extendedBy({ until: now + 500 }, 0, 100, now), now + 600);
  assert.equal(extendedBy({ until: now - 500 }, 0, 100, now), now + 100);
  assert.equal(extendedBy({ idleShutdown: 50 }, 0, 100, now), now + 100);
  assert.equal(extendedBy({ idleShutdown: 50, keepUntil: now + 100 }, 0, 100, now), now + 200);
});

test('who asks for the end gets it at once, whatever was extended', () => {
  fc.assert(
    fc.property(terms, facts, instant, (given, known, now) => {
      const end = turnOffOf(given, { ...known, asked: { by: 'session s1' } }, now);
      assert.deepEqual(end, { at: now, because: { kind: 'asked', by: 'session s1' } });
    }),
  );
});

test('a cluster warns before it ends, for at least half of a short term', () => {
  fc.assert(
    fc.property(terms, facts, instant, (given, known, now) => {
      const end = turnOffOf(given, known, now);
      if (end === undefined) return;
      const notice = end.at - warnsFrom(end);
      assert.ok(notice > 0 && notice <= minutes(10));
      if ('after' in end.because) assert.ok(notice <= end.because.after / 2);
      assert.ok(reasonWords(end.because).length > 0);
    }),
  );
});

const job = (state: Job['state'], more: Partial<Job> = {}): Job => ({ state, ...more }) as Job;

test('what runs, waits or is held for later is activity; what is over is not', () => {
  const words = (...jobs: readonly Job[]): string => activityWords(jobActivity(jobs, minutes(30), 0));
  assert.equal(words(job('succeeded'), job('failed'), job('stopped')), '');
  assert.equal(words(job('running'), job('starting'), job('stopping')), '3 jobs running');
  assert.equal(words(job('queued')), '1 job queued');
  assert.equal(words(job('held', { notBefore: minutes(6000) })), '1 job held');
});

test('a schedule keeps a cluster only when it fires within the idle time', () => {
  const due = (at: number): number =>
    jobActivity([job('held', { cron: '0 3 * * *', notBefore: at })], minutes(30), 0).length;
  assert.equal(due(minutes(31)), 0);
  assert.equal(due(minutes(30)), 1);
  assert.equal(due(-1), 1);
});

test('idleness is counted from the first of unbroken looks that found nothing', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ busy: fc.boolean(), wait: fc.integer({ min: -10_000, max: 3 * longestBlindness }) }), {
        minLength: 1,
        maxLength: 40,
      }),
      (looks) => {
        let memory: IdleMemory | undefined;
        let now = 1_000_000_000;
        let since: number | undefined;
        for (const { busy, wait } of looks) {
          now += wait;
          const broken = wait < 0 || wait > longestBlindness;
          since = busy ? undefined : broken || since === undefined ? now : since;
          memory = afterLook(memory, busy, now);
          assert.equal(memory.idleSince, since);
        }
      },
    ),
  );
});

test('the cluster file says when it ends', () => {
  const terms = { idleShutdown: minutes(90), maxLifetime: minutes(2880) };
  assert.deepEqual(turnOffTerms(mantaSpec({ idle_shutdown: '1h30m', max_lifetime: '2d' })), terms);
  assert.deepEqual(turnOffTerms(mantaSpec({ idle_shutdown: '0s' })), {});
  assert.deepEqual(turnOffTerms(mantaSpec(undefined)), {});
});

test('a length of time in words is read back as itself, to two units', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 400 * 86_400 }), (seconds) => {
      const read = durationOf(durationWords(seconds * 1_000)) as number;
      assert.ok(read <= seconds * 1_000 && read > seconds * 1_000 * 0.95 - 1);
      assert.equal(durationOf(durationWords(read)), read);
    }),
  );
});
