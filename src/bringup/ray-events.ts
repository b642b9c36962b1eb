import { defineEvent } from '../base/events.ts';

/** What is found out about Ray on a node. */
export const rayEvents = {
  monitorEnded: defineEvent<{ node: string; pid: number }>({
    code: 'MANTA_RAY_MONITOR_ENDED',
    level: 'warn',
    text: (e) =>
      `'${e.node}' had a monitor of Ray's own (pid ${e.pid}), which would have scaled the cluster against Manta: ended`,
  }),
};
