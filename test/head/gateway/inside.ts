/** Run by `ray.test.ts` inside namespaces of its own: one Ray, a supervisor with its mantad, and their clients. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { tokenFile } from '../../../src/bringup/node/shell-text.ts';
import { createCluster } from '../../../src/state/cluster-record.ts';
import { servingOf, supervisorOf } from '../../../src/state/serving.ts';
import { stateFolder } from '../../../src/state/state-folder.ts';
import { openBrowser, picture, watchComplaints } from '../../browser/browser.ts';
import { until } from '../../contract/waiting.ts';
import { env, folder, python, rayProgram, removeFolder, token } from '../../engines/ray/ray-cluster.ts';
import { rayCommand } from '../../jobs/ray-python.ts';
import { raw } from '../test-cluster.ts';

const address = 'http://127.0.0.1:8265';
const behind = 'http://127.0.0.1:8264';
const name = 'real';
const cluster = stateFolder(join(folder, '.manta/head'), name);
let owner: string;
let guest: string;

const yaml = `cluster_name: ${name}
provider: {type: local, head_ip: 127.0.0.1, worker_ips: []}
auth: {ssh_user: root}
max_workers: 0
`;

before(async () => {
  const args = ['start', '--head', '--no-monitor', '--node-ip-address', '127.0.0.1', '--port', '6379'];
  const page = ['--dashboard-host', '127.0.0.1', '--dashboard-port', '8264', '--disable-usage-stats'];
  const small = ['--object-store-memory', '80000000', '--num-cpus', '2', '--temp-dir', folder];
  execFileSync(rayProgram, [...args, ...page, ...small], {
    env: { ...env, RAY_ADDRESS: '', RAY_CLOUD_INSTANCE_ID: 'head-1' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const secret = join(folder, tokenFile(name));
  mkdirSync(dirname(secret), { recursive: true });
  writeFileSync(secret, token, { mode: 0o600 });
  createCluster(cluster, {
    role: 'head',
    createdAt: Date.now(),
    engine: 'ray',
    config: { path: 'cluster.yaml', text: yaml, env: {} },
    ray: {
      id: 'test',
      instance: 'head-1',
      address: '127.0.0.1',
      gcsPort: 6379,
      dashboardPort: 8264,
      loginShells: false,
      usageStats: false,
      mounts: [],
    },
  });
  startSupervisor();
  const serving = await until('mantad serves', () => servingOf(cluster)).catch((error: unknown) => {
    throw new Error(readFileSync(cluster.files.daemonLog, 'utf8'), { cause: error });
  });
  assert.equal(serving.url, address);
  owner = readFileSync(join(cluster.files.tokens, 'owner'), 'utf8').trim();
  const added = await ask('POST', '/api/manta/v1/users', { body: '{"name":"guest"}' });
  guest = (JSON.parse(added.body) as { token: string }).token;
  await until('the node of the head is there', async () => {
    const { status, body } = await ask('GET', '/api/v0/nodes');
    return status === 200 && body.includes('"ALIVE"');
  });
});

after(removeFolder);

function startSupervisor(): void {
  const supervisor = fileURLToPath(new URL('../../../src/head/supervisor.ts', import.meta.url));
  const words = [supervisor, join(folder, '.manta/head'), name];
  spawn(process.execPath, words, { env, stdio: 'ignore', detached: true }).unref();
}

const ask = (method: string, path: string, more: { as?: string; body?: string; url?: string } = {}) =>
  raw(more.url ?? address, {
    method,
    path,
    headers: { authorization: `Bearer ${more.as ?? owner}`, connection: 'close' },
    ...(more.body !== undefined && { body: more.body }),
  });

function run(words: readonly string[], as = owner, at = address): Promise<{ code: number; out: string }> {
  return new Promise((resolve) => {
    const child = spawn(python, words, {
      cwd: folder,
      env: { ...env, RAY_AUTH_TOKEN: as, RAY_ADDRESS: at },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (out += bytes.toString()));
    child.on('close', (code) => resolve({ code: code ?? -1, out }));
  });
}
const ray = (...words: readonly string[]) => run([...rayCommand, ...words]);

describe('a real Ray behind the gateway', () => {
  it("'ray job submit' lands in the queue, runs on Ray and shows its output", async () => {
    const words = ['--address', address, '--submission-id', 'first', '--', 'sh', '-c', 'echo from-$((40 + 2))'];
    const submitted = await ray('job', 'submit', ...words);
    assert.equal(submitted.code, 0, submitted.out);
    assert.match(submitted.out, /from-42/);
    assert.match(submitted.out, /succeeded/);
    const queued = JSON.parse((await ask('GET', '/api/manta/v1/jobs/first')).body) as { state: string; user: string };
    assert.deepEqual([queued.state, queued.user], ['succeeded', 'owner']);
  });

  it('the Python client submits, follows, stops and lists', async () => {
    const { code, out } = await run([
      '-c',
      `
import asyncio, time
from ray.job_submission import JobSubmissionClient
client = JobSubmissionClient("${address}")
print("VERSION", client.get_version())
one = client.submit_job(entrypoint="echo begun; sleep 600")
while client.get_job_status(one) != "RUNNING": time.sleep(0.1)
async def first():
    async for lines in client.tail_job_logs(one):
        if "begun" in lines: return
asyncio.run(first())
print("STOPPED", client.stop_job(one))
while not client.get_job_status(one).is_terminal(): time.sleep(0.1)
print("END", client.get_job_status(one), sorted(j.submission_id for j in client.list_jobs()) == sorted(["first", one]))
`,
    ]);
    assert.equal(code, 0, out);
    assert.match(out, /VERSION 4/);
    assert.match(out, /STOPPED True/);
    assert.match(out, /END STOPPED True/);
  });

  it("'ray list nodes' and 'ray summary' read Ray's state, for every user", async () => {
    for (const as of [owner, guest]) {
      const { code, out } = await run([...rayCommand, 'list', 'nodes', '--address', address], as);
      assert.equal(code, 0, out);
      assert.match(out, /ALIVE/);
    }
    assert.equal((await ray('summary', 'tasks', '--address', address)).code, 0);
    const refused = await run([...rayCommand, 'list', 'nodes', '--address', address], token);
    assert.notEqual(refused.code, 0, "Ray's own token opens nothing here");
  });

  it('tells the version of the Ray that runs', async () => {
    const told = await until('it is known', async () => {
      const { ray_version } = JSON.parse((await ask('GET', '/api/version')).body) as { ray_version: string };
      return ray_version;
    });
    const own = JSON.parse((await ask('GET', '/api/version', { url: behind, as: token })).body) as {
      ray_version: string;
    };
    assert.equal(told, own.ray_version);
  });

  it('a job that was submitted to Ray itself is in the list, and is for administrators to act on', async () => {
    const body = JSON.stringify({ entrypoint: 'echo straight; sleep 600', submission_id: 'straight' });
    const { status } = await until('Ray takes it', async () => {
      const answer = await ask('POST', '/api/jobs/', { url: behind, as: token, body });
      return answer.status === 200 && answer;
    });
    assert.equal(status, 200);
    await until('it runs', async () => (await ask('GET', '/api/jobs/straight')).body.includes('"RUNNING"'));
    // While Ray is slow to tell its jobs, the list has those of the queue alone.
    const { listed, other } = await until('it is in the list', async () => {
      const jobs = JSON.parse((await ask('GET', '/api/jobs/', { as: guest })).body) as {
        submission_id: string;
        metadata: Record<string, string>;
      }[];
      const found = jobs.find(({ submission_id }) => submission_id === 'straight');
      return found && { listed: jobs, other: found };
    });
    assert.equal(other.metadata['submitted_to'], 'ray');
    assert.equal(
      listed.filter(({ submission_id }) => submission_id?.startsWith('first')).length,
      1,
      'an attempt is no job',
    );
    const followed = await run([
      '-c',
      `
import asyncio
from ray.job_submission import JobSubmissionClient
async def first():
    async for lines in JobSubmissionClient("${address}").tail_job_logs("straight"):
        if "straight" in lines: print("HEARD"); return
asyncio.run(first())
`,
    ]);
    assert.match(followed.out, /HEARD/);
    assert.equal((await ask('POST', '/api/jobs/straight/stop', { as: guest })).status, 404);
    assert.equal((await ray('job', 'stop', '--address', address, 'straight')).code, 0);
  });

  it('what runs code in Ray or shows output is for administrators', async () => {
    for (const [method, path] of [
      ['PUT', '/api/serve/applications/'],
      ['DELETE', '/api/serve/applications/'],
      ['GET', '/api/v0/logs?node_ip=127.0.0.1'],
      ['GET', '/worker/traceback?pid=1&ip=127.0.0.1'],
      ['GET', '/api/v0/runtime_envs'],
      ['GET', '/api/v0/jobs'],
    ] as const)
      assert.equal((await ask(method, path, { as: guest })).status, 403, path);
    assert.equal((await ask('GET', '/api/v0/logs?node_ip=127.0.0.1')).status, 200);
    const paths = ['/static/../api/v0/nodes', '/static/%2e%2e/api/v0/nodes', '//api/v0/nodes', '/api/v0/./nodes'];
    for (const path of paths) assert.equal((await raw(address, { path })).status, 401, path);
  });

  it('what a job was given and has said is nowhere in what others read of Ray', async () => {
    const [given, said] = ['given-4711', 'said-4711'];
    const program = `
import ray, time
ray.init(log_to_driver=False)
@ray.remote(max_retries=0, num_cpus=0.1, runtime_env={"env_vars": {"GIVEN": "given-" + str(4711)}})
def fails(): raise ValueError("said-" + str(4711))
@ray.remote(num_cpus=0.1)
class Dies:
    def __init__(self): raise ValueError("said-" + str(4711))
    def ready(self): pass
for ref in [fails.remote(), Dies.remote().ready.remote()]:
    try: ray.get(ref)
    except Exception as error: print(error)
time.sleep(3)
raise SystemExit(1)
`;
    writeFileSync(join(folder, 'fails.py'), program);
    const words = ['--address', address, '--submission-id', 'fails', '--', python, join(folder, 'fails.py')];
    const { out } = await ray('job', 'submit', ...words);
    assert.match(out, /said-4711/);
    const details = ['tasks', 'actors', 'workers', 'nodes', 'objects', 'placement_groups', 'jobs', 'cluster_events'];
    const node = /"node_id": ?"([0-9a-f]+)"/.exec((await ask('GET', '/api/v0/nodes')).body)?.[1];
    const paths = [
      ...details.flatMap((what) => [`/api/v0/${what}`, `/api/v0/${what}?detail=1`]),
      ...[
        '/logical/actors',
        '/nodes?view=summary',
        `/nodes/${node}`,
        '/events',
        '/api/v0/tasks/timeline',
        '/api/jobs/',
      ],
      ...['/api/v0/tasks/summarize', '/api/v0/actors/summarize', '/api/cluster_status', '/api/serve/applications/'],
    ];
    await until('Ray knows of it', async () => (await ask('GET', '/api/v0/tasks?detail=1')).body.includes(said));
    const seen = { owner: '', guest: 0 };
    for (const path of paths) {
      seen.owner += (await ask('GET', path)).body;
      const { status, body } = await ask('GET', path, { as: guest });
      if (status === 200) seen.guest += 1;
      for (const secret of [given, said]) assert.ok(!body.includes(secret), `${path}: ${body}`);
    }
    assert.ok(seen.owner.includes(given) && seen.owner.includes(said), 'there was something to see');
    assert.ok(seen.guest >= 15, `${seen.guest} of ${paths.length} are for everybody`);
  });

  it('Ray’s page and Manta’s load in a browser, each with its own, and neither shows Ray’s token', async () => {
    const browser: Browser = await openBrowser();
    try {
      const context = await browser.newContext({ viewport: { width: 1360, height: 860 } });
      context.setDefaultTimeout(120_000);
      const page = await context.newPage();
      const complaints = watchComplaints(page);
      const bad: string[] = [];
      page.on('response', (answer) => {
        const url = new URL(answer.url());
        if (answer.status() >= 400 && url.origin === address) bad.push(`${answer.status()} ${url.pathname}`);
      });
      const made = JSON.parse((await ask('POST', '/api/manta/v1/tickets')).body) as { ticket: string };
      await page.goto(`${address}/?ticket=${encodeURIComponent(made.ticket)}`);
      assert.equal(new URL(page.url()).pathname, '/');
      assert.match(await page.title(), /Ray Dashboard/);
      await page.goto(`${address}/#/jobs`);
      await page.getByText('first', { exact: true }).first().waitFor();
      await page.goto(`${address}/#/jobs/first`);
      await page.getByText('from-42').first().waitFor();
      await page.goto(`${address}/#/cluster`);
      await page.getByText('ALIVE').first().waitFor();
      await picture(page, 'gateway-ray-cluster');
      // What Ray's page asks for and this Ray does not have (Grafana, Serve), Ray itself refuses in the same way.
      for (const [status = '', path = ''] of bad.map((each) => each.split(' ')))
        assert.equal((await ask('GET', path, { url: behind, as: token })).status, Number(status), path);

      complaints.length = 0;
      bad.length = 0;
      await page.goto(`${address}/manta/#/jobs`);
      await page.getByText('Live', { exact: true }).first().waitFor();
      await page.getByText('first', { exact: true }).first().waitFor();
      await picture(page, 'gateway-manta-jobs');
      assert.deepEqual([...complaints, ...bad], []);
      const cookies = JSON.stringify(await context.cookies());
      assert.ok(!cookies.includes(token));
      assert.match(cookies, /manta-real/);
    } finally {
      await browser.close();
    }
  });

  it('while Ray’s dashboard is gone it says so, and the jobs API goes on', async () => {
    execFileSync('sh', ['-c', "kill -9 $(pgrep -f '[r]ay/dashboard/dashboard.py')"]);
    const { status, body } = await until('it is gone', async () => {
      const answer = await ask('GET', '/api/v0/nodes');
      return answer.status === 502 && answer;
    });
    assert.equal(status, 502);
    assert.match(body, /MANTA_GATEWAY_NO_ANSWER/);
    assert.equal((await ask('GET', '/api/jobs/')).status, 200);
    assert.equal((await ask('GET', '/api/jobs/first')).status, 200);
  });

  it('says so when another has taken its port while nobody held it', async () => {
    const ended = servingOf(cluster)?.mantad.pid;
    process.kill(supervisorOf(cluster)?.pid as number);
    await until('nobody serves', () => servingOf(cluster) === undefined);
    const taker = createServer();
    await until(
      'it is taken',
      () =>
        new Promise<boolean>((resolve) => {
          taker.once('error', () => resolve(false));
          taker.listen(8265, '::1', () => resolve(true));
        }),
    );
    try {
      startSupervisor();
      const serving = await until('another serves', () => servingOf(cluster));
      assert.notEqual(serving.mantad.pid, ended);
      assert.equal(serving.url, 'http://127.0.0.1:8266');
      await until('it is told', async () => {
        const { body } = await ask('GET', '/api/manta/v1/events', { url: serving.url });
        return body.includes('MANTA_HEAD_PORT_TAKEN_BY_ANOTHER');
      });
    } finally {
      taker.close();
    }
  });
});
