import type { GangDemand, Request, TaskDemand } from '../demand.ts';
import { type LabelSelector, type Resources, sumResources } from '../resources.ts';
import { asksForNothing, shapeOf } from './choose.ts';
import type { Job } from './job.ts';
import { parseSelector } from './labels.ts';

/**
 * What the waiting jobs of one user may ask for at once, as characters of their shapes: it is looked through at every pass
 * of the autoscaler. Tens of thousands of plain requests fit, and about eighty gangs of a thousand bundles.
 */
const mostAsked = 1 << 20;

/**
 * Waiting jobs as demand, in the order in which they may start: equal ones counted together, each gang by itself. Jobs that
 * run on the head need no node. What a user asks for beyond the limit follows when jobs before it have started.
 */
export function demandOf(jobs: readonly Job[]): {
  readonly tasks: readonly TaskDemand[];
  readonly gangs: readonly GangDemand[];
} {
  const tasks = new Map<string, { request: Request; count: number }>();
  const gangs: GangDemand[] = [];
  const asked = new Map<string, number>();
  for (const job of jobs) {
    if (asksForNothing(job)) continue;
    const shape = shapeOf(job);
    const known = tasks.get(shape);
    if (known) {
      known.count += 1;
      continue;
    }
    const together = (asked.get(job.user) ?? 0) + shape.length;
    if (together > mostAsked) continue;
    asked.set(job.user, together);
    if (job.gang) gangs.push(gangOf(job, job.gang));
    else tasks.set(shape, { request: requestOf(job.resources, selectorsOf(job), []), count: 1 });
  }
  return { tasks: [...tasks.values()], gangs };
}

function gangOf(job: Job, gang: NonNullable<Job['gang']>): GangDemand {
  const selectors = selectorsOf(job);
  const bundles = gang.strategy === 'STRICT_PACK' ? [sumResources(gang.bundles)] : gang.bundles;
  const placement =
    gang.strategy === 'STRICT_SPREAD' ? [{ kind: 'apart' as const, label: 'manta.job', value: job.id }] : [];
  return {
    id: job.id,
    requests: bundles.map((bundle) => requestOf(bundle, selectors, placement)),
    details: `${gang.strategy} for job ${job.id}`,
  };
}

const requestOf = (
  resources: Resources,
  selectors: readonly LabelSelector[],
  placement: Request['placement'],
): Request => ({ resources, selectors, placement });

function selectorsOf(job: Job): readonly LabelSelector[] {
  const selector = parseSelector(job.labels) ?? [];
  return selector.length > 0 ? [selector] : [];
}
