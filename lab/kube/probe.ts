/**
 * Asks every route of an HTTP service again and again, each time over a new connection: `node probe.ts ADDRESS PAUSE-MS
 * ROUTE...`. Writes a line of JSON for each answer, or for what came in place of one.
 */
import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const [address = '', pause = '50', ...routes] = process.argv.slice(2);

interface Probe {
  readonly route: string;
  /** When it was sent and when it was answered, in milliseconds since 1970. */
  readonly sent: number;
  readonly ended: number;
  readonly status: number;
  readonly body: string;
}

function ask(route: string): Promise<Probe> {
  const sent = Date.now();
  const done = (status: number, body: string): Probe => ({ route, sent, ended: Date.now(), status, body });
  return new Promise((resolve) => {
    const asked = get(`http://${address}${route}`, { agent: false, timeout: 10_000 }, (response) => {
      text(response).then(
        (body) => resolve(done(response.statusCode ?? 0, body)),
        (error: Error) => resolve(done(0, error.message)),
      );
    });
    asked.on('timeout', () => asked.destroy(new Error('no answer for 10 s')));
    asked.on('error', (error) => resolve(done(0, error.message)));
  });
}

async function keepAsking(route: string): Promise<never> {
  for (;;) {
    process.stdout.write(`${JSON.stringify(await ask(route))}\n`);
    await sleep(Number(pause));
  }
}

await Promise.all(routes.map(keepAsking));
