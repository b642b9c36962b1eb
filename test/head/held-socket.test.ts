// needs: cluster

/** The socket of a cluster's folder while its daemon is gone, and what is under way when it is told to end. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Hono } from 'hono';
import { Front } from '../../src/head/gateway/front.ts';
import type { JobsApiDeps } from '../../src/jobs/api.ts';
import type { JobsEnv } from '../../src/jobs/users/auth.ts';
import { eventually, kill, TestCluster } from './test-cluster.ts';

const deps = { auth: { cookie: 'manta-test', users: { byToken: () => undefined } } };

/** One request, sent once. */
function ask(where: { socketPath: string } | { port: number }, method: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ ...where, method, path, agent: false }, (answer) => {
      let said = '';
      answer.on('data', (piece: Buffer) => (said += piece.toString()));
      answer.on('end', () => resolve(`${answer.statusCode} ${said}`));
      answer.on('error', reject);
    });
    sent.on('error', reject);
    sent.end();
  });
}

test('clients that come in by the socket wait while mantad is started again', async (t) => {
  const cluster = await TestCluster.start(t);
  const socketPath = cluster.folder.files.mantadSocket;
  for (let round = 0; round < 3; round++) {
    const before = cluster.mantad as number;
    kill(before);
    await eventually('it is gone', () => cluster.mantad !== before);
    assert.equal(await ask({ socketPath }, 'GET', '/healthz'), '200 success');
    assert.notEqual(cluster.mantad, before);
  }
  assert.equal((await cluster.down('--keep-state')).code, 0);
  await assert.rejects(ask({ socketPath }, 'GET', '/healthz'));
  await cluster.home.run('up', '-n', cluster.folder.name);
  assert.equal(await ask({ socketPath }, 'GET', '/healthz'), '200 success', 'a new supervisor serves it again');
});

test('whoever has asked for a change hears what came of it before the server ends', async (t) => {
  const gate = Promise.withResolvers<void>();
  const begun = { POST: Promise.withResolvers<void>(), GET: Promise.withResolvers<void>() };
  const app = new Hono<JobsEnv>();
  const slow = async (method: keyof typeof begun): Promise<void> => {
    begun[method].resolve();
    await gate.promise;
  };
  app.post('/api/manta/v1/slow', async (c) => {
    await slow('POST');
    return c.text('done');
  });
  app.get('/api/manta/v1/slow', async (c) => {
    await slow('GET');
    return c.text('read');
  });
  const front = new Front(app, deps as unknown as JobsApiDeps, undefined);
  const server = front.server();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const where = { port: (server.address() as AddressInfo).port };

  const read = ask(where, 'GET', '/api/manta/v1/slow');
  const change = ask(where, 'POST', '/api/manta/v1/slow');
  await Promise.all([begun.GET.promise, begun.POST.promise]);
  let isOver = false;
  const over = front.changesAnswered(60_000).then(() => (isOver = true));
  assert.match(await ask(where, 'POST', '/api/manta/v1/slow'), /^503 .*mantad is shutting down/, 'no more are taken');
  await sleep(100);
  assert.equal(isOver, false);
  gate.resolve();
  await over;
  assert.equal(await change, '200 done');
  assert.equal(await read, '200 read');
});

test('those who only read are not waited for when the server ends', async (t) => {
  const app = new Hono<JobsEnv>();
  const begun = Promise.withResolvers<void>();
  app.get('/api/manta/v1/slow', () => {
    begun.resolve();
    return new Promise<Response>(() => {});
  });
  const front = new Front(app, deps as unknown as JobsApiDeps, undefined);
  const server = front.server();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  const reading = ask({ port: (server.address() as AddressInfo).port }, 'GET', '/api/manta/v1/slow');
  reading.catch(() => {});
  await begun.promise;
  await front.changesAnswered(600_000);
});
