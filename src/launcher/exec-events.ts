import { defineEvent } from '../base/events.ts';

export const execEvents = {
  sessionStarted: defineEvent<{ id: string; kind: string; host: string; cluster: string }>({
    code: 'MANTA_SESSION_STARTED',
    level: 'info',
    text: (e) =>
      `it runs in a ${e.kind} on ${e.host}: 'manta sessions ${e.cluster}' lists it, with '--log ${e.id} -f' it follows the output, 'manta attach ${e.cluster} --session ${e.id}' opens it`,
  }),
  startIgnored: defineEvent<{ address: string }>({
    code: 'MANTA_EXEC_START_IGNORED',
    level: 'warn',
    text: (e) => `--start has no effect with --node-ip ${e.address}, which may be any node of the cluster`,
  }),
  argsDeprecated: defineEvent<Record<string, never>>({
    code: 'MANTA_SUBMIT_ARGS_DEPRECATED',
    level: 'warn',
    text: () =>
      "--args is deprecated, as in ray: write the words behind --, as in 'manta submit CLUSTER script.py -- --epochs 3'",
  }),
  copying: defineEvent<{ host: string; what: string }>({
    code: 'MANTA_RSYNC_COPYING',
    level: 'info',
    text: (e) => `copying ${e.what} (${e.host})`,
  }),
  allNodes: defineEvent<{ count: number }>({
    code: 'MANTA_RSYNC_ALL_NODES',
    level: 'warn',
    text: (e) => `copied to the ${e.count} nodes of now; those that come later get what file_mounts says`,
  }),
};
