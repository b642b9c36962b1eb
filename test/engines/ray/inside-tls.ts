/** Run where Ray sees no other process: see `tls.test.ts`. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { RayEngine } from '../../../src/engines/ray/engine.ts';
import { tlsOfGcs } from '../../../src/engines/ray/gcs/gcs-tls.ts';
import { never, until } from '../../contract/waiting.ts';
import { makeCertificate } from './certificate.ts';

const certificates = mkdtempSync(join(tmpdir(), 'manta-tls-'));
const path = join(certificates, 'head');
makeCertificate(path);
Object.assign(process.env, {
  RAY_USE_TLS: '1',
  RAY_TLS_CA_CERT: `${path}.crt`,
  RAY_TLS_SERVER_CERT: `${path}.crt`,
  RAY_TLS_SERVER_KEY: `${path}.key`,
});
// Ray gets the environment as it is when this is loaded.
const { engineOptions, folder, orderOf, ready, startHead } = await import('./ray-cluster.ts');
after(() => {
  for (const each of [certificates, folder]) rmSync(each, { recursive: true, force: true });
});

test('a head with TLS that is started after mantad is found, and runs jobs', async (t) => {
  const engine = new RayEngine(engineOptions({ tls: () => tlsOfGcs(6379) }));
  t.after(() => engine.close());
  await assert.rejects(engine.state(never), /did not respond/);
  startHead({}, 1);
  await ready(engine, 'head-1');
  await engine.start(orderOf('a.1', 'echo in secret'), never);
  const end = await until('the job is over', async () =>
    (await engine.attempts(never)).find(({ state }) => state === 'ended'),
  );
  assert.equal(end.cause, 'succeeded', end.message);
});
