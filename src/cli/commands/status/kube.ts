import { isHead } from '../../../core/kube/causes.ts';
import { type Json, listAt, nameOf, numberAt, textAt } from '../../../core/kube/object.ts';
import type { Cause } from '../../../core/progress.ts';
import { type KubeTarget, mantadOf } from '../../../kube/target.ts';
import { lookAtTarget, type TargetState } from '../../../kube/target-state.ts';
import { lastLines } from '../../../kube/wait.ts';
import type { Io } from '../../command.ts';
import { printable } from '../../render/renderer.ts';
import { styleFor } from '../../render/style.ts';
import { type KubeSaid, withKubeTarget } from '../../shared/kube-cluster.ts';
import { tableText } from '../../shared/tables.ts';
import { ageWords } from '../../shared/times.ts';

/** How far what `kube:NAME` means is, what stands in the way, and its pods. Undefined where mantad in the pod knows more. */
export function statusOnKube(said: KubeSaid, io: Io): Promise<number | undefined> {
  return withKubeTarget(said, io, async (target) => {
    const state = await lookAtTarget(target, io.signal);
    const hasHead = state.clusters[0]?.pods.some(isHead) === true;
    if (hasHead && (await mantadOf(target, io.signal)) !== undefined) return undefined;
    io.out(io.json ? `${JSON.stringify(asData(target, state))}\n` : statusText(target, state, io));
    return 0;
  });
}

/** The first cause why it is not up, with the last lines of the container that it is about. */
export function whyOnKube(said: KubeSaid, io: Io): Promise<number> {
  return withKubeTarget(said, io, async (target) => {
    const state = await lookAtTarget(target, io.signal);
    const cause = causeOf(state);
    const logs = cause?.logs && (await lastLines(target.namespace, cause.logs, target.client, io.signal));
    if (io.json) io.out(`${JSON.stringify({ ...asData(target, state), ...(logs && { logs: logs.split('\n') }) })}\n`);
    else io.out(`${headline(target, state, io)}\n${causeText(cause, logs)}`);
    return 0;
  });
}

const causeOf = ({ progress }: TargetState): Cause | undefined =>
  progress.state === 'waiting' ? progress.cause : undefined;

const headline = ({ kind, namespace, name }: KubeTarget, { progress }: TargetState, io: Io): string =>
  `${styleFor(io.color).bold(`${kind} ${namespace}/${name}`)}: ${progress.says}`;

function causeText(cause: Cause | undefined, logs = ''): string {
  if (cause === undefined) return '';
  const lines = logs === '' ? [] : logs.split('\n').map((line) => `    ${line}`);
  return [`  ${cause.says}`, ...lines, 'what you can do:', `  ${cause.next}`, ''].map(printable).join('\n');
}

const asData = ({ kind, namespace, name }: KubeTarget, state: TargetState): object => {
  const cause = causeOf(state);
  return {
    kind,
    namespace,
    name,
    state: state.progress.state,
    says: state.progress.says,
    ...(cause !== undefined && { cause: { kind: cause.kind, says: cause.says, next: cause.next } }),
    clusters: state.clusters.map(({ pods, ...cluster }) => ({ ...cluster, pods: pods.map(podFacts) })),
  };
};

const podFacts = (pod: Json) => ({
  name: nameOf(pod),
  group: textAt(pod, 'metadata', 'labels', 'ray.io/group') ?? '',
  phase: textAt(pod, 'status', 'phase') ?? '',
  ready: listAt(pod, 'status', 'conditions').some(
    (each) => textAt(each, 'type') === 'Ready' && textAt(each, 'status') === 'True',
  ),
  restarts: listAt(pod, 'status', 'containerStatuses').reduce<number>(
    (sum, each) => sum + (numberAt(each, 'restartCount') ?? 0),
    0,
  ),
  ip: textAt(pod, 'status', 'podIP') ?? '',
  node: textAt(pod, 'spec', 'nodeName') ?? '',
  created: textAt(pod, 'metadata', 'creationTimestamp') ?? '',
});

function statusText(target: KubeTarget, state: TargetState, io: Io): string {
  const tables = state.clusters.map(
    ({ name, role, pods }) =>
      `${target.kind === 'RayCluster' ? '' : `\n${role === 'active' ? 'Active' : 'Pending'} cluster ${name}:\n`}${podTable(pods, io)}`,
  );
  return `${headline(target, state, io)}\n${causeText(causeOf(state))}${tables.join('')}`;
}

function podTable(pods: readonly Json[], io: Io): string {
  if (pods.length === 0) return 'no pods\n';
  const now = Date.now();
  const rows = pods
    .map(podFacts)
    .map((pod) => [
      pod.name,
      pod.group,
      pod.phase,
      pod.ready ? 'yes' : 'no',
      String(pod.restarts),
      pod.created === '' ? '' : ageWords(now - Date.parse(pod.created)),
      pod.ip,
      pod.node,
    ]);
  return tableText(['POD', 'GROUP', 'PHASE', 'READY', 'RESTARTS', 'AGE', 'IP', 'NODE'], rows, io);
}
