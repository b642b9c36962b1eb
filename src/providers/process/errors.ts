import { defineError } from '../../base/errors.ts';

export const processErrors = {
  BadFault: defineError<{ at: string; problem: string }>({
    code: 'MANTA_PROCESS_BAD_FAULT',
    exit: 2,
    message: (e) => `provider.manta.faults${e.at}: ${e.problem}`,
    hint: () => 'docs/providers.md lists the fault knobs of the process provider',
  }),
  NotEnded: defineError<{ instance: string; pids: readonly number[] }>({
    code: 'MANTA_PROCESS_NOT_ENDED',
    exit: 5,
    message: (e) => `processes ${e.pids.join(', ')} of instance '${e.instance}' do not exit`,
    hint: () =>
      'Manta keeps trying to kill them; a process that waits for a disk or a device exits when the wait is over',
  }),
};
