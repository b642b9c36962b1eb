/**
 * Clusters of 30 `min_workers`, which are asked for as soon as the head can, and ended again. The fake's log is the judge: it
 * tells when each call arrived, and how many there were.
 */
import type { CallRecord } from '../../lab/cloud/call-log.ts';
import type { Measurement } from '../../scripts/bench.ts';
import { median, note, seconds } from '../launcher/bed.ts';
import type { AwsBench, SideName } from './bed.ts';
import { atLeast, beside } from './beside.ts';

const workers = 30;
const timed = 20;
const askedWithin = 300_000;

const aboutInstances =
  /^(RunInstances|TerminateInstances|CreateTags|Describe(Instances|InstanceStatus|Tags|SpotInstanceRequests))$/;
const changes = /^(RunInstances|TerminateInstances|CreateTags)$/;

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

export async function measureWorkers(bench: AwsBench): Promise<Measurement[]> {
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
  const what = `launch of the head until ${timed} \`min_workers\` are asked for`;
  return [
    atLeast(10, what, of('asked', [v2], seconds)),
    beside(`${what}, against Ray's older autoscaler (v1)`, of('asked', [v1], seconds)),
    atLeast(3, `calls for each of ${workers} instances, made, tagged, looked at and ended`, of('calls', [v2], each)),
    beside('those of them that change something', of('changing', [v2], each)),
    atLeast(2, `\`down\` of ${workers}`, of('down', rays, seconds)),
    beside(`\`down\` of ${workers}, until the last of them was ordered to end`, of('ordered', rays, seconds)),
  ];
}

async function watch(bench: AwsBench, side: SideName): Promise<Seen> {
  const cluster = await bench.cluster(side, workers);
  await cluster.up();
  await cluster.askedFor(workers, askedWithin);
  const began = Date.now();
  const down = await cluster.down();
  const all = await cluster.calls();
  const [head, ...launches] = all.filter(({ operation, status }) => operation === 'RunInstances' && status === 200);
  const asked = launches.flatMap(({ at, instances = [] }) => instances.map(() => at - head!.at));
  const calls = all.filter(({ at, operation = '' }) => at >= launches[0]!.at && aboutInstances.test(operation));
  const ends = calls.filter(({ operation }) => operation === 'TerminateInstances');
  note(`${workers} workers, ${side}: ${stepsOf(launches, head!.at)}; ${countsOf(calls)}; down ${seconds(down)}`);
  return {
    asked: asked[timed - 1]!,
    calls: calls.length,
    changing: calls.filter(({ operation = '' }) => changes.test(operation)).length,
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
