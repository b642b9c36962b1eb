import { defineError } from '../base/errors.ts';
import type { RayKind } from '../core/kube/cluster-name.ts';

interface Meant {
  kind: RayKind;
  namespace: string;
  name: string;
}

const words = ({ kind, namespace, name }: Meant): string => `the ${kind} '${name}' in the namespace '${namespace}'`;

/** Why `kube:NAME` does not lead to a cluster. */
export const kubeTargetErrors = {
  BadName: defineError<{ word: string }>({
    code: 'MANTA_KUBE_BAD_CLUSTER_NAME',
    exit: 2,
    message: (e) => `'${e.word}' does not name a cluster on Kubernetes`,
    hint: () => 'write kube:NAME, kube:NAMESPACE/NAME, or kube:rayservice/NAME where several have the name',
  }),
  NoneNamed: defineError<{ name: string; namespace: string; context: string; there: readonly string[] }>({
    code: 'MANTA_KUBE_NO_CLUSTER',
    exit: 4,
    message: (e) =>
      `the namespace '${e.namespace}' of the context '${e.context}' has no RayCluster, RayService or RayJob '${e.name}'`,
    hint: (e) =>
      e.there.length === 0
        ? "'manta list --kube --all-namespaces' lists what there is; --namespace and --context choose another place"
        : `there are: ${e.there.join(', ')}`,
  }),
  Several: defineError<{ name: string; words: readonly string[] }>({
    code: 'MANTA_KUBE_SEVERAL',
    exit: 2,
    message: (e) => `several objects are called '${e.name}'`,
    hint: (e) => `say which: ${e.words.join(', ')}`,
  }),
  NoActive: defineError<Meant & { pending: string | undefined }>({
    code: 'MANTA_KUBE_NO_ACTIVE_CLUSTER',
    exit: 4,
    message: (e) => `${words(e)} has no active cluster${e.pending === undefined ? '' : ' yet'}`,
    hint: (e) =>
      e.pending === undefined
        ? `'manta why kube:${e.namespace}/${e.name}' says what stands in the way`
        : `--pending means the one that is coming up, '${e.pending}'`,
  }),
  NoPending: defineError<Meant>({
    code: 'MANTA_KUBE_NO_PENDING_CLUSTER',
    exit: 4,
    message: (e) => `${words(e)} has no pending cluster`,
    hint: () => 'leave out --pending: it is for RayServices that are being upgraded',
  }),
  NoHead: defineError<{ cluster: string; namespace: string; phase: string | undefined }>({
    code: 'MANTA_KUBE_NO_HEAD',
    exit: 4,
    message: (e) =>
      e.phase === undefined
        ? `the RayCluster '${e.cluster}' has no head pod`
        : `the head pod of the RayCluster '${e.cluster}' is not running (${e.phase})`,
    hint: (e) => `'manta why kube:${e.namespace}/raycluster/${e.cluster}' says why`,
  }),
  NoPod: defineError<{ cluster: string; word: string; pods: readonly string[] }>({
    code: 'MANTA_KUBE_NO_POD',
    exit: 4,
    message: (e) => `the RayCluster '${e.cluster}' has no pod '${e.word}'`,
    hint: (e) => (e.pods.length === 0 ? 'it has no pods' : `give head, or one of: ${e.pods.join(', ')}`),
  }),
};
