import type { SendHandle } from 'node:child_process';
import { chmodSync, closeSync, existsSync, rmSync } from 'node:fs';
import type { Server } from 'node:net';
import { type LoopbackPair, listenOnPair, listenOnSix, listensAt } from '../../base/network/loopback.ts';
import { headErrors } from '../errors.ts';

const usualPort = 8265;
const portsTried = 100;
/** Where the supervisor puts the sockets that it holds for the daemon. */
const heldFds = { four: 3, six: 4, near: 5 };
/** Longest path of a unix socket that every system takes. */
const longestSocketPath = 100;

/** What a supervisor keeps of a listening socket: it never accepts, so clients wait in line until a daemon does. */
export interface HeldSocket {
  readonly fd: number;
  close(): void;
}

/**
 * What the daemon tells the supervisor when it listens where nothing was held yet: on a port at 127.0.0.1 or at ::1, or on
 * the socket of its folder.
 */
export type HoldMessage = { readonly hold: number; readonly family: 4 | 6 } | { readonly hold: 'near' };

export interface ListenOrder {
  /** Asked for by the user: this one or none. */
  readonly port: number | undefined;
  /** The one that clients know from before. */
  readonly lastPort: number | undefined;
  /** The one whose sockets the supervisor has handed over. */
  readonly heldPort: number | undefined;
  /** Whether the one at ::1 is among them. */
  readonly heldSix: boolean;
}

export interface Listening {
  readonly port: number;
  /** The port that was wanted, and that another has at 127.0.0.1 or ::1. */
  readonly taken?: number;
}

/**
 * The held sockets where they are of the right port; else the port asked for, or the last, or the usual, or the next free.
 * What is not held yet is handed to the supervisor.
 */
export async function listenOnLoopback(pair: LoopbackPair, order: ListenOrder): Promise<Listening> {
  const { port, lastPort, heldPort } = order;
  if (heldPort !== undefined && (port === undefined || port === heldPort)) {
    const held = await listenOnHeld(pair, heldPort, order.heldSix);
    if (held !== undefined) return held;
  } else if (heldPort !== undefined) {
    closeSync(heldFds.four);
    if (order.heldSix) closeSync(heldFds.six);
  }
  const usual = Array.from({ length: portsTried }, (_, index) => usualPort + index);
  const wanted = port !== undefined ? [port] : [...(lastPort === undefined ? [] : [lastPort]), ...usual];
  for (const next of wanted) {
    const bound = await listenOnPair(pair, next);
    if (bound === undefined) continue;
    handToSupervisor(pair.four, { hold: bound, family: 4 });
    handToSupervisor(pair.six, { hold: bound, family: 6 });
    return { port: bound, ...(next !== wanted[0] && { taken: wanted[0] as number }) };
  }
  throw headErrors.PortTaken({ port: port ?? usualPort });
}

/** Clients know the port: where another has got hold of it at ::1 meanwhile, it is served at 127.0.0.1 and told. */
async function listenOnHeld(pair: LoopbackPair, port: number, heldSix: boolean): Promise<Listening | undefined> {
  if (!(await listensAt(pair.four, { fd: heldFds.four }).catch(() => false))) return undefined;
  if (heldSix && (await listensAt(pair.six, { fd: heldFds.six }).catch(() => false))) return { port };
  if (!(await listenOnSix(pair.six, port))) return { port, taken: port };
  handToSupervisor(pair.six, { hold: port, family: 6 });
  return { port };
}

/**
 * Listens on a socket for this user alone: the one that the supervisor holds, so that anyone who came meanwhile is heard, or a
 * new one. False where its path is longer than systems allow.
 */
export async function listenOnSocket(server: Server, path: string, held: boolean): Promise<boolean> {
  if (Buffer.byteLength(path) > longestSocketPath) return false;
  if (held && existsSync(path) && (await listensAt(server, { fd: heldFds.near }).catch(() => false))) return true;
  rmSync(path, { force: true });
  if (!(await listensAt(server, { path }))) return false;
  chmodSync(path, 0o600);
  handToSupervisor(server, { hold: 'near' });
  return true;
}

/** Gives the supervisor a hold of the socket, so that nobody takes its place while the daemon is started again. */
function handToSupervisor(server: Server, what: HoldMessage): void {
  if (process.send === undefined || !server.listening) return;
  const { _handle: handle } = server as unknown as { _handle: SendHandle };
  process.send(what, handle, {}, () => {});
}
