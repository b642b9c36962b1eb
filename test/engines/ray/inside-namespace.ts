/** Run by `contract.test.ts` inside namespaces of its own: one Ray head, and the contract on it. */

import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Resources } from '../../../src/core/resources.ts';
import { RayEngine } from '../../../src/engines/ray/engine.ts';
import { rayErrors } from '../../../src/engines/ray/errors.ts';
import { engineContract } from '../../contract/engine-contract.ts';
import { never, until } from '../../contract/waiting.ts';

const python = process.env.MANTA_RAY_PYTHON ?? 'python3';
const folder = mkdtempSync(join(tmpdir(), 'mr-'));
const token = randomBytes(32).toString('hex');
const dashboard = 'http://127.0.0.1:8265';
const env = {
  ...process.env,
  HOME: folder,
  RAY_AUTH_MODE: 'token',
  RAY_AUTH_TOKEN: token,
  RAY_enable_autoscaler_v2: '1',
  RAY_ADDRESS: '127.0.0.1:6379',
};
const clock = { now: () => Date.now(), sleep: async () => {} };
const engine = new RayEngine({ address: '127.0.0.1:6379', token, dashboard, clock });

/** A Python driver that makes load on request; see `driver.py`. */
class Driver {
  readonly #child: ChildProcess;
  readonly #answers: ((line: string) => void)[] = [];

  constructor() {
    const script = fileURLToPath(new URL('./driver.py', import.meta.url));
    this.#child = spawn(python, [script], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    createInterface({ input: this.#child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      if (line.startsWith('{')) this.#answers.shift()?.(line);
    });
  }

  async ask(command: object): Promise<{ id: number }> {
    const line = await new Promise<string>((resolve) => {
      this.#answers.push(resolve);
      this.#child.stdin?.write(`${JSON.stringify(command)}\n`);
    });
    return JSON.parse(line) as { id: number };
  }

  close(): void {
    this.#child.kill('SIGKILL');
  }

  /** Does something that can be undone; returns how to undo it. */
  async make(command: object): Promise<() => Promise<void>> {
    const { id } = await this.ask(command);
    return async () => void (await this.ask({ op: 'undo', id }));
  }
}

let driver: Driver | undefined;
const load = (): Driver => {
  assert.ok(driver, 'Ray is up');
  return driver;
};

before(async () => {
  const args = ['start', '--head', '--no-monitor', '--node-ip-address', '127.0.0.1', '--port', '6379'];
  const more = ['--dashboard-host', '127.0.0.1', '--disable-usage-stats', '--num-cpus', '4', '--temp-dir', folder];
  execFileSync(join(dirname(python), 'ray'), [...args, ...more, '--resources', '{"disk": 2}'], {
    env: { ...env, RAY_ADDRESS: '' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await until('the node and its agent are up', async () => {
    const [node] = await engine.nodeTable(never).catch(() => []);
    return node?.alive && node.head && node.agentPort > 0;
  });
  driver = new Driver();
  await driver.ask({ op: 'hello' });
});

after(() => {
  driver?.close();
  engine.close();
  rmSync(folder, { recursive: true, force: true });
});

function submitJob(entrypoint: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const headers = { authorization: `Bearer ${token}`, 'user-agent': 'manta' };
  request(`${dashboard}/api/jobs/`, { method: 'POST', headers }, (answer) => {
    let text = '';
    answer.on('data', (bytes: Buffer) => (text += bytes.toString()));
    answer.on('end', () => {
      if (answer.statusCode === 200) resolve((JSON.parse(text) as { submission_id: string }).submission_id);
      else reject(new Error(text));
    });
  })
    .on('error', reject)
    .end(JSON.stringify({ entrypoint }));
  return promise;
}

it('tells a token that is not accepted from a Ray that is not there', async () => {
  for (const other of [undefined, 'f'.repeat(64)]) {
    const stranger = new RayEngine({ address: '127.0.0.1:6379', dashboard, clock, ...(other ? { token: other } : {}) });
    await assert.rejects(stranger.state(never), { code: rayErrors.NotAllowed.code });
    await assert.rejects(stranger.attempts(never), { code: rayErrors.NotAllowed.code });
    stranger.close();
  }
  const nowhere = new RayEngine({ address: '127.0.0.1:1', dashboard: 'http://127.0.0.1:1', clock });
  await assert.rejects(nowhere.state(never), /did not answer/);
  await assert.rejects(nowhere.attempts(never), /did not answer/);
  nowhere.close();
});

it('reads the store of the GCS', async () => {
  const session = await engine.value('session_name', 'session', never);
  assert.match(Buffer.from(session ?? []).toString(), /^session_/);
  assert.equal(await engine.value('no such key', 'session', never), undefined);
});

engineContract('ray', async () => ({
  engine,
  offers: { CPU: 4, disk: 2 },
  missing: { unobtainium: 1 },
  occupy: (resources) => load().make({ op: 'occupy', resources }),
  submit: (resources: Resources, count: number) => load().make({ op: 'submit', resources, count }),
  submitGang: (bundles, strategy) => load().make({ op: 'gang', bundles, strategy }),
  requestResources: (bundles) =>
    engine.requestResources(
      bundles.map((resources) => ({ request: { resources, selectors: [], placement: [] }, count: 1 })),
      never,
    ),
  attempts: (signal) => engine.attempts(signal),
  runJob: submitJob,
}));
