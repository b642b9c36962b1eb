import { readShell, shellProgram } from '../../base/shell/shell-file.ts';
import { prelude } from '../prelude.ts';

/**
 * The programs behind steps. A step is a folder:
 *
 *     program   what is run               output    what it has said, then its mark and exit code
 *     process   who runs it               rc        its exit code, written once
 *     mark      in its output and in the environment of all its processes
 *     ended     somebody has ended it, or forbids that it begins
 *     reserve   room for `rc` on a disk that the step itself has filled
 *     run       the text of step-run.sh
 */
const runner = readShell(new URL('./step-run.sh', import.meta.url));
const start = readShell(new URL('./step-start.sh', import.meta.url));
const attach = readShell(new URL('./step-attach.sh', import.meta.url));
const follow = readShell(new URL('./step-follow.sh', import.meta.url));
const end = readShell(new URL('./step-end.sh', import.meta.url));

/** What a follower says behind the mark when there is no exit code. */
export type Fate = 'full' | 'ended' | 'reboot' | 'killed' | 'never' | 'gone';

/** More than any cluster file has commands: one that is done must be found to be so when a bring-up is taken up again. */
const keptSteps = 100;

export interface StepText {
  readonly folder: string;
  readonly id: string;
  readonly program: string;
  readonly shell: 'bash' | 'sh';
}

/** Starts the step unless it was claimed before, and follows its output from an offset. */
export const startAndFollow = ({ folder, id, program, shell }: StepText, mark: string, offset: number): string =>
  shellProgram(`${prelude}${start}${follow}`, {
    folder,
    step: id,
    program,
    shell,
    mark,
    runner: `${prelude}${runner}`,
    kept: keptSteps,
    offset,
  });

/** Follows a step that is known to have been started. */
export const followOnly = ({ folder, id }: Pick<StepText, 'folder' | 'id'>, offset: number): string =>
  shellProgram(`${prelude}${attach}${follow}`, { folder, step: id, offset });

/** Ends the steps in a folder that have not come to their end. Prints what it could not end. */
export const endText = (folder: string): string => shellProgram(`${prelude}${end}`, { folder });
