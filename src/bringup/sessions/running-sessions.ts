import type { Host, RunOptions } from '../../base/host.ts';
import { markVariable } from '../../base/process.ts';
import { readShell, shellProgram } from '../../base/shell/shell-file.ts';
import { environmentFile } from '../node/shell-text.ts';
import { markPattern } from '../ray/processes.ts';

const program = readShell(new URL('./running-sessions.sh', import.meta.url));

/**
 * How many sessions of users (exec, attach, submit, in tmux and screen or not) run on the head's host: sets of processes
 * that carry the mark of a session, or were started to get it. A window that is left open behind a command that has ended
 * is none.
 */
export async function runningSessions(host: Host, cluster: string, options: RunOptions): Promise<number> {
  const { stdout } = await host.sh(lookText(cluster), options);
  if (!/^looked$/m.test(stdout)) throw new Error(`could not list the sessions on ${host.name}`);
  return new Set([...stdout.matchAll(/^session (\d+)$/gm)].map((match) => match[1])).size;
}

const lookText = (cluster: string): string =>
  shellProgram(program, {
    mark: `${markVariable}=[^[:cntrl:]]*${markPattern(cluster)}session:`,
    words: `[f]=~/${environmentFile(cluster).replaceAll('.', '\\.')}; if`,
  });
