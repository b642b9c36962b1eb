import { defineError } from '../base/errors.ts';

/** What can stop a command that changes a cluster. */
export const launcherErrors = {
  Busy: defineError<{ name: string; pid: number }>({
    code: 'MANTA_LAUNCHER_BUSY',
    exit: 4,
    message: (e) => `another command (pid ${e.pid}) is changing the cluster '${e.name}'`,
    hint: () => 'wait for it to end, then run this again',
  }),
  HalfDown: defineError<{ name: string }>({
    code: 'MANTA_LAUNCHER_HALF_DOWN',
    exit: 4,
    message: (e) => `a 'manta down' of the cluster '${e.name}' was cut short`,
    hint: (e) => `run 'manta down -n ${e.name}' to complete it first`,
  }),
  NotApplied: defineError<{ url: string; status: number }>({
    code: 'MANTA_LAUNCHER_NOT_APPLIED',
    exit: 4,
    message: (e) => `mantad at ${e.url} answered ${e.status} and did not apply the cluster file`,
    hint: () => "'manta events' says why",
  }),
  StillThere: defineError<{ name: string; what: readonly string[] }>({
    code: 'MANTA_LAUNCHER_STILL_THERE',
    exit: 4,
    message: (e) => `after 'manta down' of '${e.name}' there is still: ${e.what.join(', ')}`,
    hint: () => 'run it again; what it cannot end it names',
  }),
  NotConfirmed: defineError<{ name: string }>({
    code: 'MANTA_LAUNCHER_NOT_CONFIRMED',
    exit: 2,
    message: (e) => `the cluster '${e.name}' is not ended: nobody is at the terminal to confirm it`,
    hint: () => 'give --yes; with --keep-state its jobs and their output stay for the next `manta up`',
  }),
};
