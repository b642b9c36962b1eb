import type { InstanceView } from '../instance.ts';
import type { Pass } from './pass.ts';
import type { EndReason, Terminate } from './plan.ts';

/** Whether the machine of an idle worker is kept for the next launch: what is on spot is not, and hosts of a slice are not. */
export const isKept = ({ spec, policy }: Pass, { kind, market, slice }: InstanceView): boolean =>
  policy.like === 'manta' && spec.stopsIdle === true && kind === 'worker' && market !== 'spot' && slice === undefined;

/** Ends instances whose machines are stopped, and which no launch will start: they only cost. */
export function endStopped(pass: Pass): Terminate[] {
  const ends: Terminate[] = [];
  const kept = new Map<string, number>();
  // The last to stop is the likeliest to be of use.
  const workers = pass.stopped.filter(({ kind }) => kind === 'worker').toSorted((a, b) => b.since - a.since);
  for (const instance of workers) {
    const because = useless(pass, instance, kept);
    if (because !== undefined) ends.push({ kind: 'terminate', instance: instance.id, because });
    else kept.set(instance.type, (kept.get(instance.type) ?? 0) + 1);
  }
  return ends;
}

function useless(pass: Pass, instance: InstanceView, kept: ReadonlyMap<string, number>): EndReason | undefined {
  const type = pass.spec.nodeTypes.find(({ name }) => name === instance.type);
  if (type === undefined) return { kind: 'type-removed' };
  if (!isKept(pass, instance)) return { kind: 'not-kept' };
  if (type.launchHash !== '' && type.launchHash !== (instance.launchHash ?? type.launchHash))
    return { kind: 'outdated' };
  // A launch under way may be about to start any of them.
  if (pass.bins.some(({ instance: other }) => other?.type === type.name && other.status === 'requested'))
    return undefined;
  const ofAll = [...kept.values()].reduce((sum, count) => sum + count, 0);
  if ((kept.get(type.name) ?? 0) >= type.maxWorkers) return { kind: 'type-limit', max: type.maxWorkers };
  if (pass.spec.maxWorkers !== undefined && ofAll >= pass.spec.maxWorkers)
    return { kind: 'cluster-limit', max: pass.spec.maxWorkers };
  return undefined;
}
