import { defineEvent } from '../base/events.ts';

/** What the commands on Kubernetes tell on the way. */
export const kubeEvents = {
  applied: defineEvent<{ kind: string; name: string; effect: string }>({
    code: 'MANTA_KUBE_APPLIED',
    level: 'info',
    text: (e) => `${e.kind} '${e.name}': ${e.effect}`,
  }),
  queueWithPod: defineEvent<{ kind: string; name: string }>({
    code: 'MANTA_KUBE_QUEUE_WITH_POD',
    level: 'info',
    text: (e) =>
      `${e.kind} '${e.name}': Manta's queue and journal end with the head's pod; keep them with --scaler-claim NAME`,
  }),
  waiting: defineEvent<{ kind: string; name: string; says: string; cause?: string }>({
    code: 'MANTA_KUBE_WAITING',
    level: 'info',
    text: (e) => `${e.kind} '${e.name}': ${e.says}${e.cause === undefined ? '' : `; ${e.cause}`}`,
  }),
  notKept: defineEvent<{ kind: string; name: string }>({
    code: 'MANTA_KUBE_NOT_KEPT',
    level: 'warn',
    text: (e) =>
      `${e.kind} '${e.name}': you may not write Secrets, so its spec is not kept for a rollback ('manta kube check --rbac')`,
  }),
  deleted: defineEvent<{ kind: string; name: string; wasThere: boolean }>({
    code: 'MANTA_KUBE_DELETED',
    level: 'info',
    text: (e) => `${e.kind} '${e.name}': ${e.wasThere ? 'deleted' : 'was not there'}`,
  }),
};
