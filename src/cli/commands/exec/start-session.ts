import type { CommandPlace } from '../../../bringup/node/node.ts';
import { launcherEvents } from '../../../launcher/events.ts';
import { startSession } from '../../../launcher/exec/sessions.ts';
import type { SessionKind } from '../../../launcher/exec/sessions-text.ts';
import type { Io } from '../../command.ts';
import type { ClusterHead } from '../../shared/cluster-head.ts';

interface InSession {
  readonly cluster: ClusterHead;
  readonly command: string;
  readonly place: CommandPlace;
  readonly kind: SessionKind;
  /** End the cluster when the command has ended. */
  readonly stop: boolean;
  readonly screenOptions?: string;
}

/** Starts a command in a multiplexer and prints its handle, alone on its line. `word`: as the user calls the cluster. */
export async function startInSession({ cluster, kind, ...wanted }: InSession, word: string, io: Io): Promise<number> {
  const id = await startSession({ cluster: cluster.name, host: cluster.head, kind, ...wanted }, { signal: io.signal });
  io.events.emit(launcherEvents.execSessionStarted, { id, kind, host: cluster.head.name, cluster: word });
  io.out(io.json ? `${JSON.stringify({ session: id, kind, host: cluster.head.name })}\n` : `${id}\n`);
  return 0;
}
