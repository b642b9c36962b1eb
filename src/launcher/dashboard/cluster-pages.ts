import { createHash, randomBytes } from 'node:crypto';
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { MantaError } from '../../base/errors.ts';
import { closePair, type LoopbackPair, listenOnPair } from '../../base/network/loopback.ts';
import { clusterHost, listHost } from '../../client/cluster-host.ts';
import { launcherErrors } from '../errors.ts';
import { lead, type TunnelOrder } from '../reach/tunnel.ts';
import type { ListedCluster } from './cluster-list.ts';
import { listPage, problemPage, signedInPage, style } from './cluster-pages-text.ts';

export interface ClusterPagesOrder {
  readonly port: number;
  /** How many ports above it may be taken instead. */
  readonly spare: number;
  /** Asked again for each visit. */
  readonly clusters: () => readonly ListedCluster[];
  /** The same with what they say themselves, as far as that is known soon. */
  readonly look: () => Promise<readonly ListedCluster[]>;
  /** The way to a cluster; opened when somebody goes there. */
  readonly routeTo: (cluster: string) => Pick<TunnelOrder, 'socket' | 'lost'>;
  /** A word that signs a browser in at the cluster once. */
  readonly ticketOf: (cluster: string) => Promise<string>;
}

export interface ClusterPages {
  /** A link of its own each time, which lets one browser in, once. */
  newLink(): string;
  close(): Promise<void>;
}

const largestHead = 32 << 10;
const headWithin = 20_000;
const cookie = 'manta-clusters';

/**
 * One port of this machine for all clusters of a user: a list of them and each of them under a name of its own
 * (`<cluster>.localhost`), so that their cookies and scripts never meet, nor those of other ports. A connection goes to where its first request
 * says; what else it asks there, the cluster judges itself.
 */
export async function serveClusterPages(order: ClusterPagesOrder, signal: AbortSignal): Promise<ClusterPages> {
  const open = new Set<Socket>();
  const [keys, sessions] = [new Set<string>(), new Set<string>()];
  const list = createHttp((request, response) => void answer(request, response));
  const serve = (near: Socket): void => {
    open.add(near);
    near.on('close', () => open.delete(near));
    near.on('error', () => near.destroy());
    readHost(near, (host) => {
      if (host === listHost) {
        list.emit('connection', near);
        return void near.resume();
      }
      const cluster = order.clusters().find(({ name }) => clusterHost(name) === host);
      if (cluster === undefined) return void near.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n');
      void lead(near, order.routeTo(cluster.name), signal).catch(() => near.destroy());
    });
  };
  const make = (): Server => createServer({ allowHalfOpen: true, noDelay: true }, serve);
  const pair = { four: make(), six: make() };
  const port = await listen(pair, order.port, order.spare);

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const host = (request.headers.host ?? '').replace(/:\d+$/, '').toLowerCase();
    const say = (status: number, body: string, more: Record<string, string> = {}): void =>
      void response.writeHead(status, { ...guards, 'content-type': 'text/html; charset=utf-8', ...more }).end(body);
    if (host !== listHost || request.method !== 'GET') return say(403, '');
    if (pathname === '/style.css') return say(200, style, { 'content-type': 'text/css; charset=utf-8' });
    const key = searchParams.get('key');
    if (key !== null && takeOut(keys, key)) {
      const session = newWord(sessions);
      // A page that goes on by itself: a browser that was sent here by another page brings this cookie only then.
      return say(200, signedInPage(), { 'set-cookie': `${cookie}=${session}; HttpOnly; SameSite=Strict; Path=/` });
    }
    if (!has(sessions, cookieIn(request)))
      return say(
        401,
        problemPage('You are not signed in', "a link works once; run 'manta dashboard' again for a new one"),
      );
    if (pathname === '/') return say(200, listPage(await order.look(), Date.now()));
    const name = order.clusters().find((each) => pathname === `/open/${encodeURIComponent(each.name)}`)?.name;
    if (name === undefined) return say(404, problemPage('Page not found', 'go back to the list'));
    try {
      const ticket = encodeURIComponent(await order.ticketOf(name));
      say(303, '', { location: `http://${clusterHost(name)}:${port}/manta/?ticket=${ticket}` });
    } catch (error) {
      const { message, hint } = error as MantaError;
      say(502, problemPage(message, (error instanceof MantaError ? hint : undefined) ?? 'go back and try again'));
    }
  };

  return {
    newLink: () => `http://${listHost}:${port}/?key=${newWord(keys)}`,
    close: async () => {
      for (const socket of open) socket.destroy();
      await closePair(pair);
    },
  };
}

const guards = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** The host that the first request on a connection names; what was read stands to be read again. */
function readHost(near: Socket, go: (host: string) => void): void {
  let seen = Buffer.alloc(0);
  const late = setTimeout(() => near.destroy(), headWithin);
  near.once('close', () => clearTimeout(late));
  const read = (bytes: Buffer): void => {
    seen = Buffer.concat([seen, bytes]);
    const end = seen.indexOf('\r\n\r\n');
    if (end < 0 && seen.length < largestHead) return;
    clearTimeout(late);
    near.removeListener('data', read);
    near.pause();
    const hosts =
      seen
        .subarray(0, Math.max(0, end))
        .toString('latin1')
        .match(/(?<=\r\nhost:)[^\r\n]*/gi) ?? [];
    if (hosts.length !== 1) return void near.destroy();
    near.unshift(seen);
    go(String(hosts[0]).trim().replace(/:\d+$/, '').toLowerCase());
  };
  near.on('data', read);
}

function cookieIn({ headers }: IncomingMessage): string {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${cookie}=`))?.slice(cookie.length + 1) ?? '';
}

/** Kept as a digest: how long it takes to find one says nothing of the words that there are. */
function newWord(words: Set<string>): string {
  const word = randomBytes(24).toString('base64url');
  words.add(digestOf(word));
  return word;
}

const has = (words: ReadonlySet<string>, word: string): boolean => words.has(digestOf(word));

const takeOut = (words: Set<string>, word: string): boolean => words.delete(digestOf(word));

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

async function listen(pair: LoopbackPair, first: number, spare: number): Promise<number> {
  for (let port = first; port <= first + spare; port++) {
    const bound = await listenOnPair(pair, port);
    if (bound !== undefined) return bound;
  }
  throw launcherErrors.PortTaken({ port: first });
}
