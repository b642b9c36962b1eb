/**
 * Many hosts whose set-up only sleeps, beside few of them: what is left is what Manta itself takes. The head runs real
 * Ray, the workers a stand-in for a raylet that joins nothing, because so many Rays would measure the machine alone.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LabHost } from '../../lab/lab.ts';
import type { Measurement } from '../../scripts/bench.ts';
import { type ClusterBed, eventually, smallRay } from '../../test/lab/cluster-bed.ts';
import { clusterName, freshen, median, note, openBed, rounds, seconds } from './bed.ts';
import { memoryOf, spentByCommands, spentOn } from './cost.ts';

const [few, many] = [4, 32];
const standIn = '/root/stand-in/raylet';
const started = '/root/started';

interface Run {
  readonly up: number;
  readonly down: number;
  /** Processor milliseconds of each worker's host, of the head, and of the laptop. */
  readonly worker: number;
  readonly head: number;
  readonly laptop: number;
  /** Mebibytes while the set-up runs: of all that SSH and the step take on a worker, and of the connections on the head. */
  readonly workerMemory: number;
  readonly headMemory: number;
}

export async function measureMany(): Promise<Measurement[]> {
  const bed = await openBed(many);
  const runs = { [few]: [] as Run[], [many]: [] as Run[] };
  try {
    for (let round = 0; round <= rounds; round++)
      for (const count of [few, many]) {
        const run = await measureHosts(bed, count);
        note(
          `${round === 0 ? 'warm-up' : `round ${round}`}, ${count} hosts: up ${seconds(run.up)}, down ${seconds(run.down)}; ` +
            `processor ms: ${run.worker.toFixed(0)} a worker, ${run.head.toFixed(0)} head, ${run.laptop.toFixed(0)} laptop; ` +
            `MiB: ${run.workerMemory.toFixed(1)} a worker, ${run.headMemory.toFixed(1)} connections on the head`,
        );
        if (round > 0) runs[count]!.push(run);
      }
  } finally {
    await bed.close();
  }
  const of = (count: number, key: keyof Run): number => median(runs[count]!.map((run) => run[key]));
  const beside = (key: 'up' | 'down'): Measurement => {
    const ratio = of(many, key) / of(few, key);
    return {
      name: `launcher: \`${key}\` of ${many} hosts${key === 'up' ? ' that sleep 10 s' : ''}, against ${few}`,
      ours: seconds(of(many, key)),
      theirs: seconds(of(few, key)),
      ratio,
      goal: 'at most 1.5',
      reached: ratio <= 1.5,
    };
  };
  // What a further host costs where all are brought up from: real Ray on the head and one Node each are in both.
  const further = (key: keyof Run): number => (of(many, key) - of(few, key)) / (many - few);
  return [
    beside('up'),
    beside('down'),
    {
      name: 'launcher: processor time of a further host, up and down',
      ours: `${of(many, 'worker').toFixed(0)} ms there, ${further('head').toFixed(0)} ms head, ${further('laptop').toFixed(0)} ms laptop`,
    },
    {
      name: 'launcher: memory of a host while it is set up',
      ours: `${of(many, 'workerMemory').toFixed(1)} MiB there, ${further('headMemory').toFixed(1)} MiB on the head`,
    },
  ];
}

async function measureHosts(bed: ClusterBed, count: number): Promise<Run> {
  await freshen(bed);
  const workers = bed.workers.slice(0, count - 1);
  for (const host of workers) {
    mkdirSync(join(host.root, '/root/stand-in'), { recursive: true });
    writeFileSync(join(host.root, standIn), '#!/bin/sh\nsleep 3600\n', { mode: 0o755 });
    rmSync(join(host.root, started), { force: true });
  }
  bed.write('many.yaml', yaml(bed.head, workers));
  const before = spent(bed, workers);
  const idle = workers.map((host) => memoryOf(host));

  const began = Date.now();
  const up = bed.manta(['up', '-y', '--no-wait', 'many.yaml']);
  up.catch(() => {});
  const setUp = async (): Promise<{ worker: number; head: number }> => {
    await eventually('every worker sleeps', () => workers.every((host) => has(host, /^sleep 10$/)), 120_000);
    const there = workers.map((host, at) => memoryOf(host) - idle[at]!);
    return { worker: median(there), head: memoryOf(bed.head, /^ssh:|^ssh /) };
  };
  // With a machine that is too slow for it they never all sleep at once: then the memory is unknown, and the time counts.
  const taken = setUp().catch(() => ({ worker: Number.NaN, head: Number.NaN }));
  const times = await eventually('every worker is up', () => {
    const all = workers.map((host) => join(host.root, started));
    return all.every((path) => existsSync(path)) && all.map((path) => Number(readFileSync(path, 'utf8')) / 1e6);
  });
  await up;
  const { worker: workerMemory, head: headMemory } = await taken;
  const downBegan = performance.now();
  await bed.manta(['down', '-y', 'many.yaml']);
  const down = performance.now() - downBegan;
  const left = workers.filter((host) => has(host, /raylet/));
  if (left.length > 0) throw new Error(`down left a stand-in on ${left.map(({ name }) => name).join(', ')}`);
  const after = spent(bed, workers);
  return {
    up: Math.max(...times) - began,
    down,
    worker: median(after.workers.map((value, at) => value - before.workers[at]!)),
    head: after.head - before.head,
    laptop: after.laptop - before.laptop,
    workerMemory,
    headMemory,
  };
}

const yaml = (head: LabHost, workers: readonly LabHost[]): string => `cluster_name: ${clusterName}
provider: {type: local, head_ip: ${head.address}, worker_ips: [${workers.map((each) => each.address).join(', ')}]}
auth: {ssh_user: root, ssh_private_key: ~/.ssh/id_ed25519}
setup_commands: [sleep 10]
head_start_ray_commands:
  - ray stop
  - ray start --head --port=6379 ${smallRay}
worker_start_ray_commands:
  - nohup ${standIn} --session-name=session_stand_in >/dev/null 2>&1 & date +%s%N >${started}
`;

const has = (host: LabHost, pattern: RegExp): boolean =>
  host.processes().some(({ command }) => pattern.test(command.join(' ')));

function spent(bed: ClusterBed, workers: readonly LabHost[]): { workers: number[]; head: number; laptop: number } {
  return { workers: workers.map(spentOn), head: spentOn(bed.head), laptop: spentOn(bed.laptop) + spentByCommands() };
}
