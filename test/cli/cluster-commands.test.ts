// needs: cluster

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { identify, isAlive } from '../../src/base/process.ts';
import { clusterHost } from '../../src/client/cluster-host.ts';
import { until } from '../contract/waiting.ts';
import { eventually, kill, TestCluster, workersYaml } from '../head/test-cluster.ts';
import { type Ran, runManta, startManta } from './job-bed.ts';

// One cluster for all of it: the parts leave it as they found it.
test('the commands that speak to a running cluster', { timeout: 300_000 }, async (t) => {
  const yaml = workersYaml({ cpus: 1, max: 3, idleSeconds: 3_600, extra: 'aws_secret_access_key: hunter22hunter22\n' });
  const cluster = await TestCluster.start(t, { yaml });
  const place = { env: { MANTA_HOME: cluster.home.path }, cwd: cluster.home.path };
  const manta = (...words: string[]): Promise<Ran> => runManta(words, place);

  await t.test('status is in the words of ray status, with more by -v and as facts by --json', async () => {
    const ran = await manta('status');
    assert.equal(ran.exit, 0, ran.stderr);
    assert.match(ran.stdout, /^=+ Autoscaler status: \d{4}-.* =+\nNode status\n-+\nActive:\n/);
    assert.match(ran.stdout, /\nPending Demands:\n \(no resource demands\)\n$/);
    await eventually('the head node runs', async () =>
      (await cluster.nodes()).some((node) => node.status === 'running'),
    );
    assert.match((await manta('status', '-v')).stdout, /\nNode: \S+ \(head\)\n Id: /);
    assert.deepEqual(Object.keys(JSON.parse((await manta('status', '--json')).stdout) as object), [
      'text',
      'verboseText',
      'status',
      'synced',
      'unknown',
    ]);
  });

  await t.test('request-resources makes room, why explains it, drain takes it away, --clear withdraws it', async () => {
    const asked = await manta('request-resources', '--num-cpus', '2');
    assert.match(asked.stdout, /^reserved capacity for 2 bundles/);
    const worker = await eventually('two workers are there', async () => {
      const workers = (await cluster.nodes()).filter((node) => node.kind === 'worker' && node.status === 'running');
      return workers.length === 2 && workers[0];
    });
    const why = await manta('why', worker.instance);
    assert.equal(why.exit, 0, why.stderr);
    assert.match(why.stdout, new RegExp(`^instance ${worker.instance}: running`));
    assert.match(why.stdout, /requested/);
    assert.match((await manta('request-resources', '--clear')).stdout, /withdrew/);
    assert.match((await manta('drain', worker.instance)).stdout, /^draining /);
    const nobody = await manta('drain', 'nobody');
    assert.equal(nobody.exit, 1);
    assert.match(nobody.stderr, /nobody/);
    assert.equal((await manta('request-resources')).exit, 2);
    assert.equal((await manta('request-resources', '--bundles', '[1]')).exit, 2);
  });

  await t.test('a worker ends at once when that is asked for, and for a preemption with a deadline', async () => {
    await manta('request-resources', '--num-cpus', '2');
    const running = async (not: string) => {
      const workers = (await cluster.nodes()).filter(({ kind, status }) => kind === 'worker' && status === 'running');
      return workers.length >= 2 && workers.find(({ instance }) => instance !== not);
    };
    const first = await eventually('two workers are there', () => running(''));
    const ended = await cluster.ask('POST', `/api/manta/v1/nodes/${first.instance}/end`);
    assert.deepEqual(ended, { status: 200, body: { instance: first.instance, accepted: true } });
    await eventually(
      'it is gone',
      async () => !(await cluster.nodes()).some((each) => each.instance === first.instance),
    );
    assert.match((await manta('why', first.instance)).stdout, /terminated: requested/);
    const head = (await cluster.nodes()).find(({ kind }) => kind === 'head')!;
    const refused = await cluster.ask('POST', `/api/manta/v1/nodes/${head.instance}/end`);
    assert.deepEqual(refused.body, { instance: head.instance, accepted: false });

    const second = await eventually('another took its place', () => running(first.instance));
    const words = ['--node-id', second.node!, '--reason', 'DRAIN_NODE_REASON_PREEMPTION'];
    const drained = await manta('drain-node', ...words, '--deadline-remaining-seconds', '60');
    assert.equal(drained.exit, 0, drained.stderr);
    assert.match(drained.stdout, /it terminates when it is empty, or when its machine goes/);
    assert.equal((await manta('drain-node', ...words, '--deadline-remaining-seconds', '-1')).exit, 2);
    await manta('request-resources', '--clear');
  });

  await t.test('why explains a job, the demand, and says when there is no such thing', async () => {
    const id = 'explained';
    assert.equal((await manta('job', 'submit', '--submission-id', id, '--', 'true')).exit, 0);
    const why = await manta('job', 'why', id);
    assert.match(why.stdout, /^job explained: succeeded/);
    assert.match(why.stdout, /\n {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}submitted/);
    assert.equal((await manta('why', id)).stdout, why.stdout);
    assert.match((await manta('why', 'demand')).stdout, /^demand/);
    assert.equal((await manta('why', 'nothing-of-that-name')).exit, 1);
  });

  await t.test('events shows the past; -f goes on with the present; monitor adds the cluster at a glance', async () => {
    const past = await manta('events', '--since', '1h');
    assert.match(past.stdout, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}mantad \S+ is serving /m);
    assert.equal((await manta('events', '--level', 'error')).stdout, '');
    const [first] = (await manta('events', '--json', '--lines', '1')).stdout.split('\n');
    assert.equal(typeof (JSON.parse(first!) as { code: string }).code, 'string');

    const following = startManta(['events', '-f', '--lines', '1'], place);
    const monitor = startManta(['monitor', '--lines', '1'], place);
    await until('the line stands', () => following.stdout() !== '' && /nodes: \d+ running/.test(monitor.stdout()));
    await manta('job', 'submit', '--submission-id', 'seen', '--', 'true');
    await until('the job is seen', () =>
      [following, monitor].every((each) => each.stdout().includes('job seen succeeded')),
    );
    following.pressCtrlC();
    monitor.pressCtrlC();
    assert.equal((await following.ended).exit, 130);
    assert.match((await monitor.ended).stdout, /; jobs: \d+ running, 0 waiting\n/);
  });

  await t.test('env gives a shell what it needs, and undoes it', async () => {
    const ran = await manta('env');
    const shell = (line: string): string => execFileSync('/bin/sh', ['-c', line], { encoding: 'utf8', env: {} }).trim();
    assert.equal(
      shell(`${ran.stdout}echo $RAY_API_SERVER_ADDRESS $RAY_AUTH_MODE $RAY_AUTH_TOKEN`),
      `${cluster.url} token ${cluster.token}`,
    );
    const values = JSON.parse((await manta('env', '--json')).stdout) as Record<string, string>;
    assert.equal((await runManta(['job', 'list'], { env: values })).exit, 0);
    assert.equal(shell(`${ran.stdout}${(await manta('env', '--unset')).stdout}echo "<$RAY_AUTH_TOKEN>"`), '<>');
  });

  await t.test('a user that was added can work until it is revoked', async () => {
    const { token } = JSON.parse((await manta('user', 'add', 'ada', '--weight', '2', '--json')).stdout) as {
      token: string;
    };
    const asAda = (): Promise<Ran> =>
      runManta(['job', 'submit', '--', 'echo', 'hi'], { env: { RAY_ADDRESS: cluster.url, RAY_AUTH_TOKEN: token } });
    assert.equal((await asAda()).stdout, 'hi\n');
    assert.match((await manta('user', 'list')).stdout, /^USER .*\nowner +admin[^]*\nada +user +2 /);
    assert.equal((await manta('user', 'revoke', 'ada')).exit, 0);
    assert.equal((await asAda()).exit, 4);
    assert.match((await manta('user', 'revoke', 'owner')).stderr, /at least one administrator/);
  });

  await t.test('the link to the page signs in once', async () => {
    const link = (await manta('dashboard', '--no-open')).stdout.trim();
    const own = `http://${clusterHost(cluster.folder.name)}:${new URL(cluster.url).port}`;
    assert.ok(link.startsWith(`${own}/manta/?ticket=`), link);
    // A browser finds it by itself; the resolver of this machine need not know such names.
    const [there, host] = [link.replace(own, cluster.url), new URL(own).host];
    assert.match((await headersOf(there, host))['set-cookie']?.[0] ?? '', /HttpOnly/);
    assert.equal((await headersOf(there, host))['set-cookie'], undefined);
  });

  await t.test('the browser is opened with nothing that others on the machine could use', async () => {
    const bin = join(cluster.home.path, 'bin');
    mkdirSync(bin);
    const said = join(bin, 'said');
    const opener = `#!/bin/sh\nprintf '%s\\n' "$*" >${said}.new; mv ${said}.new ${said}\n`;
    for (const name of ['xdg-open', 'open']) writeFileSync(join(bin, name), opener, { mode: 0o700 });
    const env = { ...place.env, PATH: `${bin}:${process.env['PATH']}`, DISPLAY: ':0' };
    const { stdout } = await runManta(['dashboard'], { ...place, env, terminal: true });
    const words = await eventually('it is opened', () => existsSync(said) && readFileSync(said, 'utf8').trim());
    assert.doesNotMatch(words, /ticket|key/);
    assert.equal(statSync(words).mode & 0o777, 0o600);
    const [, shown = ''] = /ticket=(\S+)/.exec(stdout) ?? [];
    const [, given = ''] = /ticket=([^"]+)"/.exec(readFileSync(words, 'utf8')) ?? [];
    assert.ok(shown !== '' && given !== '' && shown !== given, 'each lets in once, so there are two');
  });

  await t.test('a follower lives through the death of mantad', async () => {
    const running = startManta(['job', 'submit', '--', 'echo one; sleep 2; echo two; exit 6'], place);
    await until('the first line is there', () => running.stdout() === 'one\n');
    kill(cluster.mantad!);
    const ran = await running.ended;
    assert.equal(ran.stdout, 'one\ntwo\n', ran.stderr);
    assert.equal(ran.exit, 6);
  });

  await t.test('up says how to start the cluster at boot, and that command changes nothing while it runs', async () => {
    const answer = await cluster.home.run('--json', 'up', join(cluster.home.path, 'cluster.yaml'));
    const { boot } = JSON.parse(answer.out) as { boot: string };
    const again = execFileSync('/bin/sh', ['-c', `${boot} --json 2>/dev/null`], {
      cwd: '/',
      env: {},
      encoding: 'utf8',
    });
    assert.equal((JSON.parse(again) as { done: string }).done, 'nothing');
  });

  await t.test('cluster-dump packs what is known, without secrets, also when the head is gone', async () => {
    await manta('job', 'submit', '--runtime-env-json', '{"env_vars": {"DB": "s3cr3t-value"}}', '--', 'true');
    await manta('job', 'submit', '--', 'echo', 'what-a-command-printed-hunter22hunter22');
    const folder = join(cluster.home.path, 'unpacked');
    mkdirSync(folder);
    const dump = async (): Promise<string[]> => {
      const ran = await manta('cluster-dump', '-o', 'dump.tar.gz', '--json');
      assert.equal(ran.exit, 0, ran.stderr);
      const file = join(cluster.home.path, 'dump.tar.gz');
      assert.equal(statSync(file).mode & 0o777, 0o600);
      execFileSync('tar', ['xzf', file, '-C', folder]);
      return execFileSync('tar', ['tzf', file], { encoding: 'utf8' })
        .trim()
        .split('\n')
        .map((name) => name.replace('manta-dump/', ''));
    };
    const names = await dump();
    for (const name of [
      'CONTENTS.txt',
      'versions.json',
      'status.txt',
      'nodes.json',
      'events.jsonl',
      'jobs.jsonl',
      'scaling.jsonl',
      'job-facts.jsonl',
      'cluster.yaml',
      'mantad.log',
      'state.json',
    ])
      assert.ok(names.includes(name), `${name} is in ${names.join(' ')}`);
    const facts = readFileSync(join(folder, 'manta-dump', 'job-facts.jsonl'), 'utf8')
      .trim()
      .split('\n');
    assert.ok(
      facts.some((line) => (JSON.parse(line) as { kind: string }).kind === 'submitted'),
      'the journal is that of now, not of the last backup',
    );
    const all = names.map((name) => readFileSync(join(folder, 'manta-dump', name), 'utf8')).join('\n');
    for (const secret of ['s3cr3t-value', cluster.token, 'hunter22hunter22']) assert.ok(!all.includes(secret), secret);
    assert.match(all, /aws_secret_access_key: \*\*\*/);

    const processes = [cluster.supervisor!, cluster.mantad!].map((pid) => identify(pid)!);
    for (const { pid } of processes) kill(pid);
    await eventually('the head is gone', () => !processes.some(isAlive));
    const without = await dump();
    for (const name of ['problems.txt', 'mantad.log', 'scaling.jsonl', 'job-facts.jsonl', 'cluster.yaml'])
      assert.ok(without.includes(name), name);
    const status = await manta('status', '-n', 'default');
    assert.equal(status.exit, 4);
    assert.match(
      status.stderr,
      /the cluster 'default' is not running on this machine.*\nhint: start it with 'manta up'/,
    );
  });
});

function headersOf(url: string, host: string): Promise<Record<string, string[] | undefined>> {
  return new Promise((resolve, reject) => {
    request(url, { headers: { host } }, (answer) => {
      answer.resume();
      resolve(answer.headersDistinct);
    })
      .on('error', reject)
      .end();
  });
}
