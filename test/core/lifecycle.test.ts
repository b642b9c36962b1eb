import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { InstanceStatus } from '../../src/core/instance.ts';
import {
  type Advance,
  advance,
  type InstanceOutcome,
  type InstanceRecord,
  isFinal,
  legalMoves,
  lifecycleTimeouts,
  type Observation,
} from '../../src/core/lifecycle.ts';
import { fc } from '../property.ts';

const now = 5_000_000;

const record = (status: InstanceStatus, more: Partial<InstanceRecord> = {}): InstanceRecord => ({
  id: 'i-1',
  type: 'w',
  kind: 'worker',
  status,
  requestedAt: now - 100_000,
  since: now - 50_000,
  attempts: 1,
  ...more,
});

const path = ({ moves }: Advance): string[] => moves.map(({ to }) => to);
const after = (status: InstanceStatus, observation: Observation, more: Partial<InstanceRecord> = {}): string[] =>
  path(advance(record(status, more), observation, now));

const outcomes: readonly InstanceOutcome[] = [
  { kind: 'launch-sent' },
  { kind: 'launched', providerId: 'p' },
  { kind: 'launch-refused', reason: 'no capacity' },
  { kind: 'setup-started' },
  { kind: 'setup-failed', reason: 'exit 1' },
  { kind: 'drain-sent' },
  { kind: 'drain-refused' },
  { kind: 'terminate-sent' },
  { kind: 'terminate-failed', reason: 'throttled' },
  { kind: 'cancelled' },
];

const statuses = Object.keys(legalMoves) as InstanceStatus[];

const observationArbitrary: fc.Arbitrary<Observation> = fc
  .record({
    machine: fc.constantFrom(undefined, 'pending', 'running', 'stopping', 'stopped', 'absent'),
    node: fc.constantFrom(undefined, 'alive', 'draining', 'dead', 'absent'),
    outcomes: fc.array(fc.constantFrom(...outcomes), { maxLength: 3 }),
  })
  .map(({ machine, node, outcomes: told }) => ({
    ...(machine === undefined ? {} : { machine }),
    ...(node === undefined ? {} : { node: { state: node } }),
    outcomes: told,
  }));

describe('the life of an instance', () => {
  it('leads from the queue to a running node and out again', () => {
    let one = record('queued', { attempts: 0 });
    const seen: string[] = [];
    const see = (observation: Observation): void => {
      const step = advance(one, observation, now);
      seen.push(...path(step));
      one = step.record;
    };
    see({ outcomes: [{ kind: 'launch-sent', token: 't', market: 'spot' }] });
    see({ machine: 'pending' });
    see({ machine: 'running', outcomes: [{ kind: 'setup-started' }] });
    see({ machine: 'running', node: { state: 'alive', id: 'n' } });
    see({ machine: 'running', node: { state: 'alive', id: 'n' }, outcomes: [{ kind: 'drain-sent' }] });
    see({ machine: 'running', node: { state: 'draining' } });
    see({ machine: 'running', node: { state: 'dead' } });
    see({ machine: 'running', outcomes: [{ kind: 'terminate-sent' }] });
    see({ machine: 'absent' });
    assert.deepEqual(seen, [
      'requested',
      'allocated',
      'setting-up',
      'running',
      'drain-requested',
      'draining',
      'stopped',
      'terminating',
      'terminated',
    ]);
    assert.deepEqual([one.launchToken, one.market, one.node, one.attempts], ['t', 'spot', 'n', 1]);
  });

  it('may be ended while the provider has not answered yet', () => {
    assert.deepEqual(after('requested', { outcomes: [{ kind: 'terminate-sent' }] }), ['terminating']);
    assert.deepEqual(after('queued', { outcomes: [{ kind: 'terminate-sent' }] }), ['terminated']);
  });

  it('goes back to running when the engine refuses to drain it', () => {
    assert.deepEqual(after('drain-requested', { outcomes: [{ kind: 'drain-refused' }] }), ['running']);
  });

  it('is replaced when its node dies or is unknown to the engine, the head apart', () => {
    assert.deepEqual(after('running', { machine: 'running', node: { state: 'dead' } }), ['stopped']);
    assert.deepEqual(after('running', { machine: 'running', node: { state: 'absent' } }), ['stopped']);
    assert.deepEqual(after('running', { node: { state: 'absent' } }, { kind: 'head' }), []);
  });

  it('is gone only after its machine has been missing for a while: lists lag', () => {
    const first = advance(record('allocated'), { machine: 'absent' }, now);
    assert.deepEqual(path(first), []);
    assert.equal(first.record.absentSince, now);
    const back = advance(first.record, { machine: 'running' }, now + 5_000);
    assert.equal(back.record.absentSince, undefined);
    const later = advance(first.record, { machine: 'absent' }, now + lifecycleTimeouts.absent);
    assert.deepEqual(path(later), ['terminated']);
  });

  it('is gone at once when it was being ended or its node is dead', () => {
    assert.deepEqual(after('terminating', { machine: 'absent' }), ['terminated']);
    assert.deepEqual(after('running', { machine: 'absent', node: { state: 'dead' } }), ['terminated']);
  });

  it('does not lose a machine that turns up after the answer was lost', () => {
    assert.deepEqual(after('requested', { machine: 'running' }), ['allocated']);
    assert.deepEqual(after('requested', { machine: 'running', node: { state: 'alive' } }), ['allocated', 'running']);
  });

  it('takes a late or repeated answer for what it is', () => {
    assert.deepEqual(after('running', { outcomes: [{ kind: 'launched', providerId: 'p' }] }), []);
    assert.deepEqual(after('terminated', { outcomes: [{ kind: 'terminate-sent' }] }), []);
  });

  it('is moved on by its timeouts', () => {
    const late = (status: InstanceStatus, by: number, attempts = 1): string[] =>
      path(advance(record(status, { since: now - by - 1, attempts }), {}, now));
    assert.deepEqual(late('requested', lifecycleTimeouts.requested), ['queued']);
    assert.deepEqual(late('requested', lifecycleTimeouts.requested, 3), ['launch-failed']);
    assert.deepEqual(late('allocated', lifecycleTimeouts.allocated), ['launch-timeout']);
    assert.deepEqual(late('setting-up', lifecycleTimeouts.settingUp), ['setup-failed']);
    assert.deepEqual(late('drain-requested', lifecycleTimeouts.drainRequested), ['running']);
    assert.deepEqual(late('draining', lifecycleTimeouts.draining), ['stopped']);
    assert.deepEqual(late('terminating', lifecycleTimeouts.terminating), ['terminate-failed']);
    assert.deepEqual(late('running', 1e9), []);
  });

  it('an end that failed is tried again', () => {
    assert.deepEqual(after('terminate-failed', { outcomes: [{ kind: 'terminate-sent' }] }), ['terminating']);
  });
});

describe('what the state machine does not understand', () => {
  it('isolates the one instance, with the reason, and moves it no further', () => {
    const odd = advance({ ...record('running'), status: 'melting' as InstanceStatus }, {}, now);
    assert.deepEqual(odd.isolated, { kind: 'unknown-status', status: 'melting' });
    const illegal = advance(record('queued'), { outcomes: [{ kind: 'drain-sent' }] }, now);
    assert.deepEqual(illegal.isolated, { kind: 'illegal-move', from: 'queued', to: 'drain-requested' });
    assert.deepEqual(advance(illegal.record, { machine: 'running' }, now).moves, []);
    const unknown = advance(record('running'), { outcomes: [{ kind: 'sing' } as unknown as InstanceOutcome] }, now);
    assert.deepEqual(unknown.isolated, { kind: 'unknown-input', input: 'outcome sing' });
    const broken = advance(record('running', { since: Number.NaN }), {}, now);
    assert.deepEqual(broken.isolated, { kind: 'bad-record', field: 'since' });
  });

  it('never throws and never makes an illegal move, whatever it is told', () => {
    fc.assert(
      fc.property(fc.constantFrom(...statuses), fc.array(observationArbitrary, { maxLength: 6 }), (status, told) => {
        let one = record(status);
        for (const [at, observation] of told.entries()) {
          const step = advance(one, observation, now + at * 400_000);
          for (const { from, to } of step.moves) assert.ok(legalMoves[from].includes(to), `${from} -> ${to}`);
          if (step.isolated === undefined && isFinal(one.status)) assert.deepEqual(step.moves, []);
          one = step.record;
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('from every status in which a machine may exist there is a way to end it', () => {
    for (const status of statuses)
      if (status !== 'queued' && !isFinal(status) && status !== 'terminating')
        assert.ok(legalMoves[status].includes('terminating'), status);
  });
});
