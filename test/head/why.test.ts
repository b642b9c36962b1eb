import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ScalingFact } from '../../src/autoscaler/journal.ts';
import type { Job } from '../../src/core/jobs/job.ts';
import type { InstanceRecord } from '../../src/core/lifecycle.ts';
import type { LaunchReason } from '../../src/core/plan/plan.ts';
import type { LaunchRefusal } from '../../src/core/view.ts';
import { goneSlices } from '../../src/head/report/gone-slices.ts';
import { whyDemand } from '../../src/head/report/why.ts';
import { type JobQuestion, whyJob } from '../../src/head/report/why-job.ts';
import { jobEvents } from '../../src/jobs/events.ts';
import { job } from '../core/jobs/jobs.ts';

const now = new Date(2026, 0, 31, 14, 0, 0).getTime();
const node = '0123456789abcdef'.repeat(4).slice(0, 56);

function ask(of: Partial<Job>, question: Partial<JobQuestion> = {}): { texts: string[]; next: readonly string[] } {
  const { chain, next } = whyJob({
    job: job({ id: 'train', submittedAt: now - 60_000, ...of }),
    facts: [],
    block: undefined,
    ahead: [],
    waiting: [],
    infeasible: [],
    scaling: [],
    instanceOf: (id) => (id === node ? { id: 'i598', type: 'worker' } : undefined),
    couldHold: (type) => type === 'worker',
    stateOf: () => undefined,
    now,
    ...question,
  });
  return { texts: chain.map(({ text }) => text), next };
}

const fact = (kind: string, data: Record<string, unknown>) => ({ seq: 1, at: now - 10_000, kind, job: 'train', data });
const request = (cpus: number) => ({ resources: { CPU: cpus }, selectors: [], placement: [] });

function launch(id: string, serves: LaunchReason['serves']): ScalingFact {
  const because = [{ serves, instead: [] }];
  const base = { type: 'worker', kind: 'worker', status: 'requested', attempts: 1 } as const;
  return {
    kind: 'launch',
    at: now - 30_000,
    token: id,
    action: { kind: 'launch', type: 'worker', count: 1, market: 'on-demand', because },
    records: [{ ...base, id, requestedAt: now, since: now }],
  };
}

function refusal(type: string, at: number, reason: LaunchRefusal['reason'] = 'no-capacity'): ScalingFact {
  const until = now + 12_000;
  return {
    kind: 'refused',
    at,
    refusal: { type, market: 'on-demand', reason, times: 1, last: at, until },
  };
}

test('a job that is over names the instance it ran on, the launch that served it and the signal that ended it', () => {
  const attempts = [
    { id: 'train.1', number: 1, node, cause: 'failed', exitCode: 143, startedAt: now - 10_000 },
  ] as const;
  const { texts } = ask(
    { state: 'failed', attempts },
    {
      facts: [
        fact('submitted', { user: 'ada', state: 'queued' }),
        fact('running', { event: 'news', attempt: 'train.1', node }),
        fact('failed', { event: 'news', attempt: 'train.1', node, cause: 'failed', exitCode: 143 }),
      ].map((each, index) => ({ ...each, at: now - 50_000 + index * 25_000 })),
      scaling: [
        launch('i598', { kind: 'tasks', request: request(1), count: 2 }),
        launch('i2', { kind: 'tasks', request: request(4), count: 1 }),
        launch('i3', { kind: 'gang', gang: 'trainer', requests: 2 }),
      ],
    },
  );
  assert.deepEqual(texts, [
    'submitted by ada, requesting 1 CPU',
    'requested i598 of type worker: 2 tasks of 1 CPU',
    'started attempt 1 on i598 (worker)',
    'attempt 1 ended with exit code 143 (SIGTERM)',
  ]);
});

test('a launch for something else is told when the job ran on what it brought', () => {
  const scaling = [launch('i598', { kind: 'min-workers', count: 1 }), launch('i2', { kind: 'min-workers', count: 1 })];
  const { texts } = ask({ state: 'running', attempts: [{ id: 'train.1', number: 1, node }] }, { scaling });
  assert.deepEqual(texts, ['requested i598 of type worker: min_workers requires 1 node']);
});

test('refusals are told once a type, only of types that could hold the job', () => {
  const scaling = [
    refusal('worker', now - 9_000),
    refusal('gpu', now - 8_000),
    refusal('worker', now - 3_000),
    refusal('worker', now - 2_000, 'launch-timeout'),
  ];
  const { texts } = ask({ state: 'starting' }, { scaling });
  assert.deepEqual(texts, [
    'the provider refused worker: no capacity, 2 times since 13:59:51; retrying at 14:00:12 (in 12 s)',
    'machines of worker did not come up in time; retrying at 14:00:12 (in 12 s)',
  ]);
});

test('a held job says until when, and for which jobs in which states', () => {
  const held = (of: Partial<Job>): string[] =>
    ask({ state: 'held', ...of }, { stateOf: (id) => (id === 'prepare' ? 'running' : 'succeeded') }).texts;
  assert.deepEqual(held({ dependsOn: ['prepare', 'fetch'], startAfter: now + 600_000 }), [
    'waiting for job prepare (running)',
    'starts no earlier than 14:10:00 (in 10 min)',
  ]);
  assert.deepEqual(held({ cron: '0 15 * * *', notBefore: now + 3_600_000, firings: 2 }), [
    "its schedule '0 15 * * *' runs next at 15:00:00 (in 60 min); runs so far: 2",
  ]);
  assert.deepEqual(held({ notBefore: now + 12_000, attempts: [{ id: 'train.1', number: 1 }] }), [
    'attempt 2 follows in 12 s',
  ]);
});

test('a queued job says its place in line and what holds it up', () => {
  const ahead = [job({ id: 'a', priority: 5, user: 'bob' }), job({ id: 'b' }), job({ id: 'c' })];
  assert.deepEqual(ask({}, { block: 'user-limit', ahead }), {
    texts: [
      'waiting for 60 s: ada already runs as many jobs as the limit per user allows; 3 jobs are ahead of it: 1 of bob with priority 5, 2 of ada with priority 0',
    ],
    next: ['wait for other jobs to finish, or stop some'],
  });
  assert.match(
    ask({}, { block: 'no-room' }).texts[0] ?? '',
    /no node has enough free resources now; it is first in the queue$/,
  );
});

test('a job that has become impossible says what each type lacks and what to do', () => {
  const types = [{ type: 'worker', why: { kind: 'too-small', resource: 'CPU', asked: 8, has: 2 } }] as const;
  const impossible = [
    { kind: 'tasks', request: request(8), count: 1, types },
    { kind: 'tasks', request: request(9), count: 1, types },
  ] as const;
  const { texts, next } = ask({ resources: { CPU: 8 } }, { block: 'no-room', infeasible: impossible });
  assert.equal(texts.at(-1), 'no node type can ever fit 1 task of 8 CPU: worker: it has 2 CPU, but 8 CPU is needed');
  assert.deepEqual(next, [
    'add a node type that fits 1 task of 8 CPU, or request less',
    'or cancel it: manta job stop train',
  ]);
});

test('what max_workers alone forbids is answered by raising it', () => {
  const standing = { requests: [{ request: request(1), count: 9 }] };
  const types = [{ type: 'worker', why: { kind: 'type-limit', max: 2 } }] as const;
  const { chain, next } = whyDemand([], [{ kind: 'standing', standing, types }], now);
  assert.match(chain[0]?.text ?? '', /more nodes than max_workers allows: worker: its max_workers is 2$/);
  assert.deepEqual(next, ['raise max_workers in the cluster file and run `manta up` again']);
});

test('a place that is held by a node being ended is waited for, and no reason to raise max_workers', () => {
  const demand = { kind: 'min-workers', type: 'worker', count: 1 } as const;
  const why = { kind: 'type-limit', max: 3, leaving: 1 } as const;
  const { chain, next } = whyDemand([{ demand, for: [{ type: 'worker', why }] }], [], now);
  assert.match(chain[0]?.text ?? '', /worker: its max_workers of 3 is reached until 1 terminating node is gone$/);
  assert.deepEqual(next, ['wait until the terminating nodes are gone; `manta events` shows what delays them']);
});

test('an event names a node by the first letters of its id', () => {
  assert.equal(jobEvents.running.text({ job: 'train', attempt: 'train.1', node }), 'job train is running on 01234567');
});

test('a job that waits while the engine is silent is not told that there is no room', () => {
  const engineSilence = 'Ray has not responded for 3 min: no connection';
  const { texts } = ask({ state: 'queued' }, { block: 'no-room', engineSilence });
  assert.match(texts.join(), /free capacity is unknown \(Ray has not responded for 3 min: no connection\)/);
  assert.doesNotMatch(texts.join(), /no node has enough/);
  assert.match(ask({ state: 'queued' }, { engineSilence }).texts.join(), /is unknown/, 'nor before anybody has looked');
  assert.match(
    ask({ state: 'queued' }, { block: 'user-limit', engineSilence }).texts.join(),
    /already runs as many jobs/,
  );
});

test('why demand says that an engine which does not answer may wait for more', () => {
  const { state, chain } = whyDemand([], [], now, 'Ray has not responded for 3 min: no connection');
  assert.notEqual(state, 'nothing is waiting');
  assert.match(chain[0]?.text ?? '', /Ray has not responded/);
});

test('what to do about a refusal is told by its reason', () => {
  const refusal = { type: 'worker', market: 'on-demand', times: 1, last: now, until: now + 9_000 } as const;
  const asked = (...reasons: readonly LaunchRefusal['reason'][]): readonly string[] => {
    const passed = reasons.map((reason) => ({
      type: 'worker',
      why: { kind: 'refused' as const, refusal: { ...refusal, reason } },
    }));
    return whyDemand([{ demand: { kind: 'min-workers', type: 'worker', count: 1 }, for: passed }], [], now).next;
  };
  assert.match(asked('denied').join(), /credentials/);
  assert.match(asked('quota').join(), /higher quota/);
  assert.deepEqual(asked('no-capacity', 'no-capacity').length, 1);
  assert.doesNotMatch(asked('denied', 'quota', 'throttled').join(), /none left/);
});

test('demand for the name of a slice that is gone says so, and does not ask for another node type', () => {
  const name = 'ray-reef-abc-0';
  const record: InstanceRecord = {
    id: 'i-1',
    type: 'slice',
    kind: 'worker',
    status: 'terminated',
    requestedAt: 0,
    since: 0,
    attempts: 1,
    slice: `us-central2-b/${name}`,
    extra: { [name]: 1, 'TPU-v4-16-head': 1 },
  };
  const gone = goneSlices([{ kind: 'instance', at: now - 120_000, record, moves: [] }]);
  const request = { resources: { TPU: 4, [name]: 1 }, selectors: [], placement: [] };
  const { chain, next } = whyDemand([], [{ kind: 'tasks', request, count: 2, types: [] }], now, undefined, gone);
  assert.match(chain[0]!.text, /waits? for the slice ray-reef-abc-0, which ended 2 min ago/);
  assert.doesNotMatch(next.join(), /add a node type/);
  assert.match(next.join(), /TPU-<type>-head/);
});
