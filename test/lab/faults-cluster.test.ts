// needs: ray, hosts

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type LabHost, labProblem } from '../../lab/lab.ts';
import { until } from '../contract/waiting.ts';
import { smallRay } from './cluster-bed.ts';
import { FaultBed, readable, unadorned } from './fault-bed.ts';

/** One cluster of real Ray, to which one thing after the other happens. */
describe('faults of a running cluster', { skip: labProblem() ?? false }, () => {
  let bed: FaultBed;
  let head: LabHost;
  let workers: readonly [LabHost, LabHost];
  /** First another laptop, then the head of another cluster. */
  let other: LabHost;
  let file: string;

  before(async () => {
    bed = await FaultBed.open({ hosts: [{ cron: true }, {}, {}, {}], ray: true });
    const [first, second, third, fourth] = bed.hosts as [LabHost, LabHost, LabHost, LabHost];
    [head, workers, other] = [first, [second, third], fourth];
    bed.install(other);
    const key = await bed.laptop.must('cat .ssh/id_ed25519');
    await other.must('cat >.ssh/id_ed25519; chmod 600 .ssh/id_ed25519', { input: key });
    const start = ['ray stop', held('start')];
    const more = {
      setup_commands: [held('setup')],
      head_start_ray_commands: [...start, `ray start --head --port=6379 ${smallRay}`],
      worker_start_ray_commands: [...start, `ray start --address=$RAY_HEAD_IP:6379 ${smallRay}`],
    };
    const words = { name: 'held', head, workers, more };
    file = bed.cluster(words);
    bed.cluster(words, other);
  });
  after(() => bed?.close());

  /** Says on the host that it has begun, and goes on when it is let go there. */
  const held = (part: string): string => `touch /root/${part}; until [ -e /root/${part}.go ]; do sleep 0.1; done`;
  const hasBegun = (host: LabHost, part: string): Promise<true> =>
    until(`${part} has begun on ${host.name}`, async () => (await host.exec(`test -e ${part}`)).code === 0);
  const letGo = async (part: string, ...hosts: readonly LabHost[]): Promise<void> => {
    for (const host of hosts) await host.must(`touch ${part}.go`);
  };
  const pidOf = (host: LabHost, part: string): number | undefined =>
    host.processes().find(({ command }) => command.join(' ').includes(part))?.pid;
  /** Every node of this cluster has one CPU. */
  const alive = async (): Promise<number> =>
    Number(/\/(\d+)\.0 CPU/.exec((await bed.manta('status', file)).shown)?.[1] ?? 0);

  it('while one up runs every other command that would change the cluster is told so, here and elsewhere', async () => {
    const up = bed.start(['up', '-y', file]);
    await hasBegun(head, 'setup');
    const elsewhere = { code: 'MANTA_LAUNCHER_BUSY_ELSEWHERE', exit: 4, says: ["'manta up' of root@h0", "'held'"] };
    const here = { code: 'MANTA_LAUNCHER_BUSY', exit: 4, says: [/pid \d+/, "'held'"] };
    readable(await bed.start(['up', '-y', file], other).ended, elsewhere);
    readable(await bed.start(['down', '-y', file], other).ended, elsewhere);
    readable(await bed.manta('up', '-y', file), here);
    readable(await bed.manta('down', '-y', file), here);
    await letGo('setup', head, ...workers);
    await hasBegun(head, 'start');
    assert.ok((await head.dropConnections()) > 0);
    await up.said(/lost the connection, reconnecting; the command keeps running there/);
    await letGo('start', head);
    await hasBegun(workers[0], 'start');
    assert.ok((await head.dropConnections()) > 0);
    await letGo('start', ...workers);
    const { code, shown } = await up.ended;
    assert.equal(code, 0, shown);
    assert.match(shown, /The cluster 'held' is up: a head and 2 workers/);
    unadorned(shown);
    assert.equal(head.processes().filter(({ command }) => command[0]?.endsWith('/gcs_server')).length, 1);
  });

  it('output that is followed is whole although the connection dropped', async () => {
    const words = [
      'job',
      'submit',
      '-n',
      'held',
      '--',
      'sh',
      '-c',
      `echo line 1; echo line 2; ${held('job')}; for i in 3 4 5 6; do echo line $i; done`,
    ];
    const job = bed.start(words);
    await job.said(/^line 2$/m);
    assert.ok((await head.dropConnections()) > 0);
    await job.said(/lost the connection .* reconnecting/);
    await letGo('job', head, ...workers);
    const { code, shown } = await job.ended;
    assert.equal(code, 0, shown);
    assert.deepEqual(shown.match(/^line \d$/gm), ['line 1', 'line 2', 'line 3', 'line 4', 'line 5', 'line 6'], shown);
    unadorned(shown);
  });

  it('a killed mantad is back, and Ray did not notice', async () => {
    const [mantad, gcs] = [pidOf(head, '/mantad.js')!, pidOf(head, 'gcs_server')];
    process.kill(mantad, 'SIGKILL');
    unadorned(await bed.must('status', file));
    const now = pidOf(head, '/mantad.js');
    assert.ok(now !== undefined && now !== mantad);
    assert.equal(pidOf(head, 'gcs_server'), gcs);
    await until('the workers are there', async () => (await alive()) === 3);
  });

  it('the file under another name warns of the cluster that it would orphan', async () => {
    const plan = await bed.must('up', '--plan', '-n', 'renamed', file);
    assert.match(
      plan,
      /warning +this file started the cluster 'held', which keeps running: shut it down with 'manta down -n held'/,
    );
    assert.equal((await head.exec('test -e .manta/head/clusters/renamed')).code, 1, 'a plan does nothing');
  });

  it('a second cluster gets no host of the first, and is told who has it', async () => {
    const gcs = pidOf(head, 'gcs_server');
    const sameHead = bed.cluster({ name: 'same-head', head });
    readable(await bed.manta('up', '-y', sameHead), {
      code: 'MANTA_LOCAL_TAKEN',
      exit: 5,
      says: [`host '${head.address}' is held by cluster 'held' of root@`, /hint: the host becomes free when/],
    });
    await bed.must('down', '-y', sameHead);
    const rival = bed.cluster({ name: 'rival', head: other, workers });
    const { code, shown } = await bed.manta('up', '-y', rival);
    assert.equal(code, 1, shown);
    const summary = shown.slice(shown.indexOf('The head of'));
    assert.match(summary, /The head of 'rival' is up, with 0 of 2 workers\. mantad keeps trying:/);
    for (const { address } of workers)
      assert.match(summary, new RegExp(`skipping host ${address} for .*held by cluster 'held' of root@`));
    unadorned(shown);
    await bed.must('down', '-y', rival);
    await bed.nothingLeft(other);
    assert.equal(pidOf(head, 'gcs_server'), gcs, 'the first was not touched');
    assert.ok(workers.every((worker) => pidOf(worker, 'raylet/raylet') !== undefined));
  });

  it('after a reboot of the head the cluster is there again, by itself, and with it the jobs that ran', async () => {
    const entrypoint = 'echo run $MANTA_JOB_ATTEMPT; test $MANTA_JOB_ATTEMPT -gt 1 || sleep 1000';
    const submit = ['job', 'submit', '-n', 'held', '--no-wait', '--entrypoint-num-cpus', '1'];
    await bed.must(...submit, '--submission-id', 'once', '--', entrypoint);
    await bed.must(...submit, '--submission-id', 'again', '--retries', 'node_lost=1', '--', entrypoint);
    for (const id of ['once', 'again'])
      await until(`${id} runs`, async () => /^run 1$/m.test((await bed.manta('job', 'logs', '-n', 'held', id)).shown));
    await head.reboot();
    unadorned((await bed.manta('status', file)).shown);
    await until('all nodes are there', async () => (await alive()) === 3);
    const ended = async (id: string): Promise<string> =>
      (await bed.manta('job', 'wait', '--json', '-n', 'held', id)).shown;
    assert.match(await ended('once'), /"state":"failed".*"cause":"node-lost"/);
    assert.match(await ended('again'), /"state":"succeeded"/);
    const { code, shown } = await bed.manta('job', 'submit', '-n', 'held', '--', 'echo', 'still here');
    assert.equal(code, 0, shown);
    assert.match(shown, /^still here$/m);
  });

  it('down finds a worker that the file no longer names, and does not forget it while it is dead', async () => {
    bed.cluster({ name: 'held', head, workers: [workers[0]] });
    await workers[1].kill();
    for (const _ of ['first', 'again']) {
      const { code, shown } = await bed.manta('down', '-y', file);
      assert.equal(code, 1, shown);
      assert.match(shown, new RegExp(`is down on 2 hosts, but not on these:\\n {2}.*${workers[1].address}`));
      unadorned(shown);
    }
    await bed.nothingLeft(workers[0]);
    await workers[1].boot();
    assert.match(await bed.must('down', '-y', file), /checked 3 hosts, nothing is left/);
    await bed.nothingLeft(head, ...workers);
  });
});
