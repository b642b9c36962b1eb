import { text } from 'node:stream/consumers';
import type { EventSink } from '../base/events.ts';
import type { KubeClient } from '../base/kube/client.ts';
import { listAll } from '../base/kube/list.ts';
import { openPodLog } from '../base/kube/logs.ts';
import type { Clock, Duration } from '../base/time/clock.ts';
import { manifestErrors } from '../core/kube/errors.ts';
import type { Json } from '../core/kube/object.ts';
import { type Cause, progressOf, type RayClusterState } from '../core/kube/progress.ts';
import { kubeEvents } from './events.ts';

export interface WaitedCluster {
  readonly namespace: string;
  readonly name: string;
  /** As in `RayClusterState`. */
  readonly isReplaced: boolean;
}

export interface ClusterWait {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly events: EventSink;
  readonly timeout: Duration;
  readonly signal: AbortSignal;
}

const pause = 1_000;

/** Waits until a RayCluster is what its spec says; throws its first cause when waiting does not help, or is over. */
export async function waitForCluster(cluster: WaitedCluster, waiting: ClusterWait): Promise<void> {
  const { clock, events, signal } = waiting;
  const [kind, { name }] = ['RayCluster', cluster];
  const id = `${kind}/${name}`;
  const until = clock.now() + waiting.timeout;
  for (let told = ''; ; ) {
    const progress = progressOf(await lookAt(cluster, waiting));
    if (progress.state === 'done') {
      events.emit(kubeEvents.waiting, { kind, name, says: progress.says }, { id, state: 'done' });
      return;
    }
    const { says, cause } = progress;
    if (cause?.isFinal || clock.now() > until) {
      events.emit(kubeEvents.waiting, { kind, name, says }, { id, state: 'failed' });
      throw await failure(
        cluster,
        cause ?? { says: `${says} when the time was up`, next: 'wait longer with --timeout' },
        waiting,
      );
    }
    const line = `${says} ${cause?.says ?? ''}`;
    if (line !== told)
      events.emit(
        kubeEvents.waiting,
        { kind, name, says, ...(cause && { cause: cause.says }) },
        { id, state: 'running' },
      );
    told = line;
    await clock.sleep(pause, signal);
  }
}

async function lookAt(
  { namespace, name, isReplaced }: WaitedCluster,
  { client, signal }: ClusterWait,
): Promise<RayClusterState> {
  const inside = `namespaces/${encodeURIComponent(namespace)}`;
  const list = async (what: string, query: Readonly<Record<string, string>>): Promise<readonly Json[]> => {
    const call = `list ${what} in the namespace '${namespace}'`;
    return (await listAll(client, { path: `/api/v1/${inside}/${what}`, query, call, signal })).items as readonly Json[];
  };
  const path = `/apis/ray.io/v1/${inside}/rayclusters/${encodeURIComponent(name)}`;
  const cluster = (await client.json({ path, call: `read the RayCluster '${name}'`, signal })) as Json;
  const [pods, events] = await Promise.all([
    list('pods', { labelSelector: `ray.io/cluster=${name}` }),
    list('events', { fieldSelector: `involvedObject.kind=RayCluster,involvedObject.name=${name}` }),
  ]);
  return { cluster, isReplaced, pods, events };
}

async function failure(
  { namespace, name }: WaitedCluster,
  { says, next, logs }: Pick<Cause, 'says' | 'next' | 'logs'>,
  { client, signal }: ClusterWait,
): Promise<Error> {
  const lines = logs === undefined ? '' : await lastLines(namespace, logs, client, signal);
  return manifestErrors.Failed({ kind: 'RayCluster', name, says: `${says}${lines === '' ? '' : `\n${lines}`}`, next });
}

async function lastLines(
  namespace: string,
  { pod, container }: NonNullable<Cause['logs']>,
  client: KubeClient,
  signal: AbortSignal,
): Promise<string> {
  const log = openPodLog(client, { namespace, pod, container, previous: true, tailLines: 10, signal });
  // The cause stands without them.
  return (await log.then(text).catch(() => '')).trimEnd();
}
