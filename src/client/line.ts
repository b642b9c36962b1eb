import type { Host } from '../base/host.ts';
import { wallClock } from '../base/time/wall-clock.ts';
import type { Serving } from '../state/serving.ts';
import { clientAt } from './http.ts';

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
  for (const until = performance.now() + patience; ; await wallClock.sleep(lookEvery, signal)) {
    if (socket !== undefined) {
      const here = await host.forward({ socket }, signal);
      if (await answers(here, signal)) return here;
    }
    const byPort = await host.forward({ port: Number(new URL(url).port) }, signal);
    if ((await answers(byPort, signal)) || performance.now() > until) return byPort;
  }
}

async function answers(socket: string, signal: AbortSignal): Promise<boolean> {
  const http = clientAt({ url: 'http://localhost', socket }, signal);
  try {
    await http.statusOf('GET', '/healthz', { silence: answersWithin, repeatable: false });
    return true;
  } catch {
    signal.throwIfAborted();
    return false;
  } finally {
    http.close();
  }
}
