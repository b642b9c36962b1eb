/** Requests that two readers could cut in two places, sent byte by byte. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { until } from '../../contract/waiting.ts';
import { fc } from '../../property.ts';
import { GatewayBed, rayToken } from './bed.ts';

const hidden = 'GET /api/v0/logs/file HTTP/1.1\r\nhost: localhost\r\n\r\n';

test('a request whose length can be read in two ways reaches Ray as one or not at all', async (t) => {
  const bed = await GatewayBed.open(t);
  const head = (first: string, ...lines: readonly string[]): string =>
    [first, 'host: localhost', `authorization: Bearer ${bed.guest}`, ...lines, '', ''].join('\r\n');
  const put = 'GET /nodes HTTP/1.1';
  const chunked = `0\r\n\r\n${hidden}`;
  const attempts = [
    head(put, 'content-length: 6', 'transfer-encoding: chunked') + chunked,
    head(put, 'transfer-encoding: chunked', 'content-length: 6') + chunked,
    head(put, 'content-length: 0', `content-length: ${hidden.length}`) + hidden,
    head(put, `content-length: ${hidden.length}, 0`) + hidden,
    head(put, 'content-length: +0') + hidden,
    head(put, 'content-length : 0') + hidden,
    head(put, `content-length: 0x${hidden.length.toString(16)}`) + hidden,
    head(put, 'transfer-encoding: xchunked') + chunked,
    head(put, 'transfer-encoding: chunked, identity') + chunked,
    head(put, 'transfer-encoding: identity') + hidden,
    head(put, 'transfer-encoding:\u000bchunked') + chunked,
    head(put, 'transfer-encoding: chunked', 'transfer-encoding: identity') + chunked,
    head(put, 'transfer-encoding\r\n : chunked') + chunked,
    head(put, `content-length: ${hidden.length}`) + hidden,
    head(put, 'x: y\rcontent-length: 0') + hidden,
    head(put, 'x: y\ncontent-length: 5') + hidden,
    head('GET /nodes HTTP/1.1\r\nx: y', 'connection: content-length', `content-length: ${hidden.length}`) + hidden,
    head('GET http://localhost/nodes HTTP/1.1') + hidden,
    head('GET /nodes\u0000 HTTP/1.1') + hidden,
    head('GET /nodes HTTP/1.1 HTTP/1.1') + hidden,
    head('GET /nodes HTTP/2.0') + hidden,
    head('CONNECT 127.0.0.1:8264 HTTP/1.1') + hidden,
    head('POST /nodes HTTP/1.1', 'transfer-encoding: chunked') + `5;\n\r\nhello\r\n${chunked}`,
    head('POST /nodes HTTP/1.1', 'transfer-encoding: chunked') + `-1\r\n${chunked}`,
    head('POST /nodes HTTP/1.1', 'transfer-encoding: chunked') + `ffffffffffffffffff\r\n${chunked}`,
    `GET /nodes HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\nauthorization: Bearer ${bed.owner}\r\n\r\n`,
    `GET /nodes HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${bed.guest}\r\nauthorization: Bearer ${bed.owner}\r\n\r\n`,
  ];
  for (const bytes of attempts) {
    bed.ray.reached.length = 0;
    const answers = (await bed.raw(bytes)).match(/HTTP\/1\.1 \d+/g) ?? [];
    const shown = JSON.stringify(bytes.replaceAll(bed.guest, 'TOKEN'));
    assert.ok(bed.ray.reached.length <= 1, shown);
    // The hidden request has no token of its own: whatever was made of it, nobody's was lent to it.
    for (const { url, headers } of bed.ray.reached) {
      assert.equal(url, '/nodes', shown);
      assert.equal(headers['content-length'] ?? headers['transfer-encoding'], undefined, shown);
    }
    assert.ok(answers.length <= 2 && !answers.slice(1).includes('HTTP/1.1 200'), `${shown}: ${answers.join()}`);
  }
});

test('what is in a header or a body of one request never becomes a part of the next', async (t) => {
  const bed = await GatewayBed.open(t);
  bed.ray.answer = (asked, response, reached) => {
    asked.on('end', () => response.end(`${reached.url} ${reached.body.length}`));
  };
  const piece = fc.constantFrom(
    '\r\n',
    '\r',
    '\n',
    ' ',
    ':',
    '0\r\n\r\n',
    'GET /x HTTP/1.1\r\nhost: y\r\n\r\n',
    'a',
    '\t',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 6 }), async (pieces) => {
      const body = pieces.join('');
      bed.ray.reached.length = 0;
      const first = [
        'PUT /api/serve/applications/ HTTP/1.1',
        'host: localhost',
        `authorization: Bearer ${bed.owner}`,
        `content-length: ${body.length}`,
      ];
      const second = [
        'GET /nodes HTTP/1.1',
        'host: localhost',
        `authorization: Bearer ${bed.guest}`,
        'connection: close',
      ];
      const said = await bed.raw(`${first.join('\r\n')}\r\n\r\n${body}${second.join('\r\n')}\r\n\r\n`);
      assert.equal(said.match(/HTTP\/1\.1 200/g)?.length, 2, said);
      assert.deepEqual(
        bed.ray.reached.map(({ method, url, body: got }) => [method, url, got]),
        [
          ['PUT', '/api/serve/applications/', body],
          ['GET', '/nodes', ''],
        ],
      );
    }),
    { numRuns: 40 },
  );
});

test('an answer that can be read in two ways is no answer', async (t) => {
  const bed = await GatewayBed.open(t);
  for (const lines of [
    'content-length: 5\r\ntransfer-encoding: chunked',
    'content-length: 5\r\ncontent-length: 7',
    'content-length: five',
  ]) {
    bed.ray.answer = (asked) => void asked.socket.end(`HTTP/1.1 200 OK\r\n${lines}\r\n\r\nhello`);
    const { status, headers } = await bed.ask('/nodes');
    assert.deepEqual([status, headers['manta-error']], [502, 'MANTA_GATEWAY_NO_ANSWER'], lines);
  }
});

test('a WebSocket of Ray’s works both ways and carries Ray’s token', async (t) => {
  const bed = await GatewayBed.open(t);
  const line = bed.socket('/api/v0/live', { headers: { cookie: 'a=b' } });
  const heard: string[] = [];
  line.on('message', (text) => heard.push(String(text)));
  await once(line, 'open');
  line.send('one');
  await until('both are there', () => heard.length === 2);
  assert.deepEqual(heard, ['hello', 'echo one']);
  const headers = bed.ray.upgrades[0]?.headers;
  assert.equal(headers?.authorization, `Bearer ${rayToken}`);
  assert.equal(headers?.cookie, undefined);
  line.close();
  await once(line, 'close');

  for (const [as, status] of [
    [null, 401],
    ['wrong', 403],
    [bed.guest, 403],
  ] as const) {
    const refused = bed.socket('/api/v0/live', { as });
    const [, answer] = (await once(refused, 'unexpected-response')) as [unknown, { statusCode: number }];
    assert.equal(answer.statusCode, status);
    refused.on('error', () => {});
    refused.terminate();
  }
  assert.equal(bed.ray.upgrades.length, 1);
});

test('the lines are joined only when Ray agreed: what follows a refused upgrade is heard by nobody', async (t) => {
  const bed = await GatewayBed.open(t);
  bed.ray.upgrade = (_, socket) => {
    socket.on('data', (bytes) => (late += String(bytes)));
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nno');
  };
  let late = '';
  const head = [
    'GET /api/v0/live HTTP/1.1',
    'host: localhost',
    `authorization: Bearer ${bed.owner}`,
    'connection: Upgrade',
  ];
  const key = ['upgrade: websocket', 'sec-websocket-version: 13', 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=='];
  const said = await bed.raw(`${[...head, ...key].join('\r\n')}\r\n\r\n${hidden}`);
  assert.match(said, /^HTTP\/1\.1 502 /);
  assert.equal(said.match(/HTTP\/1/g)?.length, 1);
  assert.equal(late, '');
  const other = await bed.raw(`${[...head, 'upgrade: h2c'].join('\r\n')}\r\n\r\n${hidden}`);
  assert.match(other, /^HTTP\/1\.1 400 /);
  assert.equal(other.match(/HTTP\/1/g)?.length, 1);
  assert.equal(bed.ray.reached.length, 0);
});

test('a WebSocket ends with its user’s permission and with Ray', async (t) => {
  const bed = await GatewayBed.open(t);
  const { token } = await bed.bed.users.add('second', { admin: true });
  const line = bed.socket('/api/v0/live', { as: token });
  line.on('error', () => {});
  await once(line, 'open');
  await bed.bed.users.revoke('second');
  await once(line, 'close');
  const other = bed.socket('/api/v0/live');
  other.on('error', () => {});
  await once(other, 'open');
  for (const each of bed.ray.sockets.clients) each.terminate();
  await once(other, 'close');
});
