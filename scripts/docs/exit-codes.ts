/** What the exit code of a command means; docs/exit-codes.md is made from this table. */
export const exitCodes = {
  0: 'success; for checks: no errors (warnings are allowed)',
  1: 'the command ran, but found problems or failed in part',
  2: "usage error: unknown command or option, one of Ray's own commands, invalid or missing value, unreadable input",
  3: 'this machine lacks something the command needs: a newer Node, Python with Ray, a tool',
  4: 'the cluster is not available: it is not running here, its folder cannot be used, or access was denied',
  5: 'a provider refused, has no capacity, or did not respond',
  6: "the cluster's head or its engine (Ray) did not respond",
  8: "the job was stopped; for a failed job, the command exits with the job's own exit code",
  9: 'the job ended without an exit code: node lost, preempted, setup failed, memory or time limit',
  70: 'internal error in Manta (MANTA_INTERNAL)',
  129: 'the terminal was closed (SIGHUP)',
  130: 'interrupted by Ctrl-C (SIGINT)',
  141: 'the reader of the output stopped reading, as in `manta … | head`',
  143: 'terminated by SIGTERM',
} as const;
