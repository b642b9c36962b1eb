import { wallClock } from '../../base/wall-clock.ts';
import { HttpClient } from '../../head/client/http.ts';
import { chooseTarget, type Target } from '../../head/client/target.ts';
import { clusterNames, readCluster, servingOf, stateFolder, stateHome } from '../../head/state-folder.ts';
import { type ClusterPages, type ListedCluster, serveClusterPages } from '../../launcher/cluster-pages.ts';
import { mantadSocket } from '../../launcher/tunnel.ts';
import type { Io } from '../command.ts';

const lookEvery = 500;

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
    const known = open.get(name) ?? chooseTarget({ name }, io.env, io.events);
    open.set(name, known);
    return known;
  };
  const pages: ClusterPages = await serveClusterPages(
    {
      port,
      spare,
      clusters: () => listed(io),
      wayTo: (name) => mantadSocket(targetOf(name)),
      ticketOf: async (name) => {
        const http = new HttpClient({ ...targetOf(name), close: async () => {} }, io.signal);
        try {
          return (await http.json<{ ticket: string }>('POST', '/api/manta/v1/tickets', { repeatable: true })).ticket;
        } finally {
          http.close();
        }
      },
    },
    io.signal,
  );
  try {
    await show(pages.newLink);
    while (!io.signal.aborted) await wallClock.sleep(lookEvery, io.signal).catch(() => {});
    return 0;
  } finally {
    await pages.close();
    await Promise.all([...open.values()].map(async (target) => await target.close?.()));
  }
}

function listed(io: Io): readonly ListedCluster[] {
  const home = stateHome(io.env);
  return clusterNames(home).flatMap((name) => {
    const folder = stateFolder(home, name);
    try {
      const record = readCluster(folder);
      if (record === undefined) return [];
      if (record.remote !== undefined) return [{ name, where: `head at ${record.remote.address}` }];
      return [{ name, where: servingOf(folder) === undefined ? 'down' : 'on this machine' }];
    } catch {
      // A folder that is not ours to read is nobody's cluster here.
      return [];
    }
  });
}
