// needs: shells

/** The program runs as it is, against an engine and a metadata server that write down what they are told. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { pullText } from '../../src/bringup/container/container-text.ts';

const image = 'us-central2-docker.pkg.dev/p/marin/cluster:1';

/** An engine that lets pull who has logged in with T1, or everybody. */
async function bedOf(
  t: TestContext,
  { token, isPublic = false }: { readonly token?: string; readonly isPublic?: boolean },
) {
  const folder = mkdtempSync(join(tmpdir(), 'pull-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const log = join(folder, 'log');
  writeFileSync(log, '');
  writeFileSync(
    join(folder, 'docker'),
    `#!/bin/sh
echo "$1 $2 $3 $4 $5" >> ${log}
case $1 in
  login) cat > "$DOCKER_CONFIG/token"; echo "$DOCKER_CONFIG" > ${folder}/kept ;;
  pull) ${isPublic ? 'true' : '[ "$(cat "$DOCKER_CONFIG/token" 2>/dev/null)" = T1 ]'} || { echo denied >&2; exit 17; } ;;
esac
`,
  );
  chmodSync(join(folder, 'docker'), 0o755);
  const server = createServer((request, response) => {
    const known = token !== undefined && request.headers['metadata-flavor'] === 'Google';
    response.writeHead(known ? 200 : 404);
    response.end(known ? JSON.stringify({ access_token: token, expires_in: 60 }) : '');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => server.close());
  const metadata = `http://127.0.0.1:${(server.address() as AddressInfo).port}/computeMetadata/v1`;
  const run = promisify(execFile)('sh', ['-c', `( ${pullText({ engine: 'docker', image }, metadata)}\n)`], {
    env: { PATH: `${folder}:${process.env['PATH']}`, HOME: folder, TMPDIR: folder },
  });
  const code = await run.then(
    () => 0,
    ({ code: exit }: { readonly code: number }) => exit,
  );
  return { folder, code, told: readFileSync(log, 'utf8').trim().split('\n') };
}

test('an image of Artifact Registry is pulled with the token of the machine, which stays nowhere', async (t) => {
  const { code, told, folder } = await bedOf(t, { token: 'T1' });
  assert.equal(code, 0);
  assert.deepEqual(
    told.map((line) => line.trim()),
    [`pull ${image}`, 'login -u oauth2accesstoken --password-stdin us-central2-docker.pkg.dev', `pull ${image}`].map(
      (line) => line.split(' ').slice(0, 5).join(' '),
    ),
  );
  const kept = readFileSync(join(folder, 'kept'), 'utf8').trim();
  assert.throws(() => readFileSync(join(kept, 'token')), /ENOENT/);
});

test('a machine without an account, and one whose account may not, end as the engine says', async (t) => {
  assert.equal((await bedOf(t, {})).code, 17);
  assert.equal((await bedOf(t, { token: 'T2' })).code, 17);
});

test('who is logged in already is not logged in again', async (t) => {
  const { code, told } = await bedOf(t, { token: 'T2', isPublic: true });
  assert.deepEqual([code, told.length], [0, 1]);
});

test('other registries are pulled from as ever', () => {
  assert.equal(pullText({ engine: 'podman', image: 'docker.io/r/ray:2.9' }), 'podman pull docker.io/r/ray:2.9');
  assert.match(pullText({ engine: 'podman', image: 'eu.gcr.io/p/ray' }), /registry='?eu\.gcr\.io/);
});
