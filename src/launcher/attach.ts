import { shellQuoted } from '../base/shell-quote.ts';
import type { Place } from '../bringup/node.ts';
import { newMark } from './exec.ts';
import { execErrors } from './exec-errors.ts';
import { commandText } from './exec-text.ts';
import type { Session } from './sessions.ts';
import type { SessionKind } from './sessions-text.ts';

/** Sh text for the host that attaches to what runs in a multiplexer there, or opens a new shell in it. */
export function multiplexerText(cluster: string, place: Place, kind: SessionKind, fresh: boolean): string {
  const shell = shellQuoted(commandText({ cluster, place, terminal: true, mark: newMark() }));
  const missing = `command -v ${kind} >/dev/null 2>&1 || { echo 'there is no ${kind} on this machine' >&2; exit 127; }`;
  const locale = 'if [ -z "$LANG$LC_ALL$LC_CTYPE" ]; then export LANG=C.UTF-8; fi';
  const [any, attach, open] =
    kind === 'tmux'
      ? ['tmux has-session 2>/dev/null', 'tmux -u attach', `tmux -u new /bin/sh -c ${shell}`]
      : [
          "screen -ls 2>/dev/null | grep -q '[(]\\(At\\|De\\)tached'",
          'screen -U -L -xRR',
          `screen -U -L /bin/sh -c ${shell}`,
        ];
  return `cd; ${missing}; ${locale}; ${fresh ? '' : `if ${any}; then exec ${attach}; fi; `}exec ${open}`;
}

/** Sh text for the host that attaches to one session. */
export function sessionText(session: Session): string {
  const { id, kind, open } = session;
  if (!open) throw execErrors.SessionClosed({ id, outcome: outcomeOf(session) });
  return kind === 'tmux' ? `exec tmux -u attach -t =${id}` : `exec screen -U -x ${id}`;
}

const outcomeOf = ({ state, exitCode }: Session): string =>
  state === 'lost' ? 'been lost, as with a reboot' : `ended with ${exitCode} and its window was closed`;
