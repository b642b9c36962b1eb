import { readShell, shellProgram } from '../../base/shell/shell-file.ts';
import type { CommandPlace } from '../../bringup/node/node.ts';
import { launcherErrors } from '../errors.ts';
import { commandText } from './command-text.ts';
import { newMark } from './exec.ts';
import type { Session } from './sessions.ts';
import type { SessionKind } from './sessions-text.ts';

const attach = readShell(new URL('./attach.sh', import.meta.url));

/** Sh text for the host that attaches to what runs in a multiplexer there, or opens a new shell in it. */
export function multiplexerText(cluster: string, place: CommandPlace, kind: SessionKind, fresh: boolean): string {
  const shell = commandText({ cluster, place, terminal: true, mark: newMark() });
  return shellProgram(attach, { manta_kind: kind, manta_fresh: fresh, manta_shell: shell });
}

/** Sh text for the host that attaches to one session. */
export function sessionText(session: Session): string {
  const { id, kind, open } = session;
  if (!open) throw launcherErrors.ExecSessionClosed({ id, outcome: outcomeOf(session) });
  return kind === 'tmux' ? `exec tmux -u attach -t =${id}` : `exec screen -U -x ${id}`;
}

const outcomeOf = ({ state, exitCode }: Session): string =>
  state === 'lost' ? 'been lost, perhaps in a reboot' : `ended with exit code ${exitCode}, and its window is closed`;
