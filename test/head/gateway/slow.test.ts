import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Hono } from 'hono';
import { Front } from '../../../src/head/gateway/front.ts';
import type { JobsApiDeps } from '../../../src/jobs/api.ts';
import type { JobsEnv } from '../../../src/jobs/users/auth.ts';

const deps = { auth: { cookie: 'manta-test', users: { byToken: () => undefined } } };
const limits = { headersTimeout: 4_000, bodySilence: 4_000 };

/** A server that tells how long each body was, and a connection to it. */
async function lineTo(t: TestContext): Promise<{ line: Socket; said: Promise<string> }> {
  const app = new Hono<JobsEnv>();
  app.put('*', async (c) => c.text(`read ${(await c.req.arrayBuffer()).byteLength}`));
  const server = new Front(app, deps as unknown as JobsApiDeps, undefined, limits).server().listen(0, '127.0.0.1');
  await once(server, 'listening');
  assert.equal(server.requestTimeout, 0, 'a whole request may take as long as it takes');
  const line = connect((server.address() as AddressInfo).port, '127.0.0.1');
  t.after(() => {
    line.destroy();
    server.close();
    server.closeAllConnections();
  });
  let text = '';
  line.on('data', (bytes) => (text += bytes.toString()));
  line.on('error', () => {});
  // A line that the other side resets has said all it had to say.
  return { line, said: new Promise<string>((resolve) => line.on('close', () => resolve(text))) };
}

const head = 'PUT /api/packages/gcs/a.zip HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 20\r\n';

describe('a client that is slow', { concurrency: true }, () => {
  it('an upload may take many times longer than a client may be silent', async (t) => {
    const { line, said } = await lineTo(t);
    line.write(`${head}\r\n`);
    for (let sent = 0; sent < 20; sent++) {
      await sleep(400);
      line.write('x');
    }
    assert.match(await said, /read 20$/);
  });

  it('an upload that has stopped coming is given up', async (t) => {
    const { line, said } = await lineTo(t);
    line.write(`${head}\r\nxxx`);
    assert.doesNotMatch(await said, /read/);
  });

  it('headers that do not come to an end are given up, however steadily they come', async (t) => {
    const { line, said } = await lineTo(t);
    line.write(head);
    const dripping = setInterval(() => line.write('x-more: y\r\n'), 50);
    t.after(() => clearInterval(dripping));
    line.once('data', () => clearInterval(dripping));
    assert.match(await said, /^HTTP\/1\.1 408 /);
  });
});
