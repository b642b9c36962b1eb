import type { Place } from '../../bringup/node.ts';
import { execEvents } from '../../launcher/exec-events.ts';
import { startSession } from '../../launcher/sessions.ts';
import type { SessionKind } from '../../launcher/sessions-text.ts';
import type { Io } from '../command.ts';
import type { ClusterHead } from './exec-head.ts';

interface InSession {
  readonly cluster: ClusterHead;
  readonly command: string;
  readonly place: Place;
  readonly kind: SessionKind;
  /** End the cluster when the command has ended. */
  readonly stop: boolean;
  readonly screenOptions?: string;
}

/** Starts a command in a multiplexer and prints its handle, alone on its line. `word`: as the user calls the cluster. */
export async function startInSession({ cluster, kind, ...wanted }: InSession, word: string, io: Io): Promise<number> {
  const id = await startSession({ cluster: cluster.name, host: cluster.head, kind, ...wanted }, { signal: io.signal });
  io.events.emit(execEvents.sessionStarted, { id, kind, host: cluster.head.name, cluster: word });
  io.out(io.json ? `${JSON.stringify({ session: id, kind, host: cluster.head.name })}\n` : `${id}\n`);
  return 0;
}
