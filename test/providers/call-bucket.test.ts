import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallBucket } from '../../src/providers/call-bucket.ts';
import { never } from '../contract/waiting.ts';
import { ManualClock } from '../jobs/manual-clock.ts';

const throttle = new Error('throttled');
const isThrottle = (error: unknown): boolean => error === throttle;

/** Calls that have gone out, by number. */
function calls(bucket: CallBucket) {
  const out: number[] = [];
  const make = (count: number, signal = never, outcome: () => Promise<void> = async () => {}) =>
    Array.from({ length: count }, (_, index) => {
      const call = async (): Promise<void> => {
        out.push(index);
        await outcome();
      };
      return bucket.call(call, isThrottle, signal);
    });
  return { out, make };
}

test('a burst goes out at once, and what comes after it at the rate, in order', async () => {
  const clock = new ManualClock();
  const { out, make } = calls(new CallBucket({ clock, perSecond: 10, burst: 5 }));
  const all = Promise.all(make(20));
  await clock.advance(0);
  assert.equal(out.length, 5);
  await clock.advance(1_000);
  assert.equal(out.length, 15);
  await clock.advance(1_000);
  await all;
  assert.deepEqual(
    out,
    out.toSorted((a, b) => a - b),
  );
});

test('a throttle halves the rate for all calls once, however many calls were told so', async () => {
  const clock = new ManualClock();
  const bucket = new CallBucket({ clock, perSecond: 16, burst: 4 });
  const { promise, reject } = Promise.withResolvers<void>();
  const { make } = calls(bucket);
  const told = Promise.allSettled(make(4, never, () => promise));
  await clock.advance(0);
  reject(throttle);
  await told;
  assert.equal(bucket.rate, 8);
  const { out, make: more } = calls(bucket);
  const later = Promise.all(more(3));
  await clock.advance(100);
  assert.equal(out.length, 0, 'nothing is left of the burst');
  await clock.advance(1_000);
  await later;
});

test('success raises the rate again, up to what it was', async () => {
  const clock = new ManualClock();
  const bucket = new CallBucket({ clock, perSecond: 16, burst: 4 });
  const failing = calls(bucket).make(1, never, () => Promise.reject(throttle));
  await Promise.allSettled(failing);
  const all = Promise.all(calls(bucket).make(50));
  await clock.advance(10_000);
  await all;
  assert.equal(bucket.rate, 16);
});

test('another failure changes no rate, and the rate never ends', async () => {
  const clock = new ManualClock();
  const bucket = new CallBucket({ clock, perSecond: 16, burst: 4 });
  await Promise.allSettled(calls(bucket).make(1, never, () => Promise.reject(new Error('other'))));
  assert.equal(bucket.rate, 16);
  for (let times = 0; times < 10; times++) {
    const failing = Promise.allSettled(calls(bucket).make(1, never, () => Promise.reject(throttle)));
    await clock.advance(5_000);
    await failing;
  }
  assert.equal(bucket.rate, 0.5);
});

test('a caller that gives up makes no call and holds up nobody', async () => {
  const clock = new ManualClock();
  const { out, make } = calls(new CallBucket({ clock, perSecond: 1, burst: 1 }));
  const first = Promise.all(make(1));
  await first;
  const giving = new AbortController();
  const waiting = make(1, giving.signal)[0]!;
  const queued = make(1, giving.signal)[0]!;
  const last = make(1)[0]!;
  await clock.advance(100);
  giving.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  await assert.rejects(queued, /enough/);
  await clock.advance(1_000);
  await last;
  assert.equal(out.length, 2);
});
