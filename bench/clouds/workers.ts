/**
 * Clusters of 30 `min_workers`, which are asked for as soon as the head can, and ended again. The fake's log is the judge: it
 * tells when each call arrived, and how many there were.
 */
import type { CallRecord } from '../../lab/cloud/call-log.ts';
import type { Measurement } from '../../scripts/bench.ts';
import { median, note, seconds } from '../launcher/bed.ts';
import { type CloudBench, givenLaunches, type SideName } from './bed.ts';
import { atLeast, beside } from './beside.ts';

const workers = 30;
const timed = 20;
const askedWithin = 300_000;

/** Calls that change an instance. */
const changing: ReadonlySet<CallRecord['call']> = new Set(['launch', 'terminate', 'tag']);

interface Seen {
  /**
   * From the call that launches the head to the call that asks for the 20th worker: the same two points on all sides. What
   * lies between them is a head that boots, is set up and starts Ray and an autoscaler.
   */
  readonly asked: number;
  /** About instances, from the first worker to the end of `down`, those of the head's autoscaler among them. */
  readonly calls: number;
  /** Those of them that change something. */
  readonly changing: number;
  /** Until the call that ends the last instance arrived. */
  readonly ordered: number;
  readonly down: number;
}

export async function measureWorkers(bench: CloudBench): Promise<Measurement[]> {
  const manta: Seen[] = [];
  const rays: Seen[] = [];
  // v2, which is Ray's default, takes minutes; `ray down` is the same for both.
  for (const ray of ['ray', 'ray v1'] as const) {
    manta.push(await watch(bench, 'manta'));
    rays.push(await watch(bench, ray));
  }
  const [v2, v1] = rays as [Seen, Seen];
  const each = (count: number): string => (count / workers).toFixed(2);
  const of = (part: keyof Seen, ray: readonly Seen[], as: (value: number) => string) => {
    const middle = (all: readonly Seen[]): number => median(all.map((one) => one[part]));
    return { manta: middle(manta), ray: middle(ray), as };
  };
  const { name, goals } = bench.benched;
  const what = `${name}: launch of the head until ${timed} \`min_workers\` are asked for`;
  return [
    atLeast(goals.requested, what, of('asked', [v2], seconds)),
    beside(`${what}, against Ray's older autoscaler (v1)`, of('asked', [v1], seconds)),
    atLeast(
      goals.calls,
      `${name}: calls for each of ${workers} instances, made, tagged, looked at and ended`,
      of('calls', [v2], each),
    ),
    beside(`${name}: those of them that change something`, of('changing', [v2], each)),
    atLeast(goals.down, `${name}: \`down\` of ${workers}`, of('down', rays, seconds)),
    beside(`${name}: \`down\` of ${workers}, until the last of them was ordered to end`, of('ordered', rays, seconds)),
  ];
}

async function watch(bench: CloudBench, side: SideName): Promise<Seen> {
  const cluster = await bench.cluster(side, workers);
  await cluster.up();
  await cluster.askedFor(workers, askedWithin);
  const began = Date.now();
  const down = await cluster.down();
  const all = await cluster.calls();
  const [head, ...launches] = givenLaunches(all);
  const asked = launches.flatMap(({ at, instances = [] }) => instances.map(() => at - head!.at));
  const calls = all.filter(
    ({ at, operation = '' }) => at >= launches[0]!.at && bench.benched.aboutInstances.test(operation),
  );
  const ends = calls.filter(({ call }) => call === 'terminate');
  note(`${workers} workers, ${side}: ${stepsOf(launches, head!.at)}; ${countsOf(calls)}; down ${seconds(down)}`);
  return {
    asked: asked[timed - 1]!,
    calls: calls.length,
    changing: calls.filter(({ call }) => changing.has(call)).length,
    ordered: Math.max(...ends.map(({ at }) => at)) - began,
    down,
  };
}

const stepsOf = (launches: readonly CallRecord[], from: number): string =>
  launches.map(({ at, instances = [] }) => `${instances.length} after ${seconds(at - from)}`).join(', ');

function countsOf(calls: readonly CallRecord[]): string {
  const names = Map.groupBy(calls, ({ operation = '' }) => operation);
  return [...names].map(([name, some]) => `${some.length} ${name}`).join(', ');
}
