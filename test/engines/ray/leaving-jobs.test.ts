import assert from 'node:assert/strict';
import { it } from 'node:test';
import { wallClock } from '../../../src/base/time/wall-clock.ts';
import { rayErrors } from '../../../src/engines/ray/errors.ts';
import type { JobInfo } from '../../../src/engines/ray/jobs/job-info.ts';
import { LeavingJobs } from '../../../src/engines/ray/jobs/leaving-jobs.ts';
import { readRefusal } from '../../../src/engines/ray/jobs/prose.ts';
import { never } from '../../contract/waiting.ts';

const record = { format: 1, id: 'a.1', submission: 'a.1', log: '/log', entrypoint: 'true' } as const;
const refused = (text: string): Error =>
  rayErrors.Refused({ call: 'DELETE /api/jobs/a.1', detail: text, refusal: readRefusal(500, text) });
const notOver = `Traceback (most recent call last):
RuntimeError: Attempted to delete job 'a.1', but it is in a non-terminal state RUNNING.
`;

/** Jobs that leave a Ray which answers to each look, and to each try to delete one, what is next. */
function leavingWith({ looks = [], answers = [] }: { looks?: (JobInfo | undefined)[]; answers?: Error[] }) {
  const said: string[] = [];
  const jobs = new LeavingJobs(
    {
      records: { remove: () => void said.push('removed') },
      infos: async () => {
        const info = looks.shift();
        return new Map(info ? [['a.1', info]] : []);
      },
      killSupervisor: async () => void said.push('killed'),
      delete: async () => {
        said.push('delete');
        const problem = answers.shift();
        if (problem) throw problem;
      },
      clock: { ...wallClock, sleep: async () => {} },
    },
    never,
  );
  return { jobs, said };
}

it('a job that leaves is deleted again while Ray cannot, and ended first where Ray says that it is not over', async () => {
  const trouble = leavingWith({ answers: [refused('no space left'), refused('no answer')] });
  await trouble.jobs.letGo({ ...record, accepted: true });
  assert.deepEqual(trouble.said, ['delete', 'delete', 'delete', 'removed']);
  const looks: JobInfo[] = [{ status: 'RUNNING' }, { status: 'RUNNING' }, { status: 'FAILED' }];
  const open = leavingWith({ looks, answers: [refused(notOver)] });
  await open.jobs.letGo({ ...record, accepted: true });
  assert.deepEqual(open.said, ['delete', 'killed', 'killed', 'delete', 'removed']);
});

it('a submission without an answer is ended where it comes late, and deleted', async () => {
  const looks: (JobInfo | undefined)[] = [undefined, undefined, { status: 'PENDING' }, { status: 'FAILED' }];
  const { jobs, said } = leavingWith({ looks });
  await jobs.letGo({ ...record, sent: true });
  assert.deepEqual(said, ['killed', 'delete', 'removed']);
});

it('what never came to Ray leaves nothing to delete there', async () => {
  for (const sent of [true, false]) {
    const { jobs, said } = leavingWith({});
    await jobs.letGo({ ...record, sent });
    assert.deepEqual(said, ['removed']);
  }
});
