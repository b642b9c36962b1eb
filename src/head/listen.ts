import type { SendHandle } from 'node:child_process';
import { chmodSync, closeSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { headErrors } from './errors.ts';

const usualPort = 8265;
const portsTried = 100;
/** Where the supervisor puts the socket that it holds for the daemon. */
const heldFd = 3;
/** Longest path of a unix socket that every system takes. */
const longestSocketPath = 100;

/** What a supervisor keeps of a listening socket: it never accepts, so clients wait in line until a daemon does. */
export interface HeldSocket {
  readonly fd: number;
  close(): void;
}

/** What the daemon tells the supervisor when it listens on a port that was not held yet. */
export interface HoldMessage {
  readonly hold: number;
}

export interface ListenOrder {
  /** Asked for by the user: this one or none. */
  readonly port: number | undefined;
  /** The one that clients know from before. */
  readonly lastPort: number | undefined;
  /** The one whose socket the supervisor has handed over. */
  readonly heldPort: number | undefined;
}

/** The held socket where it is of the right port; else the port asked for, or the last, or the usual, or the next free. */
export async function listenOnLoopback(server: Server, { port, lastPort, heldPort }: ListenOrder): Promise<number> {
  if (heldPort !== undefined && (port === undefined || port === heldPort)) {
    if (await listens(server, { fd: heldFd })) return heldPort;
  } else if (heldPort !== undefined) closeSync(heldFd);
  const usual = Array.from({ length: portsTried }, (_, index) => usualPort + index);
  for (const next of port !== undefined ? [port] : [...(lastPort === undefined ? [] : [lastPort]), ...usual]) {
    if (await listens(server, { port: next, host: '127.0.0.1' })) return (server.address() as AddressInfo).port;
    if (port !== undefined) throw headErrors.PortTaken({ port });
  }
  throw headErrors.PortTaken({ port: usualPort });
}

/** Listens on a socket for this user alone. False where its path is longer than systems allow. */
export async function listenOnSocket(server: Server, path: string): Promise<boolean> {
  if (Buffer.byteLength(path) > longestSocketPath) return false;
  rmSync(path, { force: true });
  if (!(await listens(server, { path }))) return false;
  chmodSync(path, 0o600);
  return true;
}

function listens(server: Server, where: { fd: number } | { port: number; host: string } | { path: string }) {
  return new Promise<boolean>((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void =>
      error.code === 'EADDRINUSE' || 'fd' in where ? resolve(false) : reject(error);
    server.once('error', failed);
    server.listen(where, () => {
      server.removeListener('error', failed);
      resolve(true);
    });
  });
}

/** Gives the supervisor a hold of the socket, so that nobody takes the port while the daemon is started again. */
export function handToSupervisor(server: Server, port: number): void {
  if (process.send === undefined) return;
  const { _handle: handle } = server as unknown as { _handle: SendHandle };
  process.send({ hold: port } satisfies HoldMessage, handle, {}, () => {});
}
