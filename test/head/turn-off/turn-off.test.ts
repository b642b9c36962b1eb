// needs: cluster

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { ClusterAnswer, TurnOffAnswer } from '../../../src/api/types.ts';
import { changeCluster, readCluster } from '../../../src/state/cluster-record.ts';
import { eventually, kill, TestCluster, TestHome, workersYaml } from '../test-cluster.ts';

const yaml = (terms: string): string => workersYaml({ cpus: 1, extra: `manta: {${terms}}` });

const hasEnded = (cluster: TestCluster): Promise<unknown> =>
  eventually('the cluster has ended', () => {
    const { ended } = readCluster(cluster.folder) ?? {};
    return ended !== undefined && cluster.home.processes().length === 0 && ended;
  });

describe('a cluster that may end by itself', { concurrency: 3 }, () => {
  test('a cluster on which nothing runs ends itself, says when and why, and comes back with its jobs', async (t) => {
    const home = new TestHome(t);
    const cluster = await TestCluster.up(home, yaml('idle_shutdown: 10s'));
    const job = await cluster.submit({ entrypoint: 'echo kept' });
    await hasEnded(cluster);
    const status = await home.run('status');
    assert.equal(status.code, 4);
    assert.match(status.out, /shut itself down at \d{4}-.*: nothing ran or waited for 10s \(idle_shutdown\)/);
    const { ended } = JSON.parse((await home.run('--json', 'status')).out) as { ended: { at: number; why: string } };
    assert.match(ended.why, /idle_shutdown/);
    assert.ok(Math.abs(Date.now() - ended.at) < 600_000);
    assert.match((await home.run('job', 'list')).err, /shut itself down/);

    const again = await TestCluster.up(home, yaml('idle_shutdown: 1h'));
    assert.equal((await again.job(job.id)).state, 'succeeded');
    const codes = (await again.events()).map(({ code }) => code);
    for (const code of ['MANTA_HEAD_TURN_OFF_SOON', 'MANTA_HEAD_TURNING_OFF', 'MANTA_HEAD_OFF'])
      assert.ok(codes.includes(code), code);
    assert.equal(readCluster(again.folder)?.ended, undefined);
    assert.equal((await again.down()).code, 0);
  });

  test('a job that runs keeps its cluster, and the cluster says so', async (t) => {
    const cluster = await TestCluster.up(new TestHome(t), yaml('idle_shutdown: 10s'));
    const { id } = await cluster.submit({ entrypoint: 'until [ -e go ]; do sleep 0.1; done', resources: { CPU: 1 } });
    await cluster.reach(id, 'running');
    const { turnOff } = await eventually('it has looked at its work', async () => {
      const answer = await cluster.get<ClusterAnswer>('/cluster');
      return answer.turnOff?.busyWith === '1 job running' && answer;
    });
    assert.equal(turnOff?.at, undefined);
    assert.match(turnOff?.text ?? '', /after 10s without work; now: 1 job running/);
    assert.match((await cluster.home.run('status')).out, /The cluster shuts down after 10s without work/);
    await cluster.ask('POST', `/api/manta/v1/jobs/${id}/stop`);
    await hasEnded(cluster);
  });

  test('a time that was given ends the cluster though a job runs; its queue waits for the next one', async (t) => {
    const home = new TestHome(t);
    const cluster = await TestCluster.up(home, workersYaml({ cpus: 1, max: 1 }), '--for', '1h');
    const { until } = readCluster(cluster.folder) ?? {};
    assert.ok(until !== undefined);
    assert.match((await home.run('status')).out, /shuts down in [\dhms]+ \(--until, --for\), at \d{4}-/);
    await cluster.submit({ id: 'first', entrypoint: 'sleep 1000', resources: { CPU: 1 } });
    await cluster.submit({ id: 'second', entrypoint: 'echo done', resources: { CPU: 1 } });
    await cluster.reach('first', 'running');
    assert.equal((await home.run('up', '--for', '3s')).code, 0);
    await hasEnded(cluster);
    assert.match((await home.run('status')).out, /--until or --for has been reached/);
    const again = await TestCluster.up(home);
    assert.equal(readCluster(again.folder)?.until, undefined);
    await again.ask('POST', '/api/manta/v1/jobs/first/stop');
    assert.equal((await again.finish('second')).state, 'succeeded');
  });

  test('an extension puts the end off, and outlives mantad', async (t) => {
    const home = new TestHome(t);
    const cluster = await TestCluster.up(home, yaml('max_lifetime: 1h'));
    const end = async (): Promise<TurnOffAnswer> => (await cluster.get<ClusterAnswer>('/cluster')).turnOff!;
    const before = (await end()).at!;
    const { turnOff } = JSON.parse((await home.run('--json', 'extend', '2h')).out) as { turnOff: TurnOffAnswer };
    assert.ok(Math.abs(turnOff.at! - before - 7_200_000) < 5_000);
    kill(cluster.mantad!);
    await eventually('another mantad has come', async () => Math.abs((await end()).at! - turnOff.at!) < 5_000);
    assert.match(
      (await home.run('extend', 'default', '--until', '2000-01-01 10:00')).err,
      /takes a time in the future/,
    );
    assert.match((await home.run('extend', 'nonsense')).err, /takes a duration/);
    assert.match(
      (await home.run('extend', 'default', '--until', '2100-01-01 10:00')).out,
      /shuts down in .*, as extended/,
    );
    await home.run('extend', 'default', '--until', '2099-01-01 10:00');
    assert.equal((await end()).keepUntil, new Date('2099-01-01 10:00').getTime(), 'a time that was wrong is put right');
    await home.run('up', '--for', '30m');
    const { at, keepUntil } = await end();
    assert.equal(keepUntil, undefined, 'who says when it ends takes back what was said before');
    assert.ok(at! < before);
  });

  test('a cluster that never ends by itself says nothing of it', async (t) => {
    const cluster = await TestCluster.up(new TestHome(t), workersYaml({ max: 1 }));
    assert.equal((await cluster.get<ClusterAnswer>('/cluster')).turnOff, undefined);
    assert.doesNotMatch((await cluster.home.run('status')).out, /shuts down/);
    assert.match((await cluster.home.run('extend', '2h')).out, /This cluster has no automatic shutdown/);
  });

  test('an end that was cut short is completed by the next mantad, and `up` waits for it', async (t) => {
    const home = new TestHome(t);
    const cluster = await TestCluster.up(home, workersYaml({ cpus: 1, min: 1, max: 1 }));
    await eventually('its worker is there', async () => cluster.agents().size === 2);
    changeCluster(cluster.folder, (record) => ({
      ...record,
      turningOff: { since: Date.now(), why: 'a test says so' },
    }));
    kill(cluster.mantad!);
    await hasEnded(cluster);
    assert.equal(readCluster(cluster.folder)?.ended?.why, 'a test says so');
    assert.equal(readCluster(cluster.folder)?.turningOff, undefined);

    // Nobody is left to complete it: `up` starts whoever does.
    changeCluster(cluster.folder, ({ ended: _, ...record }) => ({ ...record, turningOff: { since: 1, why: 'again' } }));
    const again = await TestCluster.up(home, workersYaml({ cpus: 1, min: 0, max: 1 }));
    assert.equal(readCluster(again.folder)?.ended, undefined);
    assert.equal((await again.down()).code, 0);
    assert.ok(!existsSync(again.folder.path));
  });

  test('a cluster that was down begins a new life, whatever end was set for the last one', async (t) => {
    const home = new TestHome(t);
    const file = yaml('max_lifetime: 1h');
    const first = await TestCluster.up(home, file, '--for', '10m');
    const { createdAt, until } = readCluster(first.folder)!;
    assert.equal((await first.down('--keep-state')).code, 0);
    changeCluster(first.folder, (record) => ({ ...record, createdAt: createdAt - 7_200_000, until: createdAt - 1 }));
    const again = await TestCluster.up(home, file);
    assert.ok(readCluster(again.folder)!.createdAt >= createdAt);
    assert.equal(readCluster(again.folder)!.until, undefined);
    const second = await TestCluster.up(home, file, '--until', '2100-01-01 00:00');
    assert.ok(readCluster(second.folder)!.until! > until!);
    await TestCluster.up(home, file, '--until', 'never');
    assert.equal((await second.get<ClusterAnswer>('/cluster')).turnOff?.because, 'lifetime');
  });
});
