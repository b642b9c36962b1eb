/** What the exit code of a command means; docs/exit-codes.md is made from this table. */
export const exitCodes = {
  0: 'done; for checks: nothing wrong (warnings are allowed)',
  1: 'done, and the answer is no: problems were found, or part of the work failed',
  2: 'not understood: unknown command or option, a command that belongs to Ray, bad or missing value, unreadable input',
  3: 'something that the command needs is missing on this machine: a newer Node, Python with Ray, a tool',
  4: 'the cluster is not there for you: none of that name runs here, its folder cannot be used, or it does not let you in',
  5: 'a provider refused, has no capacity, or did not answer',
  6: 'the head of the cluster, or the engine that runs the work (Ray), did not answer',
  8: 'the job that the command waited for was stopped; a job that failed passes its own exit code on',
  9: 'the job that the command waited for ended without an exit code of its own: node lost, preempted, set-up failed, memory or time limit',
  70: "a fault of Manta's own (MANTA_INTERNAL)",
  129: 'ended because the terminal went away (SIGHUP)',
  130: 'interrupted by Ctrl-C (SIGINT)',
  141: 'whoever read the output stopped reading, as in `manta … | head`',
  143: 'ended by SIGTERM',
} as const;
