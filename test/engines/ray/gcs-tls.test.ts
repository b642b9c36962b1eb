// needs: openssl
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { rayErrors } from '../../../src/engines/ray/errors.ts';
import { tlsOfGcs } from '../../../src/engines/ray/gcs/gcs-tls.ts';
import { makeCertificate } from './certificate.ts';

/** Above those that a machine has: no GCS of anybody is found instead. */
let port = 70_000;

/** A process that looks like Ray's, with this environment; its port. */
async function gcs(t: TestContext, env: Record<string, string>): Promise<number> {
  port += 1;
  const words = ['-e', "console.log('up'); setInterval(() => {}, 1000)", '--', `--gcs_server_port=${port}`];
  const running = spawn(process.execPath, words, {
    argv0: '/ray/gcs/gcs_server',
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.after(() => running.kill('SIGKILL'));
  await once(running.stdout, 'data');
  return port;
}

const linux = process.platform === 'linux' ? false : 'environments of processes are told by Linux alone';

it('the certificates of a GCS are those that it was started with', { skip: linux }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'manta-tls-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'head');
  makeCertificate(path);
  const files = {
    RAY_TLS_CA_CERT: `${path}.crt`,
    RAY_TLS_SERVER_CERT: `${path}.crt`,
    RAY_TLS_SERVER_KEY: `${path}.key`,
  };
  const found = tlsOfGcs(await gcs(t, { RAY_USE_TLS: '1', ...files }));
  assert.deepEqual([found?.ca, found?.key], [readFileSync(`${path}.crt`), readFileSync(`${path}.key`)]);
  assert.equal(tlsOfGcs(await gcs(t, files)), undefined);
  assert.equal(tlsOfGcs(1), undefined);
  assert.equal(tlsOfGcs(1, found), found, 'of one that is not there those known before count');
  assert.equal(tlsOfGcs(await gcs(t, {}), found), undefined);
});

it('certificates that cannot be read are named', { skip: linux }, async (t) => {
  const started = await gcs(t, { RAY_USE_TLS: 'true', RAY_TLS_CA_CERT: '/nowhere/ca.crt' });
  assert.throws(
    () => tlsOfGcs(started),
    (error) => rayErrors.TlsUnreadable.is(error) && /'\/nowhere\/ca\.crt' from RAY_TLS_CA_CERT/.test(error.message),
  );
});
