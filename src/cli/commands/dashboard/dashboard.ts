import { spawn } from 'node:child_process';
import { wallClock } from '../../../base/time/wall-clock.ts';
import { clusterHost } from '../../../client/cluster-host.ts';
import { clientErrors } from '../../../client/errors.ts';
import { HttpClient } from '../../../client/http.ts';
import type { Target } from '../../../client/target.ts';
import { writeLinkPage } from '../../../launcher/dashboard/browser-link.ts';
import { readCluster } from '../../../state/cluster-record.ts';
import { stateErrors } from '../../../state/errors.ts';
import { type StateFolder, stateHome } from '../../../state/state-folder.ts';
import type { InvocationOf, Io, Run } from '../../command.ts';
import { cliErrors } from '../../errors.ts';
import { targetOf } from '../../shared/cluster-connection.ts';
import { kubeMeant } from '../../shared/find-cluster.ts';
import type { dashboardOptions } from './declaration.ts';

export const run: Run<typeof dashboardOptions> = async (invocation, io) => {
  const onKube = kubeMeant(invocation, io);
  if (onKube !== undefined) {
    const { holdOnKube } = await import('./kube.ts');
    return await holdOnKube(onKube, invocation.options, io, (link) => show(link, invocation, io));
  }
  if (invocation.options.portForward !== undefined) throw cliErrors.OnlyOnKube({ option: '--port-forward' });
  const target = await targetOf(invocation, io).catch((error: unknown) => {
    if (!clientErrors.SeveralClusters.is(error)) throw error;
    return undefined;
  });
  if (target === undefined) return await all(invocation, io);
  const http = new HttpClient(target, io.signal);
  try {
    const place = await target.place(io.signal);
    if (place.socket !== undefined && target.folder !== undefined)
      return await hold(invocation, { ...target, folder: target.folder }, http, io);
    const { port } = new URL(place.url);
    // By a name of its own: cookies of 127.0.0.1 go to each of its ports, whosever they are.
    const url = target.folder === undefined ? place.url : `http://${clusterHost(target.folder.name)}:${port}`;
    await show(() => linkTo(url, http), invocation, io);
    return 0;
  } finally {
    http.close();
  }
};

/** Nothing says which cluster is meant: one page for all of them. */
async function all(invocation: InvocationOf<typeof dashboardOptions>, io: Io): Promise<number> {
  const { holdAll } = await import('./all-clusters.ts');
  const port = invocation.options.port;
  return await holdAll(io, {
    port,
    // Clusters of this machine may have the usual port.
    spare: port === usualPort ? portsTried : 0,
    show: async (newLink) => {
      await show(newLink, invocation, io);
      if (!io.json) io.out('This page lists all your clusters. Press Ctrl-C to stop serving it.\n');
    },
  });
}

/** Where mantad serves on its host, whatever the number there. */
const usualPort = 8265;
const portsTried = 100;
const lookEvery = 500;

/** The page of a cluster of other machines is reached through a tunnel, which stands until Ctrl-C. */
async function hold(
  invocation: InvocationOf<typeof dashboardOptions>,
  target: Target & { readonly folder: StateFolder },
  http: HttpClient,
  io: Io,
): Promise<number> {
  const { holdTunnel, mantadSocket } = await import('../../../launcher/reach/tunnel.ts');
  const port = invocation.options.port;
  const remotePort = invocation.options.remotePort;
  const far = remotePort === usualPort ? undefined : await farPort(target.folder, remotePort, io);
  const { folder } = target;
  const known = isUp(folder);
  const isGone = (): boolean => known && !isUp(folder);
  const end = far ?? mantadSocket(target);
  // Nobody is asked any more for a cluster that is down: looking for it would only make its folder again.
  const socket = async (signal: AbortSignal): Promise<string> => {
    if (isGone()) throw stateErrors.NotRunning({ name: folder.name });
    return await end.socket(signal);
  };
  const tunnel = await holdTunnel({ ...(far === undefined && { folder }), port, ...end, socket }, io.signal);
  try {
    const base = `http://localhost:${port}`;
    const own = `http://${clusterHost(folder.name)}:${port}`;
    await show(far === undefined ? () => linkTo(own, http) : () => base, invocation, io);
    if (!io.json && far === undefined)
      io.out(
        `The tunnel stays open until Ctrl-C and reconnects when the connection drops. Meanwhile, in another terminal:\n  eval "$(manta env ${target.folder.name})"; ray job submit --address ${base} -- python train.py\n`,
      );
    while (!io.signal.aborted && !isGone()) await wallClock.sleep(lookEvery, io.signal).catch(() => {});
    if (isGone() && !io.json) io.out(`The cluster '${folder.name}' was shut down, so its tunnel is closed.\n`);
    return 0;
  } finally {
    await tunnel.close();
    await far?.close();
  }
}

/** Whether this machine has a record of the cluster, which `down` marks before it begins and removes in the end. */
function isUp(folder: StateFolder): boolean {
  const record = readCluster(folder);
  return record !== undefined && record.endingSince === undefined;
}

/** Another port of the head's host than mantad's. */
async function farPort(
  folder: StateFolder,
  port: number,
  io: Io,
): Promise<{ socket: (signal: AbortSignal) => Promise<string>; lost: () => void; close: () => Promise<void> }> {
  const { openRemote } = await import('../../../launcher/reach/remote-cluster.ts');
  const cluster = openRemote({ home: stateHome(io.env), name: folder.name });
  // Asked for each connection: it waits while the line is made again.
  const socket = (signal: AbortSignal): Promise<string> => cluster.head.forward({ port }, signal);
  await socket(io.signal);
  return { socket, lost: () => {}, close: () => cluster.close() };
}

async function linkTo(url: string, http: HttpClient): Promise<string> {
  const { ticket } = await http.json<{ ticket: string }>('POST', '/api/manta/v1/tickets');
  return `${url}/manta/?ticket=${encodeURIComponent(ticket)}`;
}

/** Each link works once: the browser that is opened has another than the one on the screen. */
async function show(
  newLink: () => string | Promise<string>,
  { options }: InvocationOf<typeof dashboardOptions>,
  io: Io,
): Promise<void> {
  const link = await newLink();
  io.out(io.json ? `${JSON.stringify({ url: link })}\n` : `${link}\n`);
  if (!options.noOpen && !io.json && io.terminal && hasScreen(io)) openBrowser(await newLink(), io);
}

const hasScreen = ({ env }: Io): boolean =>
  process.platform === 'darwin' || Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY']);

/** Tries to; where there is no browser the link is on the screen. */
function openBrowser(link: string, { env }: Io): void {
  const file = writeLinkPage(stateHome(env), link);
  const child = spawn(process.platform === 'darwin' ? 'open' : 'xdg-open', [file], {
    stdio: 'ignore',
    detached: true,
    env: { ...env },
  });
  child.on('error', () => {});
  child.unref();
}
