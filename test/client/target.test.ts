import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { silent } from '../../src/base/events.ts';
import { identify } from '../../src/base/process.ts';
import { type Endpoint, type GivenAddress, type MeantCluster, targetFor } from '../../src/client/target.ts';
import { createCluster } from '../../src/state/cluster-record.ts';
import { stateFolder } from '../../src/state/state-folder.ts';

const root = mkdtempSync(join(tmpdir(), 'manta-target-'));
after(() => rmSync(root, { recursive: true, force: true }));

/** A home with clusters that this very process serves. */
function homeWith(name: string, clusters: Readonly<Record<string, number>>): string {
  const home = join(root, name);
  for (const [cluster, port] of Object.entries(clusters)) {
    const folder = stateFolder(home, cluster);
    createCluster(folder, { role: 'this-machine', createdAt: 0, engine: 'embedded' });
    const serving = { mantad: identify(process.pid), url: `http://127.0.0.1:${port}`, version: '0', startedAt: 0 };
    if (port > 0) writeFileSync(folder.files.serving, JSON.stringify(serving));
    mkdirSync(folder.files.tokens, { recursive: true });
    writeFileSync(join(folder.files.tokens, 'owner'), `token-of-${cluster}\n`, { mode: 0o600 });
  }
  return home;
}

const signal = new AbortController().signal;
const at = (address: string): GivenAddress => ({ address, from: '--address' });
const place = (meant: MeantCluster | GivenAddress, env: Record<string, string>): Promise<Endpoint> =>
  targetFor(meant, { HOME: join(root, 'nobody'), MANTA_HOME: join(root, 'none'), ...env }, silent).place(signal);
const code = (expected: string) => (error: { code?: string }) => {
  assert.equal(error.code, expected);
  return true;
};

describe('the address', () => {
  test('loses a slash at its end, and without a scheme is HTTP', async () => {
    assert.deepEqual(await place(at('https://c:3/prefix/'), {}), { url: 'https://c:3/prefix' });
    assert.deepEqual(await place(at('10.0.0.7:8265'), {}), { url: 'http://10.0.0.7:8265' });
  });

  test('that is none says so', () => {
    for (const address of ['ray://head:10001', 'ftp://a', 'http://user:pass@a', 'http://'])
      assert.throws(() => targetFor(at(address), {}, silent), code('MANTA_CLIENT_BAD_ADDRESS'), address);
  });

  test('of a cluster of this machine needs no token in the environment', async () => {
    const home = homeWith('pointed', { one: 4005 });
    assert.equal((await place(at('localhost:4005'), { MANTA_HOME: home })).token, 'token-of-one');
    assert.equal((await place(at('http://elsewhere:4005'), { MANTA_HOME: home })).token, undefined);
  });
});

describe('a cluster of this machine', () => {
  test('is reached with its own token, whatever the environment says', async () => {
    const home = homeWith('two', { one: 4001, idle: 0 });
    const env = { MANTA_HOME: home, RAY_ADDRESS: 'http://b:2', RAY_AUTH_TOKEN: 'x' };
    assert.deepEqual(await place({ name: 'one' }, env), { url: 'http://127.0.0.1:4001', token: 'token-of-one' });
    await assert.rejects(place({ name: 'idle' }, { MANTA_HOME: home }), code('MANTA_HEAD_NOT_RUNNING'));
    assert.throws(() => targetFor({ name: 'nope' }, { MANTA_HOME: home }, silent), code('MANTA_HEAD_NOT_RUNNING'));
  });
});

describe('the token of an address', () => {
  test('is RAY_AUTH_TOKEN, the file of RAY_AUTH_TOKEN_PATH, or the one that Ray keeps', async () => {
    const home = join(root, 'ray-home');
    mkdirSync(join(home, '.ray'), { recursive: true });
    writeFileSync(join(home, '.ray', 'auth_token'), '  kept  \nmore');
    writeFileSync(join(root, 'given'), 'given\n');
    const env = { HOME: home };
    const there = at('http://a:1');
    assert.equal((await place(there, env)).token, 'kept');
    assert.equal((await place(there, { ...env, RAY_AUTH_TOKEN_PATH: join(root, 'given') })).token, 'given');
    assert.equal(
      (await place(there, { ...env, RAY_AUTH_TOKEN_PATH: join(root, 'given'), RAY_AUTH_TOKEN: 'first' })).token,
      'first',
    );
    await assert.rejects(
      place(there, { ...env, RAY_AUTH_TOKEN_PATH: join(root, 'missing') }),
      code('MANTA_CLIENT_NO_TOKEN'),
    );
    chmodSync(join(root, 'given'), 0o600);
  });
});

test('headers are a JSON object of texts', () => {
  const env = { RAY_JOB_HEADERS: '{"x": "y"}' };
  const target = targetFor(at('http://a'), env, silent, { headers: '{"x-team": "blue"}' });
  assert.deepEqual(target.headers, { 'x-team': 'blue' });
  for (const headers of ['{', '[]', '{"a": 1}', '{"a": "b\\r\\nc: d"}', '{"a b": "c"}'])
    assert.throws(() => targetFor(at('http://a'), {}, silent, { headers }), code('MANTA_CLIENT_BAD_HEADERS'), headers);
});
