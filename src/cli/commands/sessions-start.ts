import type { Place } from '../../bringup/node.ts';
import { execEvents } from '../../launcher/exec-events.ts';
import { startSession } from '../../launcher/sessions.ts';
import type { SessionKind } from '../../launcher/sessions-text.ts';
import type { Invocation, Io } from '../command.ts';
import type { ClusterHead } from './exec-head.ts';

interface InSession {
  readonly cluster: ClusterHead;
  readonly command: string;
  readonly place: Place;
  readonly kind: SessionKind;
}

/** Starts a command in a multiplexer and prints its handle, alone on its line. */
export async function startInSession(
  { cluster, command, place, kind }: InSession,
  { options, cluster: word = cluster.name }: Invocation,
  io: Io,
): Promise<number> {
  const screenOptions = options['extra-screen-args'] as string | undefined;
  const request = { cluster: cluster.name, host: cluster.head, place, kind, command, stop: options['stop'] === true };
  const id = await startSession({ ...request, ...(screenOptions && { screenOptions }) }, { signal: io.signal });
  io.events.emit(execEvents.sessionStarted, { id, kind, host: cluster.head.name, cluster: word });
  io.out(io.json ? `${JSON.stringify({ session: id, kind, host: cluster.head.name })}\n` : `${id}\n`);
  return 0;
}
