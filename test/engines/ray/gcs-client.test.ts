import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { GcsClient } from '../../../src/engines/ray/gcs-client.ts';
import { InternalKVGcsService } from '../../../src/engines/ray/gen/gcs_pb.js';
import { never } from '../../contract/waiting.ts';

const { internalKVGet: method } = InternalKVGcsService.method;
const question = { key: Buffer.from('k'), namespace: Buffer.from('n') };

/** A store that answers every key with `size` bytes, or not at all. */
async function serve(
  t: TestContext,
  port: number,
  size: number,
  credentials = ServerCredentials.createInsecure(),
): Promise<{ port: number; stop: () => void }> {
  const server = new Server({ 'grpc.max_send_message_length': -1 });
  server.addService(
    {
      get: {
        path: `/${method.parent.typeName}/${method.name}`,
        requestStream: false,
        responseStream: false,
        requestSerialize: (message: Buffer) => message,
        requestDeserialize: (bytes: Buffer) => fromBinary(method.input, bytes),
        responseSerialize: (bytes: Buffer) => bytes,
        responseDeserialize: (bytes: Buffer) => bytes,
      },
    },
    {
      get: (_: unknown, answer: (error: null, bytes: Buffer) => void) => {
        if (size < 0) return;
        const reply = create(method.output, { value: new Uint8Array(size) });
        answer(null, Buffer.from(toBinary(method.output, reply)));
      },
    },
  );
  const bound = await new Promise<number>((resolve, reject) =>
    server.bindAsync(`127.0.0.1:${port}`, credentials, (error, found) => (error ? reject(error) : resolve(found))),
  );
  t.after(() => server.forceShutdown());
  return { port: bound, stop: () => server.forceShutdown() };
}

it('goes on when the control store was restarted', async (t) => {
  const first = await serve(t, 0, 1);
  const client = new GcsClient({ address: `127.0.0.1:${first.port}`, timeout: 5_000 });
  t.after(() => client.close());
  await client.call(method, question, never);
  first.stop();
  await assert.rejects(client.call(method, question, never), /did not answer/);
  await serve(t, first.port, 1);
  for (;;) {
    const answer = await client.call(method, question, never).catch(() => undefined);
    if (answer) return assert.equal(answer.value.length, 1);
  }
});

it('reads states far beyond the usual limit of messages', async (t) => {
  const { port } = await serve(t, 0, 64 << 20);
  const client = new GcsClient({ address: `127.0.0.1:${port}`, timeout: 60_000 });
  t.after(() => client.close());
  assert.equal((await client.call(method, question, never)).value.length, 64 << 20);
});

it('is not tied to a connection that has gone silent, and can be broken off', async (t) => {
  const silent = await serve(t, 0, -1);
  const client = new GcsClient({ address: `127.0.0.1:${silent.port}`, timeout: 200 });
  t.after(() => client.close());
  await assert.rejects(client.call(method, question, never), /did not answer/);
  const control = new AbortController();
  const call = client.call(method, question, control.signal);
  control.abort(new Error('enough'));
  await assert.rejects(call, /enough/);
});

it('shows its certificate, and takes only the one it knows', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'manta-tls-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const pem = (name: string): Buffer => readFileSync(join(folder, name));
  for (const name of ['own', 'other'])
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-nodes',
        '-days',
        '1',
        '-subj',
        '/CN=localhost',
      ].concat([
        '-addext',
        'subjectAltName=IP:127.0.0.1',
        '-keyout',
        join(folder, `${name}.key`),
        '-out',
        join(folder, `${name}.crt`),
      ]),
      { stdio: 'ignore' },
    );
  const own = { private_key: pem('own.key'), cert_chain: pem('own.crt') };
  const { port } = await serve(t, 0, 3, ServerCredentials.createSsl(pem('own.crt'), [own], true));
  const clientOf = (ca: string, name: string): GcsClient => {
    const tls = { ca: pem(ca), cert: pem(`${name}.crt`), key: pem(`${name}.key`) };
    const client = new GcsClient({ address: `127.0.0.1:${port}`, tls, timeout: 3_000 });
    t.after(() => client.close());
    return client;
  };
  assert.equal((await clientOf('own.crt', 'own').call(method, question, never)).value.length, 3);
  await assert.rejects(clientOf('other.crt', 'own').call(method, question, never), /did not answer/);
  await assert.rejects(clientOf('own.crt', 'other').call(method, question, never), /did not answer/);
});
