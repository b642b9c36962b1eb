import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { apiErrors } from '../../src/api/errors.ts';
import { silent } from '../../src/base/events.ts';
import { sshErrors } from '../../src/base/ssh/errors.ts';
import { clientErrors } from '../../src/client/errors.ts';
import { HttpClient } from '../../src/client/http.ts';
import { isPassing } from '../../src/client/persistent.ts';
import { RayJobs } from '../../src/client/ray-jobs.ts';
import { stateErrors } from '../../src/state/errors.ts';
import { never } from '../contract/waiting.ts';

test('what reached nobody is sent again when the line is found anew, also what may be sent but once', async (t) => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let found = false;
  const line = {
    shown: "cluster 'c'",
    headers: {},
    verify: 'true',
    place: async () => (found ? { url } : { url, socket: '/nowhere/at.all' }),
  };
  const client = new HttpClient({ ...line, lost: () => void (found = true) }, never);
  t.after(() => client.close());
  await client.json('POST', '/api/manta/v1/extend', { json: { by: 1 } });
  assert.deepEqual(asked, ['POST /api/manta/v1/extend']);

  found = false;
  const plain = new HttpClient(line, never);
  t.after(() => plain.close());
  await assert.rejects(plain.json('GET', '/x'), (error) => clientErrors.Unreachable.is(error));
});

/** A client, as of a line that can be found anew, of a server that answers as told; and what it was asked. */
async function clientOf(t: TestContext, answer: (nth: number) => RequestListener) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    answer(asked.length)(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const line = { shown: 'c', headers: {}, verify: 'true', place: async () => ({ url }), lost: () => {} };
  const client = new HttpClient(line, never);
  t.after(() => {
    client.close();
    server.close();
  });
  return { client, asked };
}

const cut: RequestListener = (request) => request.socket.destroy();
const cutInTheMiddle: RequestListener = (request, response) => {
  response.writeHead(200, { 'content-length': '100' }).write('{');
  setImmediate(() => request.socket.destroy());
};
const says =
  (status: number, text = '{}'): RequestListener =>
  (_, response) =>
    void response.writeHead(status).end(text);

test('what may have been read is not sent again, unless that does no harm', async (t) => {
  const once = await clientOf(t, () => cut);
  await assert.rejects(once.client.json('POST', '/extend', { json: {} }), (error) => clientErrors.Broken.is(error));
  assert.deepEqual(once.asked, ['POST /extend']);

  const deaf = await clientOf(t, () => () => {});
  const unheard = deaf.client.json('POST', '/extend', { json: {}, silence: 50 });
  await assert.rejects(unheard, (error) => clientErrors.Broken.is(error));
  assert.deepEqual(deaf.asked, ['POST /extend']);

  const again = await clientOf(t, (nth) => (nth < 4 ? cut : says(200)));
  await again.client.json('POST', '/jobs', { json: {}, repeatable: true });
  assert.equal(again.asked.length, 4);
});

test('what a mantad that ends has not taken is sent to the next one', async (t) => {
  const ending: RequestListener = (_, response) =>
    void response.writeHead(503, { 'manta-error': apiErrors.Closing.code }).end('mantad is ending');
  const { client, asked } = await clientOf(t, (nth) => (nth === 1 ? ending : says(200)));
  await client.json('POST', '/extend', { json: {} });
  assert.equal(asked.length, 2);
});

test('an answer that is cut in the middle is asked for again', async (t) => {
  const { client, asked } = await clientOf(t, (nth) => (nth === 1 ? cutInTheMiddle : says(200, '{"a":1}')));
  assert.deepEqual(await client.json('GET', '/x'), { a: 1 });
  assert.equal(asked.length, 2);
});

test('what is gone when a deletion is asked for again was deleted the first time', async (t) => {
  const lost = await clientOf(t, (nth) => (nth === 1 ? cut : says(404)));
  await lost.client.send('DELETE', '/jobs/a');
  assert.equal(lost.asked.length, 2);
  const never = await clientOf(t, () => says(404));
  await assert.rejects(never.client.send('DELETE', '/jobs/a'));
});

test("a job whose answer was lost is Ray's job already when it is sent again", async (t) => {
  const taken = says(500, 'Traceback\nRuntimeError: Job with submission_id mine already exists.');
  const { client, asked } = await clientOf(t, (nth) => (nth === 1 ? cut : taken));
  const jobs = new RayJobs({ http: client, signal: never, events: silent });
  assert.equal((await jobs.submit({ id: 'mine', entrypoint: 'true' })).id, 'mine');
  assert.equal(asked.length, 2);
  const other = await clientOf(t, () => taken);
  await assert.rejects(
    new RayJobs({ http: other.client, signal: never, events: silent }).submit({ id: 'mine', entrypoint: 'true' }),
  );
});

test('a follower waits for a machine that is away and for a mantad that is started, not for a cluster that is gone', () => {
  const host = { host: 'h', detail: '' };
  const unserved = { name: 'c', host: 'h' };
  for (const error of [
    sshErrors.Unreachable(host),
    sshErrors.Timeout(host),
    sshErrors.Dropped({ ...host, during: 'connecting' }),
    sshErrors.ForwardFailed({ ...host, socket: 's' }),
    clientErrors.NotServed({ ...unserved, isThere: true }),
  ])
    assert.ok(isPassing(error), error.message);
  for (const error of [
    clientErrors.NotServed({ ...unserved, isThere: false }),
    stateErrors.NotRunning({ name: 'c' }),
    sshErrors.BadAddress({ address: 'x' }),
  ])
    assert.ok(!isPassing(error), error.message);
});
