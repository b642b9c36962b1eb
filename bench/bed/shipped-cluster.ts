/** A cluster as it is shipped, from the bundle, in a place of its own; and a small client that keeps its connections. */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Measurement } from '../../scripts/bench.ts';
import { buildBundle } from '../../scripts/build.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

export interface ShippedCluster {
  /** The program, to be given to Node. */
  readonly manta: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly url: string;
  readonly token: string;
  /** Pid of its mantad. */
  readonly mantad: number;
  send(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly body: string }>;
  /** An open stream of server-sent events; ends when the function it returns is called. */
  follow(path: string, take: (event: string, data: string) => void): Promise<() => void>;
}

/** Starts a cluster of this file (or the built-in one), hands it to `work`, and ends it whatever happens. */
export async function withShippedCluster<T>(
  yaml: string | undefined,
  work: (cluster: ShippedCluster) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'manta-bench-'));
  const manta = join(folder, 'bin', 'manta');
  const env = { ...process.env, MANTA_HOME: join(folder, 'home') };
  const command = (...args: string[]) => run(process.execPath, [manta, ...args], { env, cwd: folder });
  try {
    await buildBundle(join(folder, 'dist'));
    cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true });
    cpSync(join(root, 'package.json'), join(folder, 'package.json'));
    if (yaml !== undefined) writeFileSync(join(folder, 'cluster.yaml'), yaml);
    const { stdout } = await command('--json', 'up', ...(yaml === undefined ? [] : ['cluster.yaml']));
    const started = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { url: string; folder: string };
    const serving = JSON.parse(readFileSync(join(started.folder, 'mantad.json'), 'utf8')) as {
      mantad: { pid: number };
    };
    const token = readFileSync(join(started.folder, 'tokens', 'owner'), 'utf8').trim();
    return await work({
      manta,
      env,
      url: started.url,
      token,
      mantad: serving.mantad.pid,
      ...clientOf(started.url, token),
    });
  } finally {
    await command('down', '-y').catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  }
}

function clientOf(url: string, token: string): Pick<ShippedCluster, 'send' | 'follow'> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const headers = { authorization: `Bearer ${token}` };
  const ask = (method: string, path: string, body: string | undefined, kept: boolean): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const sent = request(new URL(path, url), { method, headers, ...(kept && { agent }) }, resolve);
      sent.on('error', reject);
      sent.end(body);
    });
  return {
    async send(method, path, body) {
      const answer = await ask(method, path, body === undefined ? undefined : JSON.stringify(body), true);
      answer.setEncoding('utf8');
      let text = '';
      for await (const piece of answer) text += piece;
      return { status: answer.statusCode ?? 0, body: text };
    },
    async follow(path, take) {
      const answer = await ask('GET', path, undefined, false);
      answer.setEncoding('utf8');
      let rest = '';
      answer.on('error', () => {});
      answer.on('data', (piece: string) => {
        const messages = (rest + piece).split('\n\n');
        rest = messages.pop() ?? '';
        for (const message of messages) {
          const field = (name: string): string => new RegExp(`^${name}: ?(.*)$`, 'm').exec(message)?.[1] ?? '';
          take(field('event'), field('data'));
        }
      });
      return () => answer.destroy();
    },
  };
}

export function percentile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** One line with a goal. */
export const held = (name: string, ours: string, goal: string, reached: boolean): Measurement => ({
  name,
  ours,
  goal,
  reached,
});

/** Processor seconds and resident megabytes of a process. */
export function costOf(pid: number): { readonly seconds: number; readonly megabytes: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
  const resident = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  return { seconds: (Number(fields[11]) + Number(fields[12])) / 100, megabytes: Number(resident) / 1000 };
}

/** For a benchmark that is run by itself. */
export function show(measured: readonly Measurement[]): void {
  for (const { name, ours, theirs, ratio, goal, reached } of measured) {
    const beside =
      theirs === undefined ? '' : ` beside ${theirs}${ratio === undefined ? '' : ` (ratio ${ratio.toPrecision(3)})`}`;
    const verdict = goal === undefined ? '' : `; goal ${goal}: ${reached ? 'reached' : 'MISSED'}`;
    process.stdout.write(`${name}: ${ours}${beside}${verdict}\n`);
  }
}
