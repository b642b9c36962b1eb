// needs: cluster

/** Starting, changing and ending clusters, whatever happens on the way. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ClusterAnswer } from '../../src/api/types.ts';
import { eventually, filesIn, kill, seeded, seedOf, TestCluster, TestHome, workersYaml } from './test-cluster.ts';

/** `npm run soak -- lifecycle` takes more. */
const killedRounds = Number(process.env['MANTA_LIFECYCLE_ROUNDS'] ?? 3);
const manta = fileURLToPath(new URL('../../bin/manta', import.meta.url));

/** A command that is killed after a while, together with nothing else. */
async function cutShort(home: TestHome, args: readonly string[], after: number): Promise<void> {
  const child = spawn(process.execPath, [manta, ...args], { env: home.env, stdio: 'ignore' });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  await Promise.race([sleep(after), ended]);
  child.kill('SIGKILL');
  await ended;
}

describe('the life of clusters', { concurrency: 3 }, () => {
  test('a second up changes nothing, a changed file is applied to the running cluster, and down leaves nothing', async (t) => {
    const home = new TestHome(t);
    const file = join(home.path, 'cluster.yaml');
    const cluster = await TestCluster.up(home, workersYaml({ cpus: 1, max: 1 }));
    await eventually('the head node runs', async () =>
      (await cluster.nodes()).some(({ status }) => status === 'running'),
    );
    const processes = home.processes().map(({ pid }) => pid);
    const again = await home.run('--json', 'up', file);
    assert.deepEqual([again.code, (JSON.parse(again.out) as { done: string }).done], [0, 'nothing']);
    assert.deepEqual(
      home.processes().map(({ pid }) => pid),
      processes,
    );

    const go = join(home.path, 'go');
    const waiting = (id: string): Record<string, unknown> => ({
      id,
      entrypoint: `while [ ! -e ${go} ]; do sleep 0.05; done`,
      resources: { CPU: 1 },
    });
    await cluster.submit(waiting('first'));
    await cluster.submit(waiting('second'));
    await cluster.reach('first', 'running');
    const large = await cluster.ask('POST', '/api/manta/v1/jobs', { entrypoint: 'true', resources: { CPU: 2 } });
    assert.equal(large.status, 422);
    const agents = [...cluster.agents().values()];

    const wider = workersYaml({ cpus: 1, max: 3, idleSeconds: 90 }).concat(
      '  large:\n    resources: {CPU: 2}\n    max_workers: 1\n    node_config: {}\n',
    );
    writeFileSync(file, wider);
    const applied = await home.run('--json', 'up', file);
    assert.deepEqual([applied.code, (JSON.parse(applied.out) as { done: string }).done], [0, 'applied'], applied.err);
    const answer = await cluster.get<ClusterAnswer>('/cluster');
    assert.deepEqual([answer.maxWorkers, answer.nodeTypes.map(({ name }) => name)], [3, ['head', 'worker', 'large']]);
    await cluster.reach('second', 'running');
    await cluster.submit({ ...waiting('large'), resources: { CPU: 2 } });
    await cluster.reach('large', 'running');
    const first = await cluster.job('first');
    assert.deepEqual([first.state, first.attempts.length], ['running', 1]);
    for (const pid of agents) assert.ok([...cluster.agents().values()].includes(pid), 'the nodes were not touched');

    const broken = join(home.path, 'broken.yaml');
    writeFileSync(broken, wider.replace('max_workers: 3', 'max_workers: three'));
    assert.notEqual((await home.run('up', broken)).code, 0);
    assert.equal((await cluster.get<ClusterAnswer>('/cluster')).maxWorkers, 3);

    writeFileSync(go, '');
    for (const id of ['first', 'second', 'large']) assert.equal((await cluster.finish(id)).state, 'succeeded');
    assert.equal((await cluster.down()).code, 0);
    assert.deepEqual(home.processes(), []);
    assert.deepEqual(filesIn(join(home.path, 'clusters')), []);
    assert.equal((await home.run('down', '-y')).code, 0, 'a second down has nothing to do');
  });

  test('up --plan on this machine says what would be done, and does nothing', async (t) => {
    const home = new TestHome(t);
    const plan = async (...words: readonly string[]): Promise<unknown> => {
      const { code, out, err } = await home.run('--json', 'up', '--plan', ...words);
      assert.equal(code, 0, err);
      return (JSON.parse(out) as { plan: unknown }).plan;
    };
    assert.deepEqual(await plan(), { name: 'default', action: 'make' });
    assert.deepEqual([home.processes(), filesIn(join(home.path, 'clusters'))], [[], []]);
    const cluster = await TestCluster.up(home);
    assert.deepEqual(await plan(), { name: 'default', action: 'nothing' });
    assert.deepEqual(await plan('--max-workers', '7'), { name: 'default', action: 'apply' });
    assert.match((await home.run('up', '--plan', '--max-workers', '7')).out, /apply the new settings/);
    assert.notEqual((await cluster.get<ClusterAnswer>('/cluster')).maxWorkers, 7);
    await cluster.down('--keep-state');
    assert.deepEqual(await plan(), { name: 'default', action: 'start' });
    assert.deepEqual(home.processes(), []);
  });

  test('two clusters run side by side and one does not see the other', async (t) => {
    const home = new TestHome(t);
    const [one, two] = await Promise.all([
      TestCluster.up(home, undefined, '-n', 'one'),
      TestCluster.up(home, undefined, '-n', 'two'),
    ]);
    assert.ok(one && two);
    assert.notEqual(one.url, two.url);
    const job = await one.submit({ entrypoint: 'echo one' });
    await one.finish(job.id);
    assert.equal((await two.ask('GET', `/api/manta/v1/jobs/${job.id}`)).status, 404);
    const foreign = await fetch(`${two.url}/api/manta/v1/jobs`, { headers: { authorization: `Bearer ${one.token}` } });
    assert.equal(foreign.status, 403);
    assert.equal((await one.down()).code, 0);
    assert.equal((await two.submit({ entrypoint: 'true' })).state, 'queued');
    assert.equal((await two.down()).code, 0);
    assert.deepEqual(home.processes(), []);
  });

  test('of two ups at once one starts the cluster and the other starts nothing beside it', async (t) => {
    const home = new TestHome(t);
    const answers = await Promise.all([home.run('up'), home.run('up'), home.run('up')]);
    assert.ok(answers.some(({ code }) => code === 0));
    for (const { code, err } of answers)
      assert.ok(code === 0 || err.includes('MANTA_LAUNCHER_BUSY') || /another command/.test(err), err);
    const programs = home.processes().map(({ command }) => /(supervisor|mantad)\.ts/.exec(command)?.[1]);
    assert.equal(programs.filter((name) => name === 'supervisor').length, 1);
    assert.equal(programs.filter((name) => name === 'mantad').length, 1);
    assert.equal((await home.run('down', '-y')).code, 0);
    assert.deepEqual(home.processes(), []);
  });

  test('ups and downs that are killed on the way are completed by the next command', async (t) => {
    const random = seeded(seedOf(t, 'lifecycle.test.ts'));
    const home = new TestHome(t);
    for (let round = 0; round < killedRounds; round++) {
      await cutShort(home, ['up'], random() * 1_500);
      if (round % 2 === 0) {
        const up = await home.run('up');
        assert.equal(up.code, 0, up.err);
      }
      await cutShort(home, ['down', '-y'], 150 + random() * 900);
      if (round % 3 === 2) {
        // Whatever the killed down left, an up either runs or says what to do first.
        const up = await home.run('up');
        assert.ok(up.code === 0 || up.err.includes('down'), up.err);
      }
      const down = await home.run('down', '-y');
      assert.equal(down.code, 0, down.err);
      await eventually('a supervisor that was only just starting has given up', () => home.processes().length === 0);
      assert.deepEqual(filesIn(join(home.path, 'clusters')), [], `round ${round}`);
    }
  });

  test('a down during an up leaves either a whole cluster or none', async (t) => {
    const home = new TestHome(t);
    const up = home.run('up');
    await eventually('the up has begun', () => existsSync(home.folder().files.commandLock));
    const down = await home.run('down', '-y');
    const upped = await up;
    assert.ok(down.code === 0 || /another command/.test(down.err), down.err);
    assert.ok(upped.code === 0 || upped.err.length > 0);
    assert.equal((await home.run('down', '-y')).code, 0);
    assert.deepEqual(home.processes(), []);
  });

  test('down --keep-state keeps jobs and logs for the next up', async (t) => {
    const home = new TestHome(t);
    const cluster = await TestCluster.up(home);
    await cluster.submit({ id: 'kept', entrypoint: 'echo remember me' });
    await cluster.finish('kept');
    await cluster.submit({ id: 'cut', entrypoint: 'sleep 1000', resources: { CPU: 1 } });
    await cluster.submit({
      id: 'again',
      entrypoint: '[ $MANTA_JOB_ATTEMPT -ge 2 ] || sleep 1000',
      resources: { CPU: 1 },
      retries: { node_lost: 1 },
    });
    await cluster.reach('cut', 'running');
    await cluster.reach('again', 'running');
    assert.equal((await cluster.down('--keep-state')).code, 0);
    assert.deepEqual(home.processes(), []);

    const back = await TestCluster.up(home);
    assert.equal(back.token, cluster.token);
    assert.equal((await back.job('kept')).state, 'succeeded');
    assert.equal((await back.log('kept', 1)).toString(), 'remember me\n');
    const cut = await back.finish('cut');
    assert.deepEqual([cut.state, cut.attempts.map(({ cause }) => cause)], ['failed', ['node-lost']]);
    const again = await back.finish('again');
    assert.deepEqual(
      again.attempts.map(({ cause }) => cause),
      ['node-lost', 'succeeded'],
    );
  });

  test('what a power cut leaves is taken over: stale locks, stale pids, dead nodes', async (t) => {
    const home = new TestHome(t);
    const cluster = await TestCluster.up(home);
    await cluster.submit({ id: 'cut', entrypoint: 'sleep 1000', resources: { CPU: 1 } });
    await cluster.reach('cut', 'running');
    await home.killAll();
    const { files } = cluster.folder;
    // The numbers may belong to others by now: here, to this test.
    for (const file of [files.supervisorLock, files.mantadLock]) {
      const lock = JSON.parse(readFileSync(file, 'utf8')) as { pid: number };
      writeFileSync(file, JSON.stringify({ ...lock, pid: process.pid }));
    }
    const instances = readdirSync(files.instances).filter((name) => name.startsWith('i-'));
    for (const name of instances) {
      const file = join(files.instances, name, 'process.json');
      writeFileSync(file, readFileSync(file, 'utf8').replace(/"pid":\d+/, `"pid":${process.pid}`));
    }
    const back = await TestCluster.up(home);
    const job = await back.finish('cut');
    assert.deepEqual([job.state, job.errorType], ['failed', 'JOB_SUPERVISOR_ACTOR_DIED']);
    const after = await back.submit({ entrypoint: 'true', resources: { CPU: 1 } });
    assert.equal((await back.finish(after.id)).state, 'succeeded');
    assert.equal((await back.down()).code, 0);
    assert.deepEqual(home.processes(), []);
  });

  test('a supervisor that was killed is brought back by the next up, and mantad is looked after again', async (t) => {
    const home = new TestHome(t);
    const cluster = await TestCluster.up(home);
    kill(cluster.supervisor as number);
    await eventually('it is gone', () => cluster.supervisor === undefined);
    const mantad = cluster.mantad as number;
    assert.equal((await home.run('up')).code, 0);
    await eventually('there is a supervisor again', () => cluster.supervisor);
    assert.equal(cluster.mantad, mantad);
    kill(mantad);
    await eventually('there is a mantad again', () => cluster.mantad !== undefined && cluster.mantad !== mantad);
    assert.equal((await cluster.ask('GET', '/healthz')).status, 200);
    assert.equal((await cluster.down()).code, 0);
    assert.deepEqual(home.processes(), []);
  });

  test('a state folder of somebody else, of another machine or of a newer Manta is left alone', async (t) => {
    const home = new TestHome(t);
    const { path, files } = home.folder();
    mkdirSync(path, { recursive: true });
    const refused = async (what: RegExp, ...args: readonly string[]): Promise<void> => {
      const answer = await home.run(...args);
      assert.notEqual(answer.code, 0);
      assert.match(answer.err, what);
    };
    writeFileSync(join(path, 'thesis.tex'), 'years of work');
    await refused(/thesis\.tex/, 'up');
    rmSync(join(path, 'thesis.tex'));

    const record = { format: 1, name: 'default', machine: 'elsewhere', createdAt: 1, engine: 'embedded' };
    for (const [content, what] of [
      [JSON.stringify(record), /belongs to the machine 'elsewhere'/],
      [JSON.stringify({ ...record, format: 99 }), /newer Manta \(format 99\)/],
      ['{"format": ', /is empty or damaged/],
      ['{}', /not written by Manta/],
    ] as const) {
      writeFileSync(files.cluster, content);
      await refused(what, 'up');
      await refused(what, 'down', '-y');
      assert.equal(readFileSync(files.cluster, 'utf8'), content);
    }
    assert.deepEqual(home.processes(), []);
  });

  test('a port that is taken is told at once, and nothing is left running', async (t) => {
    const home = new TestHome(t);
    const one = await TestCluster.up(home, undefined, '-n', 'one');
    const answer = await home.run('up', '-n', 'two', '--port', new URL(one.url).port);
    assert.notEqual(answer.code, 0);
    assert.match(answer.err, new RegExp(`port ${new URL(one.url).port} is already in use`));
    assert.equal(home.processes().filter(({ command }) => command.endsWith(' two')).length, 0);
    assert.equal((await home.run('down', '-y', '-n', 'two')).code, 0);
  });
});
