import { setTimeout as sleep } from 'node:timers/promises';
import type { Host } from '../../base/host.ts';
import type { Serving } from '../state-folder.ts';

const { request } = process.getBuiltinModule('node:http');

const answersWithin = 15_000;
/** A connection that was lost is made again meanwhile. */
const patience = 20_000;
const lookEvery = 200;

/**
 * A socket of this machine that leads to mantad on its host: to its socket there, which is its user's alone, or to its port
 * where the SSH server lets no sockets through. That shows only when somebody speaks, so it is found out by a question that
 * changes nothing.
 */
export async function lineTo(
  host: Pick<Host, 'forward'>,
  { socket, url }: Pick<Serving, 'socket' | 'url'>,
  signal: AbortSignal,
): Promise<string> {
  for (const until = performance.now() + patience; ; await sleep(lookEvery, undefined, { signal })) {
    if (socket !== undefined) {
      const here = await host.forward({ socket }, signal);
      if (await answers(here, signal)) return here;
    }
    const byPort = await host.forward({ port: Number(new URL(url).port) }, signal);
    if ((await answers(byPort, signal)) || performance.now() > until) return byPort;
  }
}

function answers(socketPath: string, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const asked = request('http://localhost/healthz', { socketPath, agent: false, timeout: answersWithin, signal });
    asked.on('response', (answer) => {
      answer.resume();
      resolve(true);
    });
    asked.on('timeout', () => asked.destroy(new Error('silent')));
    asked.on('error', () => (signal.aborted ? reject(signal.reason as Error) : resolve(false)));
    asked.end();
  });
}
