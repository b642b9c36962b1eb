import { createServer } from 'node:net';
import type { Forward } from '../../base/host.ts';
import { launcherErrors } from '../errors.ts';

/**
 * Forwards of these ports, each to the same port of the node. Throws before anything is started when one of them cannot be
 * listened on here.
 */
export async function portForwards(ports: readonly number[]): Promise<Forward[]> {
  const distinct = [...new Set(ports)];
  for (const port of distinct) await probe(port);
  return distinct.map((port) => ({ localPort: port, remotePort: port }));
}

async function probe(port: number): Promise<void> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ port, host: '127.0.0.1', exclusive: true }, resolve);
    });
  } catch (error) {
    throw launcherErrors.ExecPortBusy({ port, why: wordsOf(error as NodeJS.ErrnoException) }, error);
  }
  await new Promise((resolve) => server.close(resolve));
}

function wordsOf(error: NodeJS.ErrnoException): string {
  if (error.code === 'EADDRINUSE') return 'it is already in use';
  if (error.code === 'EACCES') return 'permission denied';
  return error.message;
}
