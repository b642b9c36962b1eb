import { defineError } from '../base/errors.ts';

export const lostWords = {
  reboot: 'the machine was started anew while it ran',
  killed: 'its process was killed',
  ended: 'it was ended',
  never: 'it was claimed and never begun',
  gone: 'its folder is gone',
};

/** What can become of a step other than an exit code. */
export const stepErrors = {
  Lost: defineError<{ host: string; step: string; why: keyof typeof lostWords; words: string }>({
    code: 'MANTA_STEP_LOST',
    exit: 6,
    message: (e) => `the step '${e.step}' on ${e.host} has no outcome: ${e.words}`,
    hint: () => 'it is not run again by itself, since nobody knows how far it came; run the command again',
  }),
  DiskFull: defineError<{ host: string; step: string; detail: string }>({
    code: 'MANTA_STEP_DISK_FULL',
    exit: 1,
    message: (e) => `the disk of ${e.host} is full: the step '${e.step}' cannot be written down (${e.detail})`,
    hint: () => 'free some space in the home of the user there, then run this again',
  }),
  NotStarted: defineError<{ host: string; step: string; detail: string }>({
    code: 'MANTA_STEP_NOT_STARTED',
    exit: 1,
    message: (e) => `the step '${e.step}' cannot be started on ${e.host}: ${e.detail}`,
    hint: () => 'can the user write to its home there?',
  }),
  NotEnded: defineError<{ host: string; pids: readonly number[] }>({
    code: 'MANTA_STEP_NOT_ENDED',
    exit: 6,
    message: (e) => `processes of a step on ${e.host} cannot be ended: ${e.pids.join(', ')}`,
    hint: () => 'they may belong to another user, or hang in the kernel: end them there, then run this again',
  }),
};
