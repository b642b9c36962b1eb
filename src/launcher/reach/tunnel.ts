import { connect as connectSocket, createServer, type Server, type Socket } from 'node:net';
import { closePair, listenOnPair } from '../../base/network/loopback.ts';
import type { Target } from '../../client/target.ts';
import { recordTunnel } from '../../client/tunnel.ts';
import type { StateFolder } from '../../state/state-folder.ts';
import { launcherErrors } from '../errors.ts';

/** A port of this machine that leads to a socket, until it is closed. */
export interface Tunnel {
  close(): Promise<void>;
}

export interface TunnelOrder {
  /** The cluster whose mantad it leads to, so that Manta's own tools trust the port; absent: it leads elsewhere. */
  readonly folder?: StateFolder;
  readonly port: number;
  /**
   * The unix socket, or the port as `127.0.0.1:PORT`, that each connection goes to; asked again for each, so that a line
   * that was lost is made again.
   */
  readonly socket: (signal: AbortSignal) => Promise<string>;
  /** The socket did not take a connection. */
  readonly lost: () => void;
}

/** Holds a port on loopback, and says so in the folder of the cluster. */
export async function holdTunnel(order: TunnelOrder, signal: AbortSignal): Promise<Tunnel> {
  const open = new Set<Socket>();
  const serve = (near: Socket): void => {
    open.add(near);
    near.on('close', () => open.delete(near));
    near.on('error', () => near.destroy());
    void lead(near, order, signal).catch(() => near.destroy());
  };
  const make = (): Server => createServer({ allowHalfOpen: true }, serve);
  const pair = { four: make(), six: make() };
  if ((await listenOnPair(pair, order.port)) === undefined) throw launcherErrors.PortTaken({ port: order.port });
  const forget = order.folder && recordTunnel(order.folder, order.port);
  return {
    close: async () => {
      forget?.();
      for (const socket of open) socket.destroy();
      await closePair(pair);
    },
  };
}

/** Joins a connection to the far end. Tried twice: a line may have been lost since it was last used. */
export async function lead(
  near: Socket,
  order: Pick<TunnelOrder, 'socket' | 'lost'>,
  signal: AbortSignal,
): Promise<void> {
  for (let tries = 0; ; tries++) {
    const place = await order.socket(signal);
    const port = /^127\.0\.0\.1:(\d+)$/.exec(place)?.[1];
    const end = port === undefined ? { path: place } : { host: '127.0.0.1', port: Number(port) };
    const far = connectSocket({ ...end, allowHalfOpen: true });
    const open = await new Promise<boolean>((resolve) => {
      far.once('connect', () => resolve(true));
      far.once('error', () => resolve(false));
    });
    if (open) {
      if (near.destroyed) return void far.destroy();
      // Nobody took the other end: what goes there is to be found again for the next connection.
      const left = (): void => {
        if (far.bytesRead === 0 && near.bytesRead > 0 && !near.destroyed) order.lost();
      };
      far.on('error', () => {
        left();
        near.destroy();
      });
      far.on('end', left);
      far.on('close', () => near.destroy());
      near.on('close', () => far.destroy());
      near.pipe(far).pipe(near);
      return;
    }
    order.lost();
    if (tries > 0) throw new Error('cannot reach the head');
  }
}

/** The way to mantad of a cluster, as a tunnel's far end. */
export const mantadSocket = (target: Target): Pick<TunnelOrder, 'socket' | 'lost'> => ({
  socket: async (signal) => {
    const { socket, url } = await target.place(signal);
    return socket ?? new URL(url).host;
  },
  lost: () => target.lost?.(),
});
