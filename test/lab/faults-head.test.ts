// needs: ray, hosts

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LabHost, labProblem } from '../../lab/lab.ts';
import { until } from '../contract/waiting.ts';
import { smallRay } from './cluster-bed.ts';
import { FaultBed, unadorned } from './fault-bed.ts';

/** A head alone, to which and to whose Ray things happen. */
describe('faults of a head', { skip: labProblem() ?? false }, () => {
  let bed: FaultBed;
  let head: LabHost;
  let file: string;
  before(async () => {
    bed = await FaultBed.open({ hosts: [{ cron: true }], ray: true });
    [head] = bed.hosts as [LabHost];
    const more = {
      head_start_ray_commands: [
        'ray stop',
        '[ ! -e /root/broken ] || { echo not now; exit 3; }',
        `ray start --head --port=6379 ${smallRay}`,
      ],
    };
    file = bed.cluster({ name: 'alone', head, workers: [], more });
    await bed.must('up', '-y', file);
  });
  after(() => bed?.close());

  const gcs = (): number | undefined =>
    head.processes().find(({ command }) => command[0]?.endsWith('/gcs_server'))?.pid;

  const takesJobs = (): Promise<unknown> =>
    until('it takes jobs', async () => {
      const { code, shown } = await bed.manta('job', 'submit', '-n', 'alone', '--', 'echo', 'works');
      return code === 0 && shown.includes('works');
    });

  it('a job is followed through a cut in which no connection can be made', async () => {
    const wait = 'until [ -e /root/go ]; do sleep 0.1; done';
    const job = bed.start(['job', 'submit', '-n', 'alone', '--', 'sh', '-c', `echo before; ${wait}; echo after`]);
    await job.said(/before/);
    await head.refuse();
    assert.ok((await head.dropConnections()) > 0);
    await job.said(/lost the connection/);
    await head.must('touch go');
    // Long enough for some tries, each of which is refused.
    await sleep(3_000);
    await head.accept();
    const { code, shown } = await job.ended;
    assert.equal(code, 0, shown);
    assert.deepEqual(shown.match(/^(?:before|after)$/gm), ['before', 'after'], shown);
    unadorned(shown);
  });

  it("a head's Ray that is gone is started until that succeeds", async () => {
    const before = gcs() as number;
    await head.must('touch broken');
    process.kill(before, 'SIGKILL');
    const events = (): Promise<string> => bed.must('events', '-n', 'alone');
    await until('it could not be started', async () => (await events()).includes('could not start the head node'));
    await head.must('rm broken');
    await until('it runs again', () => {
      const now = gcs();
      return now !== undefined && now !== before;
    });
    await takesJobs();
  });

  it('a head whose own node of Ray has died while its GCS lives is started again when nothing runs', async () => {
    const before = gcs();
    const raylet = head.processes().find(({ command }) => command[0]?.endsWith('/raylet'))?.pid as number;
    process.kill(raylet, 'SIGKILL');
    const events = (): Promise<string> => bed.must('events', '-n', 'alone');
    await until('it is told', async () => (await events()).includes("Ray's node on the head"));
    await until('it runs again', () => gcs() !== undefined && gcs() !== before);
    await takesJobs();
  });
});
