import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { clientErrors } from '../../../src/head/client/errors.ts';
import { HttpClient } from '../../../src/head/client/http.ts';
import { never } from '../../contract/waiting.ts';

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
