// needs: ray, hosts

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type LabHost, labProblem } from '../../lab/lab.ts';
import { until } from '../contract/waiting.ts';
import { FaultBed, leftOn } from './fault-bed.ts';

/** Lives on when its driver has gone. */
const detached = `
import ray
ray.init(address="auto", namespace="mine", logging_level="error")
@ray.remote(num_cpus=0)
class Stays:
    def here(self): return 1
ray.get(Stays.options(name="stays", lifetime="detached").remote().here.remote())
`;
const killed = `
import ray
ray.init(address="auto", namespace="mine", logging_level="error")
ray.kill(ray.get_actor("stays"))
`;

describe('a cluster of real Ray that ends by itself', { skip: labProblem() ?? false }, () => {
  let bed: FaultBed;
  let head: LabHost;
  let worker: LabHost;

  before(async () => {
    bed = await FaultBed.open({ hosts: [{ cron: true }, {}], ray: true });
    [head, worker] = bed.hosts as [LabHost, LabHost];
  });
  after(() => bed?.close());

  /** The same cluster, with these terms. */
  const file = (manta: Readonly<Record<string, string>>): string =>
    bed.cluster({
      name: 'brief',
      head,
      workers: [worker],
      more: { provider: { type: 'local', head_ip: head.address, worker_ips: [worker.address], manta } },
    });
  const processes = (host: LabHost, part: string): number =>
    host.processes().filter(({ command }) => command.join(' ').includes(part)).length;
  const status = async (): Promise<{ code: number | null; shown: string }> => await bed.manta('status', 'brief');
  const hasEnded = (): Promise<true> =>
    until('the cluster has ended by itself', async () => (await status()).shown.includes('shut itself down'));
  /** All but what is kept for those who ask, and for the next `up`. */
  const onlyRecordLeft = async (): Promise<void> => {
    let left: readonly string[] = [];
    await until('only its record is left', async () => {
      left = [...(await leftOn(worker)), ...(await leftOn(head))];
      return left.join() === '.manta/head/clusters/brief' && processes(worker, 'watchdog') === 0;
    }).catch((error: unknown) => {
      throw new Error(left.join('\n'), { cause: error });
    });
  };

  it('ends after a session that was started with --stop, and says which', async () => {
    const shown = await bed.must('up', '-y', file({ lease: '20s' }), '--for', '8h');
    assert.match(shown, /auto shutdown +shuts down in (8h|7h59m) \(--until, --for\), at \d{4}-/);
    assert.equal(processes(worker, './watchdog'), 1);
    assert.equal(processes(head, './watchdog'), 0);
    await bed.must('exec', 'brief', '--stop', '--tmux', 'sleep 1; exit 3');
    const record = join(head.root, 'root/.manta/head/clusters/brief/cluster.json');
    await until('it has begun', () => /"(turningOff|ended)"/.test(readFileSync(record, 'utf8')));
    // A mantad that dies on the way is no reason to stay.
    await head.exec('kill -9 $(pgrep -f /mantad.js)');
    await hasEnded();
    const { code, shown: said } = await status();
    assert.equal(code, 4);
    assert.match(said, /requested by session s\w+ \(--stop\), which ended with exit code 3/);
    await onlyRecordLeft();
  });

  it('is kept by a detached actor and by a session, and ends when nothing has run for long enough', async () => {
    await bed.must('up', '-y', file({ idle_shutdown: '15s' }));
    const exec = (text: string): Promise<string> => bed.must('exec', 'brief', `python -c '${text}'`);
    await exec(detached);
    await until('the actor keeps it', async () => /now: 1 detached actor \(stays\)/.test((await status()).shown));
    const session = bed.start(['exec', 'brief', 'sleep 1000']);
    await exec(killed);
    await until('the session keeps it', async () => /now: 1 session\./.test((await status()).shown));
    session.kill('SIGTERM');
    await session.ended;
    await hasEnded();
    assert.match((await status()).shown, /nothing ran or waited for 15s \(idle_shutdown\)/);
    await onlyRecordLeft();
  });

  it("a worker ends Ray by itself when its head is gone for longer than the worker's lease", async () => {
    await bed.must('up', '-y', file({ lease: '20s' }));
    assert.ok(processes(worker, 'raylet') > 0);
    await head.kill();
    await until('Ray is gone from the worker', () => processes(worker, 'raylet') === 0);
    await until('so is its watchdog', () => processes(worker, './watchdog') === 0);
    assert.match(await worker.must('cat .manta/nodes/brief/lapsed'), /^\d+$/m);
    await head.boot();
    await until('the worker is repaired', () => processes(worker, 'raylet') > 0);
    assert.equal(processes(worker, './watchdog'), 1);
    await bed.must('down', '-y', 'brief');
    await bed.nothingLeft(head, worker);
    assert.equal(processes(worker, 'watchdog'), 0);
  });
});
