import type { ClusterAnswer } from '../../../api/types.ts';
import { wallClock } from '../../../base/time/wall-clock.ts';
import { HttpClient } from '../../../client/http.ts';
import { type Target, targetFor } from '../../../client/target.ts';
import { ClusterWatch, knownClusters } from '../../../launcher/dashboard/cluster-list.ts';
import { type ClusterPages, serveClusterPages } from '../../../launcher/dashboard/cluster-pages.ts';
import { mantadSocket } from '../../../launcher/reach/tunnel.ts';
import { servingOf } from '../../../state/serving.ts';
import { stateFolder, stateHome } from '../../../state/state-folder.ts';
import type { Io } from '../../command.ts';

const lookEvery = 500;
const tickets = '/api/manta/v1/tickets';
/** How long the page of all clusters waits for what they say; what comes later is on it the next time. */
const pageWaits = 300;

/** Holds one page for all clusters until Ctrl-C; each is reached when somebody opens it. */
export async function holdAll(
  io: Io,
  {
    port,
    spare,
    show,
  }: { readonly port: number; readonly spare: number; readonly show: (newLink: () => string) => Promise<void> },
): Promise<number> {
  const open = new Map<string, Target>();
  const targetOf = (name: string): Target => {
    const known = open.get(name) ?? targetFor({ name }, io.env, io.events);
    open.set(name, known);
    return known;
  };
  const speak = async <Value>(
    name: string,
    signal: AbortSignal,
    say: (http: HttpClient) => Promise<Value>,
  ): Promise<Value> => {
    const http = new HttpClient({ ...targetOf(name), close: async () => {} }, signal);
    try {
      return await say(http);
    } finally {
      http.close();
    }
  };
  const home = stateHome(io.env);
  const watch = new ClusterWatch(
    {
      isConnected: (name) => open.has(name) || servingOf(stateFolder(home, name)) !== undefined,
      ask: (name, signal) => speak(name, signal, (http) => http.json<ClusterAnswer>('GET', '/api/manta/v1/cluster')),
    },
    io.signal,
  );
  const pages: ClusterPages = await serveClusterPages(
    {
      port,
      spare,
      clusters: () => knownClusters(home),
      look: () => watch.look(knownClusters(home), pageWaits),
      routeTo: (name) => mantadSocket(targetOf(name)),
      ticketOf: async (name) =>
        (await speak(name, io.signal, (http) => http.json<{ ticket: string }>('POST', tickets, { repeatable: true })))
          .ticket,
    },
    io.signal,
  );
  try {
    await show(() => pages.newLink());
    while (!io.signal.aborted) await wallClock.sleep(lookEvery, io.signal).catch(() => {});
    return 0;
  } finally {
    await pages.close();
    await Promise.all([...open.values()].map(async (target) => await target.close?.()));
  }
}
