// needs: cluster

/** A real cluster on this machine for one test: started and ended by the real commands, watched through /proc. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { EventAnswer, NodeAnswer } from '../../src/api/types.ts';
import type { Job } from '../../src/core/jobs/job.ts';
import { mantadOf, supervisorOf } from '../../src/state/serving.ts';
import { type StateFolder, stateFolder } from '../../src/state/state-folder.ts';
import { until } from '../contract/waiting.ts';

export { until as eventually } from '../contract/waiting.ts';

const manta = fileURLToPath(new URL('../../bin/manta', import.meta.url));
/** In the environment of every process of a test's clusters, agents and jobs included. */
const badge = 'MANTA_TEST_BADGE';

export interface Answer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface ProcessSeen {
  readonly pid: number;
  readonly command: string;
  readonly env: string;
}

/** Whoever ends what was started: a test, or the hooks of a suite. */
export interface Owner {
  after(cleanUp: () => Promise<void>): unknown;
}

/** A place for clusters. Whatever is left in it when the test ends is ended, whether the test passed or not. */
export class TestHome {
  readonly path: string;
  readonly badge = randomBytes(8).toString('hex');
  readonly #env: Record<string, string>;

  constructor(t: Owner, env: Record<string, string> = {}, path?: string) {
    this.path = path ?? mkdtempSync(join(tmpdir(), 'manta-head-'));
    this.#env = env;
    t.after(async () => {
      await this.killAll();
      rmSync(this.path, { recursive: true, force: true });
    });
  }

  /** Environment of the commands. */
  get env(): Record<string, string | undefined> {
    return { ...process.env, NODE_OPTIONS: '', ...this.#env, MANTA_HOME: this.path, [badge]: this.badge };
  }

  run(...args: readonly string[]): Promise<Answer> {
    return this.runBy(manta, ...args);
  }

  /** Runs another `manta` than that of this tree. */
  runBy(program: string, ...args: readonly string[]): Promise<Answer> {
    return new Promise((resolve) => {
      execFile(process.execPath, [program, ...args], { env: this.env, cwd: this.path }, (error, out, err) =>
        resolve({ code: error === null ? 0 : ((error.code as number | null | undefined) ?? -1), out, err }),
      );
    });
  }

  /** Every process that was started, directly or not, by a command of this home. */
  processes(): ProcessSeen[] {
    return readdirSync('/proc').flatMap((name) => {
      if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
      try {
        const env = readFileSync(`/proc/${name}/environ`, 'latin1');
        if (!env.includes(`${badge}=${this.badge}`)) return [];
        const command = readFileSync(`/proc/${name}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
        return command === '' ? [] : [{ pid: Number(name), command, env }];
      } catch {
        return [];
      }
    });
  }

  /** Those that belong to attempts of jobs. */
  jobProcesses(): ProcessSeen[] {
    return this.processes().filter(({ env }) => env.includes('\0MANTA_JOB_ID='));
  }

  async killAll(): Promise<void> {
    await until('nothing of the test is left', () => {
      const left = this.processes();
      for (const { pid } of left) kill(pid);
      return left.length === 0;
    });
  }

  folder(name = 'default'): StateFolder {
    return stateFolder(this.path, name);
  }
}

export function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has gone already.
  }
}

/** A port that nobody listens on, below those that outgoing connections take. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 12_000 + (randomBytes(2).readUInt16LE() % 18_000);
    const free = await new Promise<boolean>((resolve) => {
      const probe = createServer().once('error', () => resolve(false));
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
    });
    if (free) return port;
  }
}

export interface ClusterOptions {
  readonly yaml?: string;
  readonly env?: Record<string, string>;
  readonly home?: string;
}

/** One running cluster and a client of its API that outlives its daemon. */
export class TestCluster {
  readonly home: TestHome;
  readonly folder: StateFolder;
  readonly url: string;
  readonly token: string;

  private constructor(home: TestHome, folder: StateFolder, url: string) {
    this.home = home;
    this.folder = folder;
    this.url = url;
    this.token = readFileSync(join(folder.files.tokens, 'owner'), 'utf8').trim();
  }

  static async start(t: Owner, options: ClusterOptions = {}): Promise<TestCluster> {
    return TestCluster.up(new TestHome(t, options.env, options.home), options.yaml);
  }

  /** `manta up`, with a cluster file where one is given. */
  static up(home: TestHome, yaml?: string, ...args: readonly string[]): Promise<TestCluster> {
    return TestCluster.upBy(manta, home, yaml, ...args);
  }

  static async upBy(program: string, home: TestHome, yaml?: string, ...args: readonly string[]): Promise<TestCluster> {
    const file = join(home.path, 'cluster.yaml');
    if (yaml !== undefined) writeFileSync(file, yaml);
    const port = ['--port', String(await freePort())];
    const answer = await home.runBy(program, '--json', 'up', ...(yaml === undefined ? [] : [file]), ...port, ...args);
    if (answer.code !== 0) throw new Error(`manta up failed with ${answer.code}: ${answer.err}${answer.out}`);
    const { name, url } = JSON.parse(answer.out.trim().split('\n').at(-1) ?? '') as { name: string; url: string };
    return new TestCluster(home, home.folder(name), url);
  }

  async down(...args: readonly string[]): Promise<Answer> {
    return this.home.run('down', '-y', '-n', this.folder.name, ...args);
  }

  get mantad(): number | undefined {
    return mantadOf(this.folder)?.pid;
  }

  get supervisor(): number | undefined {
    return supervisorOf(this.folder)?.pid;
  }

  /** Pids of the agents by instance, as their folders name them. */
  agents(): Map<string, number> {
    const found = new Map<string, number>();
    for (const { pid, command } of this.home.processes()) {
      const instance = /agent\/main\.ts .*\/instances\/(\S+)$/.exec(command)?.[1];
      if (instance !== undefined && command.includes(this.folder.path)) found.set(instance, pid);
    }
    return found;
  }

  /** One request as it is, no matter what comes of it. */
  request(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(120_000),
    });
  }

  /** Asks until mantad answers; only for what may be asked twice. */
  async ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
    return until(`${method} ${path} is answered`, async () => {
      try {
        const response = await this.request(method, path, body);
        const text = await response.text();
        const isJson = response.headers.get('content-type')?.includes('json') === true;
        return { status: response.status, body: isJson ? (JSON.parse(text) as unknown) : text };
      } catch {
        return undefined;
      }
    });
  }

  async get<T>(path: string): Promise<T> {
    const { status, body } = await this.ask('GET', `/api/manta/v1${path}`);
    if (status !== 200) throw new Error(`GET ${path} answered ${status}: ${JSON.stringify(body)}`);
    return body as T;
  }

  /** Submits under an id of its own, so that a lost answer is harmless. */
  async submit(job: Record<string, unknown>): Promise<Job> {
    const id = (job['id'] as string | undefined) ?? `job-${randomBytes(6).toString('hex')}`;
    const { status, body } = await this.ask('POST', '/api/manta/v1/jobs', { ...job, id });
    if (status !== 200) throw new Error(`the job was refused with ${status}: ${JSON.stringify(body)}`);
    return body as Job;
  }

  job(id: string): Promise<Job> {
    return this.get<Job>(`/jobs/${id}`);
  }

  async nodes(): Promise<readonly NodeAnswer[]> {
    return (await this.get<{ nodes: NodeAnswer[] }>('/nodes')).nodes;
  }

  async events(): Promise<readonly EventAnswer[]> {
    return (await this.get<{ events: EventAnswer[] }>('/events?limit=2000')).events;
  }

  /** The job once it is in one of these states. */
  reach(id: string, ...states: readonly Job['state'][]): Promise<Job> {
    return until(`job ${id} is ${states.join(' or ')}`, async () => {
      const job = await this.job(id);
      if (states.includes(job.state)) return job;
      if (over.includes(job.state))
        assert.fail(`job ${id} is ${job.state}, not ${states.join(' or ')}: ${job.message}`);
      return undefined;
    });
  }

  finish(id: string): Promise<Job> {
    return this.reach(id, ...over);
  }

  /** Every byte of an attempt's output. */
  async log(id: string, attempt: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let offset = 0; ; ) {
      const response = await this.request('GET', `/api/manta/v1/jobs/${id}/logs?attempt=${attempt}&offset=${offset}`);
      const bytes = Buffer.from(await response.arrayBuffer());
      if (bytes.length === 0) return Buffer.concat(pieces);
      pieces.push(bytes);
      offset = Number(response.headers.get('manta-next'));
    }
  }
}

const over: readonly Job['state'][] = ['succeeded', 'failed', 'stopped'];

export interface Raw {
  readonly status: number;
  readonly body: string;
}

/** A request with exactly these headers; `fetch` adds some of a browser's and hides `host`. */
export function raw(
  url: string,
  options: { method?: string; path?: string; headers?: Record<string, string>; body?: string | Buffer },
): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const { method = 'GET', path = '/', headers = {} } = options;
    // Within a URL an IPv6 address stands in brackets.
    const host = hostname.replace(/^\[|\]$/g, '');
    const sent = request({ host, port, path, method, headers }, (answer) => {
      const pieces: Buffer[] = [];
      answer.on('data', (piece: Buffer) => pieces.push(piece));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(pieces).toString() }));
      answer.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(options.body);
  });
}

/** Files below a folder, without it; sockets and links by their names too. */
export function filesIn(folder: string): string[] {
  return existsSync(folder) ? (readdirSync(folder, { recursive: true }) as string[]) : [];
}

/** What a process has open, each as `fd=target`; nothing of one that has gone. */
export function openFiles(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  const unlessGone = <T>(read: () => T): T | [] => {
    try {
      return read();
    } catch {
      return [];
    }
  };
  return unlessGone(() => readdirSync(folder)).flatMap((fd) =>
    unlessGone(() => `${fd}=${readlinkSync(join(folder, fd))}`),
  );
}

/** Local addresses of the sockets on which these processes listen, as `/proc/net` writes them. */
export function listening(pids: readonly number[]): string[] {
  const inodes = new Set(
    pids.flatMap((pid) => openFiles(pid).flatMap((file) => /^\d+=socket:\[(\d+)\]$/.exec(file)?.[1] ?? [])),
  );
  const found = ['tcp', 'tcp6', 'udp', 'udp6'].flatMap((kind) =>
    readFileSync(`/proc/net/${kind}`, 'latin1')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => (fields[3] === '0A' || kind.startsWith('udp')) && inodes.has(fields[9] ?? ''))
      .map((fields) => `${kind} ${fields[1]}`),
  );
  // The kernel may name a socket twice where others come and go while its list is read.
  return [...new Set(found)];
}

/** Random numbers from a seed: a failure is replayed by giving the seed again. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The seed of a run: from the environment, or made up and told. */
export function seedOf(t: TestContext, file: string, folder = 'test/head'): number {
  const seed = Number(process.env['MANTA_SEED'] ?? randomBytes(4).readUInt32LE());
  t.diagnostic(`seed ${seed}; replay with MANTA_SEED=${seed} node --test ${folder}/${file}`);
  return seed;
}

/** A cluster of workers with `cpus` CPUs each that come and go quickly. */
export function workersYaml(options: {
  readonly name?: string;
  readonly cpus?: number;
  readonly min?: number;
  readonly max?: number;
  readonly idleSeconds?: number;
  readonly extra?: string;
}): string {
  const { name = 'default', cpus = 8, min = 0, max = 2, idleSeconds = 60, extra = '' } = options;
  return `cluster_name: ${name}
provider:
  type: process
${extra.replace(/^(?=.)/gm, '  ')}
max_workers: ${max}
idle_timeout_minutes: ${idleSeconds / 60}
head_node_type: head
available_node_types:
  head:
    resources: {CPU: 0}
    node_config: {}
  worker:
    resources: {CPU: ${cpus}}
    min_workers: ${min}
    max_workers: ${max}
    node_config: {}
`;
}
