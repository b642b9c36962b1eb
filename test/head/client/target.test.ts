import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import type { EventKind, EventSink } from '../../../src/base/events.ts';
import { silent } from '../../../src/base/events.ts';
import { identify } from '../../../src/base/process.ts';
import type { Choice, Place } from '../../../src/head/client/target.ts';
import { chooseTarget } from '../../../src/head/client/target.ts';
import { createCluster, stateFolder } from '../../../src/head/state-folder.ts';

const root = mkdtempSync(join(tmpdir(), 'manta-target-'));
after(() => rmSync(root, { recursive: true, force: true }));

/** A home with clusters that this very process serves. */
function homeWith(name: string, clusters: Readonly<Record<string, number>>): string {
  const home = join(root, name);
  for (const [cluster, port] of Object.entries(clusters)) {
    const folder = stateFolder(home, cluster);
    createCluster(folder, { createdAt: 0, engine: 'embedded' });
    const serving = { mantad: identify(process.pid), url: `http://127.0.0.1:${port}`, version: '0', startedAt: 0 };
    if (port > 0) writeFileSync(folder.files.serving, JSON.stringify(serving));
    mkdirSync(folder.files.tokens, { recursive: true });
    writeFileSync(join(folder.files.tokens, 'owner'), `token-of-${cluster}\n`, { mode: 0o600 });
  }
  return home;
}

const signal = new AbortController().signal;
const place = (choice: Choice, env: Record<string, string>, events: EventSink = silent): Promise<Place> =>
  chooseTarget(choice, { HOME: join(root, 'nobody'), MANTA_HOME: join(root, 'none'), ...env }, events).place(signal);
const code = (expected: string) => (error: { code?: string }) => {
  assert.equal(error.code, expected);
  return true;
};

describe('the address', () => {
  test('is that of the option, but the environment wins over it, RAY_API_SERVER_ADDRESS first, as in Ray', async () => {
    const told: string[] = [];
    const events: EventSink = { emit: <Data>(kind: EventKind<Data>, data: Data) => void told.push(kind.text(data)) };
    assert.deepEqual(await place({ address: 'http://a:1' }, {}, events), { url: 'http://a:1' });
    assert.deepEqual(told, []);
    assert.deepEqual(await place({ address: 'http://a:1' }, { RAY_ADDRESS: 'http://b:2' }, events), {
      url: 'http://b:2',
    });
    assert.match(told[0] ?? '', /RAY_ADDRESS=http:\/\/b:2 wins over --address http:\/\/a:1/);
    const both = { RAY_ADDRESS: 'http://b:2', RAY_API_SERVER_ADDRESS: 'https://c:3/prefix/' };
    assert.deepEqual(await place({}, both), { url: 'https://c:3/prefix' });
  });

  test('without a scheme is HTTP', async () => {
    assert.deepEqual(await place({ address: '10.0.0.7:8265' }, {}), { url: 'http://10.0.0.7:8265' });
  });

  test('that is none says so', () => {
    for (const address of ['ray://head:10001', 'ftp://a', 'http://user:pass@a', 'http://'])
      assert.throws(() => chooseTarget({ address }, {}, silent), code('MANTA_CLIENT_BAD_ADDRESS'), address);
  });

  test('auto and local mean what runs on this machine', async () => {
    const home = homeWith('auto', { one: 4001 });
    for (const RAY_ADDRESS of ['auto', 'local', ''])
      assert.equal((await place({}, { MANTA_HOME: home, RAY_ADDRESS })).url, 'http://127.0.0.1:4001');
  });
});

describe('a cluster of this machine', () => {
  test('is the one that -n or MANTA_CLUSTER names, or the only one that runs, with its own token', async () => {
    const home = homeWith('two', { one: 4001, idle: 0 });
    const one = { url: 'http://127.0.0.1:4001', token: 'token-of-one' };
    assert.deepEqual(await place({}, { MANTA_HOME: home }), one);
    assert.deepEqual(
      await place({ name: 'one' }, { MANTA_HOME: home, RAY_ADDRESS: 'http://b:2', RAY_AUTH_TOKEN: 'x' }),
      one,
    );
    homeWith('two', { other: 4002 });
    assert.equal((await place({}, { MANTA_HOME: home, MANTA_CLUSTER: 'other' })).token, 'token-of-other');
    assert.throws(() => chooseTarget({}, { MANTA_HOME: home }, silent), code('MANTA_CLIENT_SEVERAL_CLUSTERS'));
    await assert.rejects(place({ name: 'idle' }, { MANTA_HOME: home }), code('MANTA_HEAD_NOT_RUNNING'));
    assert.throws(() => chooseTarget({ name: 'nope' }, { MANTA_HOME: home }, silent), code('MANTA_HEAD_NOT_RUNNING'));
    assert.throws(
      () => chooseTarget({ name: 'one', address: 'http://a' }, { MANTA_HOME: home }, silent),
      code('MANTA_CLIENT_TWO_CLUSTERS'),
    );
  });

  test('is missed with a word on how to start one', () => {
    assert.throws(() => chooseTarget({}, { MANTA_HOME: join(root, 'none') }, silent), code('MANTA_CLIENT_NO_CLUSTER'));
  });

  test('that an address points to needs no token in the environment', async () => {
    const home = homeWith('pointed', { one: 4005 });
    assert.equal((await place({ address: 'localhost:4005' }, { MANTA_HOME: home })).token, 'token-of-one');
    assert.equal((await place({ address: 'http://elsewhere:4005' }, { MANTA_HOME: home })).token, undefined);
  });
});

describe('the token of an address', () => {
  test('is RAY_AUTH_TOKEN, the file of RAY_AUTH_TOKEN_PATH, or the one that Ray keeps', async () => {
    const home = join(root, 'ray-home');
    mkdirSync(join(home, '.ray'), { recursive: true });
    writeFileSync(join(home, '.ray', 'auth_token'), '  kept  \nmore');
    writeFileSync(join(root, 'given'), 'given\n');
    const env = { HOME: home, RAY_ADDRESS: 'http://a:1' };
    assert.equal((await place({}, env)).token, 'kept');
    assert.equal((await place({}, { ...env, RAY_AUTH_TOKEN_PATH: join(root, 'given') })).token, 'given');
    assert.equal(
      (await place({}, { ...env, RAY_AUTH_TOKEN_PATH: join(root, 'given'), RAY_AUTH_TOKEN: 'first' })).token,
      'first',
    );
    await assert.rejects(
      place({}, { ...env, RAY_AUTH_TOKEN_PATH: join(root, 'missing') }),
      code('MANTA_CLIENT_NO_TOKEN'),
    );
    chmodSync(join(root, 'given'), 0o600);
  });
});

test('headers are a JSON object of texts', () => {
  const target = chooseTarget(
    { address: 'http://a', headers: '{"x-team": "blue"}' },
    { RAY_JOB_HEADERS: '{"x": "y"}' },
    silent,
  );
  assert.deepEqual(target.headers, { 'x-team': 'blue' });
  for (const headers of ['{', '[]', '{"a": 1}', '{"a": "b\\r\\nc: d"}', '{"a b": "c"}'])
    assert.throws(
      () => chooseTarget({ address: 'http://a', headers }, {}, silent),
      code('MANTA_CLIENT_BAD_HEADERS'),
      headers,
    );
});
