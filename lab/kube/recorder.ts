/**
 * Stands before the API server and writes a line of JSON for each answer: `node recorder.ts PKI PORT`. Whoever sends no
 * token is the administrator.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';

const [pki = '', port = ''] = process.argv.slice(2);
const read = (file: string): string => readFileSync(join(pki, file), 'utf8');
const server = { host: '127.0.0.1', port: 443, ca: read('ca.crt'), servername: 'localhost' };
const admin = { cert: read('admin.crt'), key: read('admin.key') };

createServer((asked, response) => {
  const { method = 'GET', url: path = '', headers } = asked;
  const identity = headers.authorization === undefined ? admin : {};
  const { host: _, 'accept-encoding': __, ...rest } = headers;
  const sent = request({ ...server, ...identity, method, path, headers: rest, agent: false }, (answer) => {
    const status = answer.statusCode ?? 0;
    const type = answer.headers['content-type'] ?? '';
    buffer(answer).then(
      (bytes) => {
        process.stdout.write(`${JSON.stringify({ method, path, status, type, body: bytes.toString() })}\n`);
        response.writeHead(status, { 'content-type': type }).end(bytes);
      },
      () => response.destroy(),
    );
  });
  sent.on('error', () => response.destroy());
  asked.pipe(sent);
}).listen(Number(port), () => process.stdout.write('"listening"\n'));
