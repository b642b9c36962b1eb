/** Short commands, Manta's and Ray's in turns, on one cluster that both know. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Measurement } from '../../scripts/bench.ts';
import type { ClusterBed } from '../../test/lab/cluster-bed.ts';
import { program } from '../../test/lab/cluster-bed.ts';
import { costOf } from '../bed/shipped-cluster.ts';
import { clusterYaml, file, freshen, median, note, openBed, timeCommand, timeUp, ways } from './bed.ts';

const rounds = 7;
const idleFor = 15_000;

interface Pair {
  readonly name: string;
  readonly ours: readonly string[];
  readonly theirs: readonly string[];
  readonly most: number;
  readonly goal: string;
  /** Every connection that is kept for the next command is ended first, on both sides. */
  readonly cold?: boolean;
}

const pairs: readonly Pair[] = [
  {
    name: '`exec true`, nothing connected',
    ours: [program, 'exec', file, 'true'],
    theirs: ['ray', 'exec', file, 'true'],
    most: 1 / 3,
    goal: 'at most 1/3',
    cold: true,
  },
  {
    name: '`exec true`, connection kept by both',
    ours: [program, 'exec', file, 'true'],
    theirs: ['ray', 'exec', file, 'true'],
    most: 1 / 10,
    goal: 'at most 1/10',
  },
  {
    name: '`get-head-ip`',
    ours: [program, 'get-head-ip', file],
    theirs: ['ray', 'get-head-ip', file],
    most: 1 / 10,
    goal: 'at most 1/10',
  },
  { name: '`--help`', ours: [program, '--help'], theirs: ['ray', '--help'], most: 1 / 10, goal: 'at most 1/10' },
];

/** Manta leaves Ray's own tags of what it has started, so that both can speak to the same cluster. */
export async function measureCommands(): Promise<Measurement[]> {
  const bed = await openBed(1);
  try {
    bed.write(file, clusterYaml(bed));
    await freshen(bed);
    await timeUp(bed, ways(bed)[0]!);
    const measured: Measurement[] = [];
    for (const pair of pairs) measured.push(await measurePair(bed, pair));
    measured.push(await measureIdle(bed));
    return measured;
  } finally {
    await bed.close();
  }
}

async function measurePair(bed: ClusterBed, { name, ours, theirs, most, goal, cold }: Pair): Promise<Measurement> {
  const times = { ours: [] as number[], theirs: [] as number[] };
  for (let round = 0; round <= rounds; round++) {
    if (cold) await endConnections(bed);
    const mine = await timeCommand(bed, ours);
    if (cold) await endConnections(bed);
    const rays = await timeCommand(bed, theirs);
    if (round === 0) continue;
    times.ours.push(mine);
    times.theirs.push(rays);
  }
  const [mine, rays] = [median(times.ours), median(times.theirs)];
  note(`${name}: ${mine.toFixed(0)} ms beside ${rays.toFixed(0)} ms`);
  return {
    name: `launcher: ${name}, against Ray's`,
    ours: `${mine.toFixed(0)} ms`,
    theirs: `${rays.toFixed(0)} ms`,
    ratio: mine / rays,
    goal,
    reached: mine / rays <= most,
  };
}

/** What mantad takes on the head of a cluster in which nothing happens. */
async function measureIdle({ head }: ClusterBed): Promise<Measurement> {
  const { pid = 0 } = head.processes().find(({ command }) => command.some((word) => word.endsWith('/mantad.js'))) ?? {};
  const before = costOf(pid);
  await sleep(idleFor);
  const after = costOf(pid);
  const share = ((after.seconds - before.seconds) * 1_000) / idleFor;
  return {
    name: 'launcher: mantad beside an idle Ray',
    ours: `${(share * 100).toFixed(1)} % of a core, ${after.megabytes.toFixed(0)} MB`,
  };
}

const endConnections = (bed: ClusterBed): Promise<string> =>
  bed.laptop.must(
    'find ~/.manta/clusters /tmp/ray_ssh_* -type s 2>/dev/null | while read -r s; do ssh -S "$s" -O exit any 2>/dev/null; done; :',
  );
