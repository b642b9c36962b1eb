import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type JobInfo, type NodeFate, readEnd } from '../../../src/engines/ray/jobs/job-info.ts';

const node = { driver_node_id: 'ab' };
const died = { status: 'FAILED', error_type: 'JOB_SUPERVISOR_ACTOR_DIED' } as const;

const cases: readonly [string, JobInfo, { stopped?: boolean; fate?: NodeFate }, string, number?][] = [
  ['an exit code of 0', { status: 'SUCCEEDED', driver_exit_code: 0 }, {}, 'succeeded', 0],
  ['an exit code', { status: 'FAILED', driver_exit_code: 3 }, {}, 'failed', 3],
  ['a signal', { status: 'FAILED', driver_exit_code: -9 }, {}, 'failed', 137],
  ["a signal of its machine's end", { status: 'FAILED', driver_exit_code: -15 }, { fate: 'lost' }, 'node-lost'],
  ['one that a shell told on', { status: 'FAILED', driver_exit_code: 143 }, { fate: 'preempted' }, 'preempted'],
  ['an exit code just before its node went', { status: 'FAILED', driver_exit_code: 3 }, { fate: 'lost' }, 'failed', 3],
  [
    'a signal while being stopped',
    { status: 'FAILED', driver_exit_code: -15 },
    { stopped: true, fate: 'lost' },
    'stopped',
  ],
  ['a stop', { status: 'STOPPED' }, { stopped: true }, 'stopped'],
  ['a stop by way of its supervisor', { ...died, ...node }, { stopped: true }, 'stopped'],
  [
    'a failure of its own while being stopped',
    { status: 'FAILED', driver_exit_code: 1 },
    { stopped: true },
    'failed',
    1,
  ],
  ['a set-up that failed', { status: 'FAILED', error_type: 'RUNTIME_ENV_SETUP_FAILURE' }, {}, 'setup-failed'],
  ['a lost node', { ...died, ...node }, { fate: 'lost' }, 'node-lost'],
  ['a preempted node', { ...died, ...node }, { fate: 'preempted' }, 'preempted'],
  ['a node lost before the start', { ...died, message: 'The actor died because its node has died.' }, {}, 'node-lost'],
  [
    'too little memory',
    { ...died, ...node, message: 'killed due to the node running low on memory (OOM)' },
    {},
    'memory-limit',
  ],
  [
    'a supervisor that was killed by nobody knows whom',
    {
      ...died,
      ...node,
      message:
        'The worker died unexpectedly. Some common causes include: (1) the process was killed by the OOM killer due to high memory usage, (2) ray stop --force was called',
    },
    {},
    'failed',
  ],
  ['a supervisor that was killed', { ...died, ...node, message: 'exit code 1' }, {}, 'failed'],
  ['no room in time', { status: 'FAILED', error_type: 'JOB_SUPERVISOR_ACTOR_START_TIMEOUT' }, {}, 'start-failed'],
  [
    'an entrypoint that could not be run',
    { status: 'FAILED', error_type: 'JOB_ENTRYPOINT_COMMAND_START_ERROR', ...node },
    {},
    'failed',
  ],
];

describe("the end of a job in ray's words", () => {
  for (const [what, info, { stopped = false, fate = 'alive' }, cause, exitCode] of cases)
    it(`after ${what} is '${cause}'`, () => {
      const end = readEnd(info, { stopped, fate });
      assert.equal(end.cause, cause);
      assert.equal(end.exitCode, exitCode);
    });
});

it('the message of a failed set-up is what comes after the words that every one begins with', () => {
  const end = (message: string) =>
    readEnd({ status: 'FAILED', error_type: 'RUNTIME_ENV_SETUP_FAILURE', message }, { stopped: false, fate: 'alive' });
  const beginning = 'runtime_env setup failed: Failed to set up runtime environment.';
  for (const [message, rest] of [
    [`${beginning}\nno conda`, 'no conda'],
    [beginning, ''],
    ['something else', 'something else'],
  ] as const)
    assert.deepEqual(end(message), { cause: 'setup-failed', message: rest });
});
