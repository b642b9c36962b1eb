import { randomBytes } from 'node:crypto';
import type { Host, RunOptions } from '../../base/host.ts';
import type { CommandPlace } from '../../bringup/node/node.ts';
import { sessionsFolder } from '../../bringup/sessions/sessions.ts';
import { launcherErrors } from '../errors.ts';
import { guardedText } from './command-text.ts';
import { newMark } from './exec.ts';
import { fieldEnd, listText, rowEnd, type SessionKind, type StartProblem, startText } from './sessions-text.ts';

/** A command that was started in a tmux or screen of the head. */
export interface Session {
  readonly id: string;
  readonly kind: SessionKind;
  readonly command: string;
  /** `lost`: it went without an exit code, as with a reboot or a kill of its window. */
  readonly state: 'running' | 'ended' | 'lost';
  readonly exitCode?: number;
  /** Its window is there to be attached to, also after the command has ended. */
  readonly open: boolean;
  /** Milliseconds since 1970, by the head's clock. */
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly logBytes: number;
  /** On the head. */
  readonly logPath: string;
}

export interface SessionRequest {
  readonly cluster: string;
  readonly host: Host;
  readonly place: CommandPlace;
  readonly kind: SessionKind;
  readonly command: string;
  /** When it has ended, the head is asked to end the cluster. */
  readonly stop: boolean;
  readonly screenOptions?: string;
}

/** Starts the command and returns the id of its session. The multiplexer runs on the host, and outlives a container. */
export async function startSession(request: SessionRequest, options: RunOptions): Promise<string> {
  const { cluster, host, place, kind, command, stop, screenOptions } = request;
  const work = guardedText({ cluster, place, command, terminal: true, mark: newMark() });
  for (;;) {
    const id = newId();
    const text = startText({ cluster, id, kind, command, work, stop, ...(screenOptions && { screenOptions }) });
    const { stdout, stderr } = await host.sh(text, options);
    const [, said, detail = ''] = /^(\w+) ?(.*)/s.exec(stdout.trim()) ?? [];
    if (said === 'started') return id;
    const problem = said as StartProblem | undefined;
    if (problem === 'absent') throw launcherErrors.ExecNotUp({ name: cluster, host: host.name });
    if (problem === 'missing') throw launcherErrors.ExecNoMultiplexer({ host: host.name, kind });
    if (problem !== 'taken')
      throw launcherErrors.ExecSessionNotStarted({ host: host.name, kind, detail: detail.trim() || stderr.trim() });
  }
}

/** Short, and a name that tmux, screen and people can take. */
const newId = (): string =>
  `s${BigInt(`0x${randomBytes(5).toString('hex')}`)
    .toString(36)
    .padStart(7, '0')
    .slice(-7)}`;

/** Newest first. */
export async function listSessions(host: Host, cluster: string, options: RunOptions): Promise<Session[]> {
  const { stdout } = await host.sh(listText(cluster), options);
  return stdout
    .split(rowEnd)
    .filter((row) => row.includes(fieldEnd))
    .map((row) => sessionOf(row, cluster))
    .sort((a, b) => (b.startedAt ?? 0) - (a.startedAt ?? 0));
}

function sessionOf(row: string, cluster: string): Session {
  const [id = '', kind, started, ended, rc = '', open, bytes, ...command] = row.split(fieldEnd);
  const at = (text: string | undefined): number | undefined => (text ? Number(text) * 1_000 : undefined);
  const [startedAt, endedAt] = [at(started), at(ended)];
  return {
    id,
    kind: kind === 'screen' ? 'screen' : 'tmux',
    command: command.join(fieldEnd),
    state: rc !== '' ? 'ended' : open === 'open' ? 'running' : 'lost',
    open: open === 'open',
    logBytes: Number(bytes) || 0,
    logPath: `~/${sessionsFolder(cluster)}/${id}/log`,
    ...(rc !== '' && { exitCode: Number(rc) }),
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
  };
}

/** The session that is meant by an id, or by the beginning of one. */
export function findSession(sessions: readonly Session[], id: string): Session {
  const exact = sessions.find((session) => session.id === id);
  const found = exact ? [exact] : sessions.filter((session) => id !== '' && session.id.startsWith(id));
  if (found.length === 1) return found[0]!;
  throw launcherErrors.ExecUnknownSession({
    id,
    known: (found.length > 1 ? found : sessions).map((session) => session.id),
  });
}
