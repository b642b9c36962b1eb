import { jobProgress } from '../core/kube/job-progress.ts';
import type { Json } from '../core/kube/object.ts';
import { progressOf } from '../core/kube/progress.ts';
import { serviceProgress } from '../core/kube/service-progress.ts';
import type { Headway } from '../core/progress.ts';
import { clustersOf, type KubeTarget, podsOf } from './target.ts';
import { lookAtCluster } from './wait-cluster.ts';
import { lookAtJob } from './wait-job.ts';
import { lookAtService } from './wait-service.ts';

/** A RayCluster behind a target. */
export interface ClusterPods {
  readonly name: string;
  readonly role: 'active' | 'pending';
  readonly pods: readonly Json[];
}

export interface TargetState {
  readonly progress: Headway;
  readonly clusters: readonly ClusterPods[];
}

/** Looks at what `kube:NAME` means and at its clusters; with `--pending` at that one alone. */
export async function lookAtTarget(target: KubeTarget, signal: AbortSignal): Promise<TargetState> {
  const { active, pending } = clustersOf(target);
  const roles = [...(target.isPending ? [] : [['active', active] as const]), ['pending', pending] as const];
  const [progress, clusters] = await Promise.all([
    progressOfTarget(target, signal),
    Promise.all(
      roles.flatMap(([role, name]) =>
        name === undefined ? [] : [podsOf(target, name, signal).then((pods) => ({ name, role, pods }))],
      ),
    ),
  ]);
  return { progress, clusters };
}

async function progressOfTarget(target: KubeTarget, signal: AbortSignal): Promise<Headway> {
  const { kind, name } = target;
  const place = { ...target, signal };
  if (kind === 'RayService') return serviceProgress(await lookAtService(place, name));
  if (kind === 'RayJob') return jobProgress(await lookAtJob(place, name));
  return progressOf({ ...(await lookAtCluster(place, name)), isReplaced: false });
}
