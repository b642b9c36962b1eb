import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import type { CloudIdentity } from '../../../src/providers/clouds.ts';
import { providerErrors } from '../../../src/providers/errors.ts';
import { GoogleClient } from '../../../src/providers/google/client/client.ts';
import { googleErrors } from '../../../src/providers/google/errors.ts';
import { never } from '../../contract/waiting.ts';

function credentialsIn(t: TestContext, text: string): CloudIdentity {
  const folder = mkdtempSync(join(tmpdir(), 'manta-google-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'credentials.json');
  writeFileSync(file, text);
  return { kind: 'user', env: { GOOGLE_APPLICATION_CREDENTIALS: file } };
}

const ask = (client: GoogleClient, signal: AbortSignal): Promise<unknown> =>
  client.ask({ call: 'instances.list' }, { method: 'GET', url: 'https://127.0.0.1:1/' }, signal);

test('a token that never comes ends with its command, and by itself when time is up', async (t) => {
  const asked = Promise.withResolvers<void>();
  const silent = createServer((socket) => {
    t.after(() => socket.destroy());
    asked.resolve();
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  t.after(() => silent.close());
  const tokens = `https://127.0.0.1:${(silent.address() as AddressInfo).port}/token`;
  const identity = credentialsIn(
    t,
    JSON.stringify({
      ...{ type: 'external_account', audience: 'pool', subject_token_type: 'urn:ietf:params:oauth:token-type:jwt' },
      ...{ token_url: tokens, credential_source: { file: import.meta.filename } },
    }),
  );
  const patient = new GoogleClient({ identity });
  t.after(() => patient.close());
  const stop = new AbortController();
  const waiting = ask(patient, stop.signal);
  await Promise.race([asked.promise, waiting]);
  stop.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  const hasty = new GoogleClient({ identity, deadline: 50 });
  t.after(() => hasty.close());
  await assert.rejects(ask(hasty, never), { code: providerErrors.Unreachable.code });
});

test('credentials that cannot be read are told without a word of them', async (t) => {
  for (const text of ['hidden:key', '{"private_key": hidden}', 'null', '"hidden"', '{"type": "service_account"}'])
    for (const identity of [credentialsIn(t, text), { kind: 'file', text } as const]) {
      const client = new GoogleClient({ identity });
      t.after(() => client.close());
      await assert.rejects(ask(client, never), (error: Error) => {
        assert.ok(googleErrors.BadCredentials.is(error) || googleErrors.NoLogin.is(error), error.stack);
        assert.doesNotMatch(inspect(error), /hidden/);
        return true;
      });
    }
});
