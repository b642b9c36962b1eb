import type { AddressInfo, Server } from 'node:net';

/** Two servers that do the same, one for each address that `localhost` can mean. */
export interface LoopbackPair {
  /** At 127.0.0.1. */
  readonly four: Server;
  /** At ::1; it does not listen where the machine has no such address. */
  readonly six: Server;
}

const triesForAny = 10;

/**
 * Takes a port for both: anyone who had one of them would hear half of those who ask for `localhost`. Undefined when another
 * has either. Port 0 is any that is free.
 */
export async function listenOnPair(pair: LoopbackPair, port: number): Promise<number | undefined> {
  for (let tries = 0; tries < (port === 0 ? triesForAny : 1); tries++) {
    if (!(await listensAt(pair.four, { port, host: '127.0.0.1' }))) continue;
    const taken = (pair.four.address() as AddressInfo).port;
    if (await listenOnSix(pair.six, taken)) return taken;
    await new Promise((resolve) => pair.four.close(resolve));
  }
  return undefined;
}

/** False when another has the port there; a machine without that address has nobody there. */
export async function listenOnSix(server: Server, port: number): Promise<boolean> {
  try {
    return await listensAt(server, { port, host: '::1' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT') return true;
    throw error;
  }
}

/** False when another listens there. */
export function listensAt(
  server: Server,
  where: { readonly fd: number } | { readonly port: number; readonly host: string } | { readonly path: string },
): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const failed = (error: NodeJS.ErrnoException): void => {
    server.removeListener('listening', done);
    if (error.code === 'EADDRINUSE') resolve(false);
    else reject(error);
  };
  const done = (): void => {
    server.removeListener('error', failed);
    resolve(true);
  };
  server.once('error', failed);
  server.once('listening', done);
  server.listen(where);
  return promise;
}

/** Until nothing of either is open; connections are for the caller to end. */
export async function closePair({ four, six }: LoopbackPair): Promise<void> {
  for (const server of [four, six]) if (server.listening) await new Promise((resolve) => server.close(resolve));
}
