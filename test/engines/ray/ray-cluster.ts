/** A Ray of the test's own, inside namespaces of its own: see `contract.test.ts`. */

import type { ChildProcess } from 'node:child_process';
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { findMarked, markOf, markVariable, sendSignal } from '../../../src/base/process.ts';
import { wallClock } from '../../../src/base/time/wall-clock.ts';
import { jobStopWait } from '../../../src/bringup/ray/settings.ts';
import { RayEngine, type RayEngineOptions } from '../../../src/engines/ray/engine.ts';
import type { AttemptOrder } from '../../../src/engines/runner.ts';
import { never, until } from '../../contract/waiting.ts';

export const python = process.env.MANTA_RAY_PYTHON ?? 'python3';
export const folder = mkdtempSync(join(tmpdir(), 'mr-'));
export const token = randomBytes(32).toString('hex');
const address = '127.0.0.1:6379';
export const dashboard = 'http://127.0.0.1:8265';
export const env = {
  ...process.env,
  HOME: folder,
  RAY_AUTH_MODE: 'token',
  RAY_AUTH_TOKEN: token,
  RAY_enable_autoscaler_v2: '1',
  RAY_gcs_pull_resource_loads_period_milliseconds: '100',
  // A raylet that was killed is known to be dead after five seconds, not after fifteen.
  RAY_health_check_period_ms: '1000',
  RAY_health_check_failure_threshold: '5',
  // A dashboard whose parts take longer than half a minute ends itself, and no job can be submitted then.
  RAY_DASHBOARD_SUBPROCESS_MODULE_WAIT_READY_TIMEOUT: '180',
  // As Manta starts Ray.
  RAY_JOB_STOP_WAIT_TIME_S: jobStopWait,
  RAY_ADDRESS: address,
};

let made = 0;
let logs = 0;

/** An order that asks for nothing; its log is a folder of its own. */
export function orderOf(id: string, entrypoint: string, more: Partial<AttemptOrder> = {}): AttemptOrder {
  const [, job = id, number = '1'] = /^(.+)\.(\d+)$/.exec(id) ?? [];
  return {
    id,
    job,
    number: Number(number),
    entrypoint,
    env: {},
    own: { MANTA_JOB_ID: job, MANTA_JOB_ATTEMPT: number },
    metadata: {},
    setup: [],
    environment: {},
    resources: {},
    labels: {},
    log: join(folder, 'logs', `${logs++}`),
    ...more,
  };
}

/** Options of an engine with a folder of its own. */
export function engineOptions(more: Partial<RayEngineOptions> = {}): RayEngineOptions {
  return { address, token, dashboard, clock: wallClock, folder: join(folder, `engine-${made++}`), ...more };
}

export const openEngine = (more: Partial<RayEngineOptions> = {}): Promise<RayEngine> =>
  RayEngine.open(engineOptions(more), never);

export const rayProgram = join(dirname(python), 'ray');

const small = ['--disable-usage-stats', '--object-store-memory', '80000000'];

export function startHead(resources: object, cpus: number): void {
  const args = ['start', '--head', '--no-monitor', '--node-ip-address', '127.0.0.1', '--port', '6379'];
  const more = ['--dashboard-host', '127.0.0.1', ...small, '--num-cpus', String(cpus)];
  execFileSync(rayProgram, [...args, ...more, '--temp-dir', folder, '--resources', JSON.stringify(resources)], {
    env: { ...env, RAY_ADDRESS: '', RAY_CLOUD_INSTANCE_ID: 'head-1', RAY_NODE_TYPE_NAME: 'head' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** Starts a worker as another machine of the loopback network; again when Ray gives up, as it does on a busy machine. */
export function startWorker(name: string, host: string, cpus: number, zone: string): void {
  // Every loopback address can be bound to, and Ray's agents also bind to the first.
  const port = String(52_400 + Number(host.split('.').at(-1)));
  const args = ['start', '--block', '--address', address, '--node-ip-address', host, '--num-cpus', String(cpus)];
  const worker = spawn(
    rayProgram,
    [...args, ...small, '--labels', `zone=${zone}`, '--dashboard-agent-listen-port', port],
    {
      env: {
        ...env,
        RAY_ADDRESS: '',
        RAY_CLOUD_INSTANCE_ID: name,
        RAY_NODE_TYPE_NAME: 'two',
        [markVariable]: markOf(name),
      },
      stdio: ['ignore', 'ignore', 'inherit'],
      detached: true,
    },
  );
  worker.on('exit', (code) => {
    if (code) startWorker(name, host, cpus, zone);
  });
}

/** A power cut: everything of that machine is gone at once. */
export function killWorker(name: string): void {
  for (const pid of findMarked(name)) sendSignal(pid, 'SIGKILL');
}

/** A machine that goes down in order: the entrypoint is asked to end, then the raylet, and all is gone seconds later. */
export function shutWorker(name: string, entrypoint: string): void {
  const words = new Map(findMarked(name).map((pid) => [pid, commandOf(pid)]));
  const send = (signal: NodeJS.Signals, word: string): void => {
    for (const [pid, its] of words) if (its.includes(word)) sendSignal(pid, signal);
  };
  // Otherwise it ends with an error, and is started anew.
  send('SIGSTOP', '--block');
  send('SIGTERM', entrypoint);
  setTimeout(() => send('SIGTERM', '/raylet\0'), 500);
  setTimeout(() => killWorker(name), 3_000);
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

export async function ready(engine: RayEngine, instance: string): Promise<void> {
  await until(`${instance} is ready`, () => engine.ready(instance, never).catch(() => false));
}

/** A Python driver that makes load on request; see `driver.py`. */
export class Driver {
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

export function removeFolder(): void {
  rmSync(folder, { recursive: true, force: true });
}
