/** One page for all clusters of a user, over real sockets, in front of real servers of two heads. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { WebSocket } from 'ws';
import { clusterHost, listHost } from '../../src/client/cluster-host.ts';
import type { ListedCluster } from '../../src/launcher/dashboard/cluster-list.ts';
import { type ClusterPages, serveClusterPages } from '../../src/launcher/dashboard/cluster-pages.ts';
import { GatewayBed } from '../head/gateway/bed.ts';

describe('one page for all clusters', () => {
  const beds = new Map<string, GatewayBed>();
  const cleanUps: (() => Promise<void>)[] = [];
  const opened: string[] = [];
  const ending = new AbortController();
  const listed = (): readonly ListedCluster[] => [
    ...[...beds.keys()].map((name) => ({ name, kind: 'here & <there>', state: 'running' as const })),
    { name: 'gone', kind: '', state: 'not asked' },
  ];
  let pages: ClusterPages;
  let port: number;

  before(async () => {
    for (const name of ['blue', 'Green_1'])
      beds.set(name, await GatewayBed.open({ after: (work) => cleanUps.push(work) }, { name, ray: name === 'blue' }));
    pages = await serveClusterPages(
      {
        port: 0,
        spare: 0,
        clusters: () => listed(),
        look: async () => listed(),
        routeTo: (name) => ({
          socket: async () => {
            opened.push(name);
            return name === 'blue' ? (beds.get(name)?.serving.socket ?? '') : `127.0.0.1:${beds.get(name)?.port}`;
          },
          lost: () => {},
        }),
        ticketOf: async (name) => {
          const bed = beds.get(name);
          if (bed === undefined) throw new Error(`no mantad of '${name}' runs`);
          return bed.bed.users.makeTicket('owner');
        },
      },
      ending.signal,
    );
    port = Number(new URL(pages.newLink()).port);
  });

  after(async () => {
    ending.abort();
    await pages?.close();
    for (const cleanUp of cleanUps) await cleanUp();
  });

  const ask = (path: string, host: string, headers: Record<string, string> = {}) =>
    new Promise<{ status: number; headers: IncomingHttpHeaders; text: string }>((resolve, reject) => {
      request(
        { port, host: '127.0.0.1', path, agent: false, headers: { host: `${host}:${port}`, ...headers } },
        (answer) => {
          let text = '';
          answer.on('data', (bytes: Buffer) => (text += bytes.toString()));
          answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
        },
      )
        .on('error', reject)
        .end();
    });
  const cookieOf = (headers: IncomingHttpHeaders): string => headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  const signIn = async (): Promise<string> => {
    const { host, pathname, search, searchParams } = new URL(pages.newLink());
    assert.equal(host, `${listHost}:${port}`);
    const { status, headers } = await ask(`${pathname}${search}`, listHost);
    assert.equal(status, 200);
    assert.match(headers['set-cookie']?.[0] ?? '', /HttpOnly; SameSite=Strict/);
    const cookie = cookieOf(headers);
    assert.ok(!cookie.includes(searchParams.get('key') ?? ''), 'who sees the link later has no session');
    assert.equal((await ask(`${pathname}${search}`, listHost)).status, 401, 'a link works once');
    return cookie;
  };

  test('only who has the link sees the list and opens clusters', async () => {
    for (const path of ['/', '/open/blue', '/?key=wrong', '/?key='])
      assert.equal((await ask(path, listHost)).status, 401, path);
    const cookie = await signIn();
    const { status, text } = await ask('/', listHost, { cookie });
    assert.equal(status, 200);
    assert.match(text, /href="\/open\/blue"/);
    assert.match(text, /here &#38; &#60;there&#62;/);
    assert.deepEqual(opened, [], 'nothing is opened before somebody goes there');
  });

  test('each cluster is opened under an origin of its own, and one’s session is none of the other’s', async () => {
    const list = await signIn();
    const sessions = new Map<string, string>();
    for (const name of beds.keys()) {
      const { status, headers } = await ask(`/open/${name}`, listHost, { cookie: list });
      assert.equal(status, 303);
      const link = new URL(headers.location ?? '');
      assert.equal(link.host, `${clusterHost(name)}:${port}`);
      const answer = await ask(`${link.pathname}${link.search}`, link.hostname);
      assert.deepEqual([answer.status, answer.headers.location], [303, './']);
      sessions.set(name, cookieOf(answer.headers));
      assert.match((await ask('/manta/', link.hostname)).text, /<!doctype html>/i);
    }
    const jobs = '/manta/api/manta/v1/jobs';
    for (const [name, cookie] of sessions)
      for (const other of beds.keys()) {
        const { status } = await ask(jobs, clusterHost(other), { cookie });
        assert.equal(status, other === name ? 200 : 401, `${name} at ${other}`);
      }
    assert.equal((await ask(jobs, clusterHost('blue'), { cookie: list })).status, 401);
  });

  test('a cluster that cannot be reached says so on a page', async () => {
    const { status, text } = await ask('/open/gone', listHost, { cookie: await signIn() });
    assert.equal(status, 502);
    assert.match(text, /no mantad of &#39;gone&#39; runs/);
    assert.equal((await ask('/open/nobody', listHost, { cookie: await signIn() })).status, 404);
  });

  test('a browser that has a session keeps it when it comes with a link that is spent', async () => {
    const cookie = await signIn();
    assert.equal((await ask('/?key=spent', listHost, { cookie })).status, 200);
    assert.notEqual(await signIn(), cookie, 'each browser has its own');
  });

  test('other names lead nowhere', async () => {
    for (const host of [
      'localhost',
      '127.0.0.1',
      'evil.example',
      'nobody.localhost',
      'blue.localhost.evil.example',
      '10.0.0.1',
    ])
      assert.equal((await ask('/', host)).status, 403, host);
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('GET / HTTP/1.1\r\nhost: localhost\r\nhost: blue.localhost\r\n\r\n');
    await once(socket, 'close');
  });

  test('lines that stay open go through too', async () => {
    const bed = beds.get('blue') as GatewayBed;
    const line = new WebSocket(`ws://127.0.0.1:${port}/api/v0/live`, {
      headers: { host: `${clusterHost('blue')}:${port}`, authorization: `Bearer ${bed.owner}` },
    });
    const [heard] = (await once(line, 'message')) as [Buffer];
    assert.equal(String(heard), 'hello');
    line.close();
    await once(line, 'close');
  });
});
