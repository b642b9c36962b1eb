/** The embedded engine alone: how fast work starts, ends, and is found again by a head that came back. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Measurement } from '../scripts/bench.ts';
import { EmbeddedEngine } from '../src/engines/embedded/engine.ts';
import { agentCommand } from '../src/engines/embedded/paths.ts';
import type { AttemptOrder } from '../src/engines/runner.ts';
import { ProcessProvider } from '../src/providers/process/provider.ts';
import { readProcess } from '../src/providers/process/record.ts';

const signal = new AbortController().signal;
const clock = { now: () => Date.now(), sleep: (time: number) => sleep(time) };

export async function run(): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'manta-bench-'));
  const provider = new ProcessProvider({
    folder: join(folder, 'instances'),
    agent: agentCommand(folder),
    typeOf: () => ({ resources: { CPU: 1000 }, labels: {} }),
    clock,
  });
  const engine = await EmbeddedEngine.open({ folder, clock });
  try {
    const launched = performance.now();
    const [instance] = await launch(provider, 1);
    while ((await engine.state(signal)).nodes.length === 0) await sleep(1);
    const boot = performance.now() - launched;

    const starts = await measureStarts(engine, folder, 200);
    const many = await measureMany(engine, folder, 300);
    const idle = await measureIdle(join(folder, 'instances', instance ?? ''));
    const adopted = await measureAdoption(provider, engine, folder);
    return [
      line('embedded: launch to registered node', `${boot.toFixed(0)} ms`),
      line('embedded: start to running, p50', `${starts.p50.toFixed(1)} ms`, 'at most 50 ms', starts.p50 <= 50),
      line('embedded: start to running, p99', `${starts.p99.toFixed(1)} ms`, 'at most 250 ms', starts.p99 <= 250),
      line('embedded: short attempts, 8 at a time', `${many.toFixed(0)} a second`),
      line('embedded: 8 agents and 40 attempts found again', `${adopted.toFixed(0)} ms`),
      line('embedded: idle agent', `${idle.cpu.toFixed(2)} % of a core, ${idle.memory.toFixed(0)} MB`),
    ];
  } finally {
    engine.close();
    const instances = await provider.list(signal);
    await provider.terminate(
      instances.map((each) => each.id),
      signal,
    );
    await provider.settled();
    rmSync(folder, { recursive: true, force: true });
  }
}

const line = (name: string, ours: string, goal?: string, reached?: boolean): Measurement => ({
  name,
  ours,
  ...(goal === undefined ? {} : { goal }),
  ...(reached === undefined ? {} : { reached }),
});

async function launch(provider: ProcessProvider, count: number): Promise<string[]> {
  const request = { token: `bench-${count}`, type: 'wide', count, market: 'on-demand' as const, tags: {} };
  return (await provider.launch(request, signal)).map((each) => each.id);
}

function order(folder: string, id: string, entrypoint: string): AttemptOrder {
  const log = join(folder, 'logs', id);
  const plain = { id, job: id, number: 1, own: {}, metadata: {}, environment: {}, env: {}, setup: [], labels: {} };
  return { ...plain, entrypoint, resources: { CPU: 1 }, log };
}

/** Resolves at each state of an attempt. */
function reaches(engine: EmbeddedEngine, id: string, state: string): Promise<void> {
  return new Promise((resolve) => {
    const leave = engine.watch((report) => {
      if (report.id !== id || report.state !== state) return;
      leave();
      resolve();
    });
  });
}

async function measureStarts(engine: EmbeddedEngine, folder: string, count: number) {
  const times: number[] = [];
  for (let index = 0; index < count; index++) {
    const id = `start-${index}`;
    const [running, ended] = [reaches(engine, id, 'running'), reaches(engine, id, 'ended')];
    const begin = performance.now();
    await engine.start(order(folder, id, 'true'), signal);
    await running;
    times.push(performance.now() - begin);
    await ended;
    await engine.forget(id, signal);
  }
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50: at(0.5), p99: at(0.99) };
}

async function measureMany(engine: EmbeddedEngine, folder: string, count: number): Promise<number> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) {
      const ended = reaches(engine, `many-${index}`, 'ended');
      await engine.start(order(folder, `many-${index}`, 'true'), signal);
      await ended;
      await engine.forget(`many-${index}`, signal);
    }
  };
  const begin = performance.now();
  await Promise.all(Array.from({ length: 8 }, worker));
  return count / ((performance.now() - begin) / 1000);
}

async function measureIdle(instanceFolder: string): Promise<{ cpu: number; memory: number }> {
  const pid = readProcess(instanceFolder)?.pid ?? 0;
  if (process.platform !== 'linux') return { cpu: Number.NaN, memory: Number.NaN };
  const ticks = (): number => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
    return Number(fields[11]) + Number(fields[12]);
  };
  const before = ticks();
  await sleep(5_000);
  const memory = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  return { cpu: (ticks() - before) / 5, memory: Number(memory) / 1000 };
}

async function measureAdoption(provider: ProcessProvider, engine: EmbeddedEngine, folder: string): Promise<number> {
  await launch(provider, 7);
  while ((await engine.state(signal)).nodes.length < 8) await sleep(5);
  for (let index = 0; index < 40; index++) {
    const running = reaches(engine, `adopt-${index}`, 'running');
    await engine.start(order(folder, `adopt-${index}`, 'sleep 1000'), signal);
    await running;
  }
  engine.close();
  const begin = performance.now();
  const fresh = await EmbeddedEngine.open({ folder, clock });
  const time = performance.now() - begin;
  const found = (await fresh.attempts(signal)).filter((report) => report.state === 'running').length;
  fresh.close();
  if (found !== 40) throw new Error(`only ${found} of 40 attempts were found again`);
  return time;
}
