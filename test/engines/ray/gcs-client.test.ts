// needs: openssl
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { rayErrors } from '../../../src/engines/ray/errors.ts';
import { GcsClient } from '../../../src/engines/ray/gcs/gcs-client.ts';
import type { GcsTls } from '../../../src/engines/ray/gcs/gcs-tls.ts';
import { InternalKVGcsService } from '../../../src/engines/ray/gen/gcs_pb.js';
import { never, until } from '../../contract/waiting.ts';
import { makeCertificate } from './certificate.ts';

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

/** A folder with a certificate and a key for each name. */
function certificates(t: TestContext, ...names: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'manta-tls-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of names) makeCertificate(join(folder, name));
  return folder;
}

it('goes on when the control store was restarted', async (t) => {
  const first = await serve(t, 0, 1);
  const client = new GcsClient({ address: `127.0.0.1:${first.port}`, timeout: 60_000 });
  t.after(() => client.close());
  await client.call(method, question, never);
  first.stop();
  await assert.rejects(client.call(method, question, never), /did not respond to/);
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
  await assert.rejects(
    client.call(method, question, never),
    /did not respond to 'InternalKVGet': no response within 0.2 s/,
  );
  const control = new AbortController();
  const call = client.call(method, question, control.signal);
  control.abort(new Error('enough'));
  await assert.rejects(call, /enough/);
});

it('shows its certificate, and takes only the one it knows', async (t) => {
  const folder = certificates(t, 'own', 'other');
  const pem = (name: string): Buffer => readFileSync(join(folder, name));
  const own = { private_key: pem('own.key'), cert_chain: pem('own.crt') };
  const { port } = await serve(t, 0, 3, ServerCredentials.createSsl(pem('own.crt'), [own], true));
  const clientOf = (ca: string, name: string): GcsClient => {
    const tls = () => ({ ca: pem(ca), cert: pem(`${name}.crt`), key: pem(`${name}.key`) });
    const client = new GcsClient({ address: `127.0.0.1:${port}`, tls, timeout: 60_000 });
    t.after(() => client.close());
    return client;
  };
  assert.equal((await clientOf('own.crt', 'own').call(method, question, never)).value.length, 3);
  await assert.rejects(clientOf('other.crt', 'own').call(method, question, never), /did not respond to/);
  await assert.rejects(clientOf('own.crt', 'other').call(method, question, never), /did not respond to/);
});

it('finds out that a control store was started anew with certificates', async (t) => {
  const folder = certificates(t, 'own');
  const pem = (name: string): Buffer => readFileSync(join(folder, name));
  const plain = await serve(t, 0, 1);
  const found: { tls?: GcsTls } = {};
  const client = new GcsClient({ address: `127.0.0.1:${plain.port}`, tls: () => found.tls, timeout: 60_000 });
  t.after(() => client.close());
  await client.call(method, question, never);
  plain.stop();
  const own = { private_key: pem('own.key'), cert_chain: pem('own.crt') };
  await serve(t, plain.port, 2, ServerCredentials.createSsl(pem('own.crt'), [own], true));
  await assert.rejects(client.call(method, question, never), /did not respond to/);
  found.tls = { ca: pem('own.crt'), cert: pem('own.crt'), key: pem('own.key') };
  await until('it is spoken to', async () => (await client.call(method, question, never)).value.length === 2);
});

it('says why it cannot speak to a control store whose certificates it cannot read', async (t) => {
  let readable = false;
  const { port } = await serve(t, 0, 1);
  const problem = rayErrors.TlsUnreadable({ variable: 'RAY_TLS_SERVER_KEY', path: '/tls/key', detail: 'EACCES' });
  const tls = (): undefined => {
    if (!readable) throw problem;
  };
  const client = new GcsClient({ address: `127.0.0.1:${port}`, tls });
  t.after(() => client.close());
  await assert.rejects(client.call(method, question, never), (error) => rayErrors.TlsUnreadable.is(error));
  readable = true;
  await until('it is spoken to', async () => (await client.call(method, question, never)).value.length === 1);
});
