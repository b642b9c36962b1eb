import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOver, type Job } from '../../../src/core/jobs/job.ts';
import { applyEvent, type JobEvent } from '../../../src/core/jobs/transitions.ts';
import { fc } from '../../property.ts';
import { anyCause, job } from './jobs.ts';

const apply = (before: Job, event: JobEvent, now = 1): Job => {
  const result = applyEvent(before, event, now);
  assert.ok('job' in result, `${event.kind} in ${before.state}: ${JSON.stringify(result)}`);
  return result.job;
};
const refusal = (before: Job, event: JobEvent): string | undefined => {
  const result = applyEvent(before, event, 1);
  return 'refused' in result ? result.refused : undefined;
};

test('a job runs from submission to success', () => {
  let it = job({ id: 'a', state: 'held' });
  it = apply(it, { kind: 'release' });
  it = apply(it, { kind: 'hand-over' });
  assert.equal(it.attempts[0]?.id, 'a.1');
  it = apply(it, { kind: 'accepted', attempt: 'a.1' });
  it = apply(it, { kind: 'news', news: { id: 'a.1', state: 'running', node: 'n', startedAt: 5 } });
  assert.equal(it.state, 'running');
  assert.equal(it.message, 'Job is currently running.');
  it = apply(it, { kind: 'news', news: { id: 'a.1', state: 'ended', cause: 'succeeded', exitCode: 0, endedAt: 9 } });
  assert.deepEqual([it.state, it.exitCode, it.endedAt, it.message], ['succeeded', 0, 9, 'Job finished successfully.']);
});

test('a failure is told in the words of Ray, with its exit code and last lines', () => {
  let it = apply(job({ id: 'a' }), { kind: 'hand-over' });
  it = apply(it, {
    kind: 'news',
    news: { id: 'a.1', state: 'ended', cause: 'failed', exitCode: 3, lastLines: 'boom\n' },
  });
  assert.equal(it.state, 'failed');
  assert.equal(it.errorType, 'JOB_ENTRYPOINT_COMMAND_ERROR');
  assert.equal(
    it.message,
    'Job entrypoint command failed with exit code 3, last available logs (truncated to 20,000 chars):\nboom\n',
  );
});

test('stopping works in every state, and a stopped job never runs again by itself', () => {
  for (const state of ['held', 'queued'] as const)
    assert.equal(apply(job({ id: 'a', state }), { kind: 'stop' }).state, 'stopped');
  let it = apply(job({ id: 'a', retries: { failed: 9, nodeLost: 9, preempted: 9, setupFailed: 9 } }), {
    kind: 'hand-over',
  });
  it = apply(it, { kind: 'stop' });
  assert.equal(it.state, 'stopping');
  assert.equal(apply(it, { kind: 'stop' }), it);
  it = apply(it, { kind: 'news', news: { id: 'a.1', state: 'ended', cause: 'node-lost' } });
  assert.equal(it.state, 'stopped');
  assert.equal(refusal(it, { kind: 'stop' }), 'already-over');
});

test('each cause draws on its own budget', () => {
  let it = job({ id: 'a', retries: { failed: 1, nodeLost: 2, preempted: 0, setupFailed: 0 } });
  const causes = ['node-lost', 'failed', 'node-lost', 'failed'] as const;
  for (const [index, cause] of causes.entries()) {
    it = apply(it, { kind: 'hand-over' });
    it = apply(it, { kind: 'news', news: { id: `a.${index + 1}`, state: 'ended', cause, exitCode: 1 } });
    if (index === causes.length - 1) break;
    assert.equal(it.state, 'held', `after ${index + 1}`);
    it = apply(it, { kind: 'release' });
  }
  assert.equal(it.state, 'failed');
  assert.equal(it.attempts.length, 4);
  it = apply(it, { kind: 'retry' });
  assert.equal(it.state, 'held');
  it = apply(apply(it, { kind: 'release' }), { kind: 'hand-over' });
  it = apply(it, { kind: 'news', news: { id: 'a.5', state: 'ended', cause: 'failed', exitCode: 1 } });
  assert.equal(it.state, 'held', 'a retry by hand begins with fresh budgets');
});

test('an attempt that is ended for its time limit says so, whatever its exit code', () => {
  let it = apply(job({ id: 'a', retries: { failed: 5, nodeLost: 0, preempted: 0, setupFailed: 0 } }), {
    kind: 'hand-over',
  });
  it = apply(it, { kind: 'time-limit', attempt: 'a.1' });
  it = apply(it, { kind: 'news', news: { id: 'a.1', state: 'ended', cause: 'stopped', exitCode: 143 } });
  assert.deepEqual([it.state, it.attempts[0]?.cause], ['failed', 'time-limit']);
});

test('news of an attempt that is not the current one is refused by name', () => {
  const running = apply(job({ id: 'a' }), { kind: 'hand-over' });
  assert.equal(refusal(running, { kind: 'news', news: { id: 'a.7', state: 'running' } }), 'unknown-attempt');
  const over = apply(running, { kind: 'news', news: { id: 'a.1', state: 'ended', cause: 'failed' } });
  assert.equal(refusal(over, { kind: 'news', news: { id: 'a.1', state: 'running' } }), 'attempt-over');
  assert.equal(refusal(over, { kind: 'hand-over' }), 'already-over');
});

test('a schedule fires, counts, and goes on', () => {
  let it = job({ id: 'a', state: 'held', cron: '* * * * *' });
  it = apply(it, { kind: 'fire', next: 60 });
  assert.deepEqual([it.state, it.firings, it.notBefore], ['held', 1, 60]);
  assert.equal(refusal(it, { kind: 'release' }), 'is-a-schedule');
  assert.equal(apply(it, { kind: 'stop' }).state, 'stopped');
});

const anyEvent: fc.Arbitrary<JobEvent> = fc.oneof(
  fc.constantFrom<JobEvent>(
    { kind: 'release' },
    { kind: 'hand-over' },
    { kind: 'stop' },
    { kind: 'retry' },
    { kind: 'fire', next: 9 },
  ),
  fc.record({
    kind: fc.constantFrom('accepted' as const, 'time-limit' as const),
    attempt: fc.constantFrom('a.1', 'a.2', 'a.3'),
  }),
  fc.record({ kind: fc.constant('cannot-start' as const), message: fc.constant('no'), errorType: fc.constant('X') }),
  fc.record({ kind: fc.constant('setup-failed' as const), message: fc.constant('no') }),
  fc.record({
    kind: fc.constant('news' as const),
    news: fc.record({
      id: fc.constantFrom('a.1', 'a.2', 'a.3'),
      state: fc.constantFrom('waiting' as const, 'setting-up' as const, 'running' as const, 'ended' as const),
      cause: anyCause,
      exitCode: fc.nat(255),
    }),
  }),
);
const anyBudget = fc.nat(2);

test('whatever happens in whatever order, a job keeps the rules', () => {
  fc.assert(
    fc.property(
      fc.array(anyEvent, { maxLength: 60 }),
      fc.record({ failed: anyBudget, nodeLost: anyBudget, preempted: anyBudget, setupFailed: anyBudget }),
      (events, retries) => {
        let it = job({ id: 'a', state: 'held', retries });
        for (const [index, event] of events.entries()) {
          const result = applyEvent(it, event, index);
          if ('refused' in result) continue;
          const next = result.job;
          if (isOver(it.state)) assert.equal(event.kind, 'retry', 'only a retry leaves a final state');
          assert.ok(next.attempts.length >= it.attempts.length && next.attempts.length <= it.attempts.length + 1);
          assert.ok(
            next.attempts.slice(0, -1).every((attempt) => attempt.cause !== undefined),
            'one attempt at a time',
          );
          assert.equal(next.endedAt !== undefined, isOver(next.state), 'an end has an instant, and only an end');
          const live = next.state === 'starting' || next.state === 'running' || next.state === 'stopping';
          assert.equal(live, next.attempts.at(-1) !== undefined && next.attempts.at(-1)?.cause === undefined);
          if (next.state === 'stopping') assert.ok(next.stopAskedAt !== undefined);
          it = next;
        }
        const counted = it.attempts.filter((attempt) => attempt.number > (it.budgetFrom ?? 0));
        assert.ok(counted.filter((attempt) => attempt.cause === 'failed').length <= retries.failed + 1);
        assert.ok(counted.filter((attempt) => attempt.cause === 'node-lost').length <= retries.nodeLost + 1);
      },
    ),
    { numRuns: 2_000 },
  );
});
