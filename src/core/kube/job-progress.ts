import type { Cause, Headway } from '../progress.ts';
import { freshWarnings, podsCause, refusalCause, type Surroundings, unnoticed } from './causes.ts';
import { dig, type Json, listAt, nameOf, textAt } from './object.ts';
import { kueueQueueOf } from './owners.ts';
import { clusterCause, waitsInQueue } from './progress.ts';

/** A RayJob and what stands around it, at one instant. */
export interface RayJobState extends Surroundings {
  readonly job: Json;
  /** The RayCluster that it runs on, once there is one. */
  readonly cluster: Json | undefined;
}

/** A RayJob is up when its entrypoint runs; how it ends is another question, which `kube apply` does not wait for. */
export function jobProgress(state: RayJobState): Headway {
  const { job } = state;
  const deployment = textAt(job, 'status', 'jobDeploymentStatus') ?? '';
  const status = textAt(job, 'status', 'jobStatus') ?? '';
  if (deployment === 'Complete' || status === 'SUCCEEDED') return { state: 'done', says: 'the job has succeeded' };
  if (status === 'STOPPED') return { state: 'done', says: 'the job was stopped' };
  if (deployment === 'Failed' || deployment === 'ValidationFailed' || status === 'FAILED')
    return { state: 'waiting', says: 'failed', cause: failure(state) };
  if (status === 'RUNNING') return { state: 'done', says: 'the job runs' };
  if (deployment === 'Waiting') return { state: 'done', says: "the cluster is up and waits for 'ray job submit'" };
  if (deployment === 'Suspended') {
    const queue = kueueQueueOf(job);
    if (queue === undefined) return { state: 'done', says: 'suspended' };
    return { state: 'waiting', says: 'suspended', cause: waitsInQueue(queue) };
  }
  const cause = waitingCause(state);
  return {
    state: 'waiting',
    says: deployment === '' ? 'not started yet' : deployment.toLowerCase(),
    ...(cause && { cause }),
  };
}

function failure({ job, pods }: RayJobState): Cause {
  const reason = textAt(job, 'status', 'reason') ?? '';
  const said = textAt(job, 'status', 'message') ?? '';
  const submitter = pods.find((pod) => isSubmitter(pod));
  return {
    kind: reason === 'ValidationFailed' ? 'refused by the operator' : 'job failed',
    says: `the job failed${reason === '' ? '' : ` (${reason})`}: ${said.trim() || 'no message was left'}`,
    next:
      reason === 'ValidationFailed'
        ? 'change the manifest, delete the RayJob and apply it again'
        : 'its output says why',
    isFinal: true,
    ...(submitter !== undefined && { logs: { pod: nameOf(submitter), container: 'ray-job-submitter' } }),
  };
}

const isSubmitter = (pod: Json): boolean =>
  listAt(pod, 'spec', 'containers').some((container) => textAt(container, 'name') === 'ray-job-submitter');

function waitingCause(state: RayJobState): Cause | undefined {
  const { job, cluster, events } = state;
  const refusal = freshWarnings(job, events).at(-1);
  if (refusal !== undefined) return refusalCause(refusal);
  const selected = textAt(job, 'spec', 'clusterSelector', 'ray.io/cluster');
  if (cluster === undefined && selected !== undefined && dig(job, 'status', 'jobDeploymentStatus') !== undefined)
    return {
      kind: 'refused by the operator',
      says: `there is no RayCluster '${selected}', which clusterSelector names`,
      next: 'create it, or name another one',
      isFinal: false,
    };
  if (cluster === undefined) return dig(job, 'status') === undefined ? unnoticed(state.operators) : undefined;
  const pods = state.pods.filter((pod) => textAt(pod, 'metadata', 'labels', 'ray.io/cluster') === nameOf(cluster));
  return (
    clusterCause({ ...state, cluster, isReplaced: false, pods }) ??
    podsCause({ ...state, pods: state.pods.filter(isSubmitter) })
  );
}
