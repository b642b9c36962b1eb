import { defineEvent } from '../../base/events.ts';

export const kuberayEvents = {
  replicasReset: defineEvent<{ group: string; from: number; to: number }>({
    code: 'MANTA_KUBERAY_REPLICAS_RESET',
    level: 'warn',
    text: (e) =>
      `something else set replicas of the group '${e.group}' to ${e.from}, while ${e.to} run or are asked for; Manta sets it back, and no pod ends. Leave replicas out of what your GitOps tool applies (for Argo: ignoreDifferences)`,
  }),
};
