import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import type { EventKind } from '../../src/base/events.ts';
import { identify } from '../../src/base/process.ts';
import type { Io } from '../../src/cli/command.ts';
import { findCluster, findHead, onlyKnown } from '../../src/cli/shared/find-cluster.ts';
import { createCluster } from '../../src/state/cluster-record.ts';
import { stateFolder } from '../../src/state/state-folder.ts';

const text = (name: string): string => `cluster_name: ${name}\nprovider: {type: process}\n`;

const folder = mkdtempSync(join(tmpdir(), 'manta-find-'));
const home = join(folder, 'home');
const here = join(folder, 'here');
const server = createServer((request, response) => {
  if (request.url === '/hangs.yaml') return;
  response.statusCode = request.url === '/c.yaml' ? 200 : 404;
  response.end(text('web'));
});
let address = '';
before(async () => {
  for (const name of ['known', 'both', 'lab'])
    createCluster(stateFolder(home, name), { role: 'this-machine', createdAt: 0, engine: 'embedded' });
  mkdirSync(join(here, 'lab'), { recursive: true });
  mkdirSync(join(here, 'clusters'));
  writeFileSync(join(here, 'c.yaml'), text('filed'));
  writeFileSync(join(here, 'both'), text('filed'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const told: string[] = [];
const io = (env: Record<string, string> = {}, stdin = ''): Io => ({
  out: () => assert.fail('nothing is printed'),
  events: { emit: <Data>(kind: EventKind<Data>, data: Data) => void told.push(`${kind.code} ${kind.text(data)}`) },
  stdin: Readable.from([stdin]),
  env: { MANTA_HOME: home, ...env },
  cwd: here,
  terminal: false,
  columns: 80,
  color: false,
  json: false,
  signal: new AbortController().signal,
});

/** The name, and the file as it is kept. */
async function which(cluster?: string, clusterName?: string, stdin?: string) {
  const options = clusterName === undefined ? {} : { clusterName };
  const { name, file } = await findCluster({ ...(cluster && { cluster }), options }, io({}, stdin));
  return { name, ...(file && { file: file.config }) };
}

describe('CLUSTER is', () => {
  test('a file, and -n gives its cluster another name', async () => {
    const file = { path: join(here, 'c.yaml'), text: text('filed'), env: {} };
    assert.deepEqual(await which('c.yaml'), { name: 'filed', file });
    assert.deepEqual(await which('c.yaml', 'second'), { name: 'second', file });
  });

  test('standard input', async () => {
    assert.deepEqual(await which('-', undefined, text('piped')), {
      name: 'piped',
      file: { path: '-', text: text('piped'), env: {} },
    });
  });

  test('an address, which is read and written nowhere', async () => {
    const before = readdirSync(here);
    const meant = await which(`${address}/c.yaml`);
    assert.deepEqual(meant, { name: 'web', file: { path: `${address}/c.yaml`, text: text('web'), env: {} } });
    assert.deepEqual(readdirSync(here), before);
    await assert.rejects(which(`${address}/none.yaml`), /the server answered 404/);
    await assert.rejects(which(`${address}/hangs.yaml`), /no response within 5 s/);
    assert.deepEqual(told, [], 'the loopback needs no warning');
    await assert.rejects(which('http://nowhere.invalid/c.yaml'));
    assert.match(told.splice(0)[0] ?? '', /^MANTA_CLI_PLAIN_DOWNLOAD/);
  });

  test('the name of a cluster that is known, unless there is a file of that name', async () => {
    assert.deepEqual(await which('known'), { name: 'known' });
    assert.deepEqual(await which('known', 'known'), { name: 'known' });
    assert.equal((await which('both')).name, 'filed');
    await assert.rejects(which('known', 'other'), { code: 'MANTA_CLI_TWO_CLUSTERS' });
  });

  test('the name of a cluster also where a folder has that name', async () => {
    assert.deepEqual(await which('lab'), { name: 'lab' });
  });

  test('refused when it is none of these', async () => {
    await assert.rejects(which('unknown'), { code: 'MANTA_LAUNCHER_UNKNOWN_CLUSTER' });
    await assert.rejects(which('none.yaml'), /no such file/);
    for (const word of ['clusters', './lab', 'lab/'])
      await assert.rejects(which(word), {
        code: 'MANTA_SPEC_DIRECTORY',
        message: `\`${word}\` is a directory, not a cluster file`,
      });
    assert.equal(existsSync(join(home, 'clusters', 'unknown')), false);
  });
});

/** A home of its own with clusters, those that run being served by this very process. */
function homeWith(
  name: string,
  clusters: Readonly<Record<string, 'runs' | 'stopped' | 'remote'>>,
): { MANTA_HOME: string } {
  const at = join(folder, name);
  for (const [cluster, state] of Object.entries(clusters)) {
    const of = stateFolder(at, cluster);
    if (state === 'remote') createCluster(of, { role: 'laptop', createdAt: 0, engine: 'ray', remote: {} });
    else createCluster(of, { role: 'this-machine', createdAt: 0, engine: 'embedded' });
    const serving = { mantad: identify(process.pid), url: 'http://127.0.0.1:1', version: '0', startedAt: 0 };
    if (state === 'runs') writeFileSync(of.files.serving, JSON.stringify(serving));
  }
  return { MANTA_HOME: at };
}

describe('without CLUSTER it is', () => {
  const found = (options: { clusterName?: string; address?: string }, env: Record<string, string>) =>
    findHead({ options }, io(env));
  const two = () => homeWith('two', { one: 'runs', idle: 'stopped' });

  test('the one of -n, whatever the environment says', async () => {
    const env = { ...two(), RAY_ADDRESS: 'http://b:2', MANTA_CLUSTER: 'idle' };
    assert.deepEqual(await found({ clusterName: 'one' }, env), { name: 'one' });
    await assert.rejects(found({ clusterName: 'one', address: 'http://a' }, env), {
      code: 'MANTA_CLIENT_TWO_CLUSTERS',
    });
  });

  test("an address by Ray's rules: the environment wins over the option, RAY_API_SERVER_ADDRESS first", async () => {
    const env = { ...two(), MANTA_CLUSTER: 'one' };
    assert.deepEqual(await found({ address: 'http://a:1' }, env), { address: 'http://a:1', from: '--address' });
    assert.deepEqual(told, []);
    assert.deepEqual(await found({ address: 'http://a:1' }, { ...env, RAY_ADDRESS: 'http://b:2' }), {
      address: 'http://b:2',
      from: 'RAY_ADDRESS',
    });
    assert.match(told.splice(0)[0] ?? '', /RAY_ADDRESS=http:\/\/b:2 overrides --address http:\/\/a:1/);
    const both = { ...env, RAY_ADDRESS: 'http://b:2', RAY_API_SERVER_ADDRESS: 'https://c:3' };
    assert.deepEqual(await found({}, both), { address: 'https://c:3', from: 'RAY_API_SERVER_ADDRESS' });
  });

  test('for auto and local what runs on this machine', async () => {
    for (const RAY_ADDRESS of ['auto', 'local', ''])
      assert.deepEqual(await found({}, { ...two(), RAY_ADDRESS }), { name: 'one' });
  });

  test('the one of MANTA_CLUSTER, also where it does not run', async () => {
    assert.deepEqual(await found({}, { ...two(), MANTA_CLUSTER: 'idle' }), { name: 'idle' });
  });

  test('the only one that runs, or the only one that is known', async () => {
    assert.deepEqual(await found({}, two()), { name: 'one' });
    assert.deepEqual(await found({}, homeWith('stopped', { idle: 'stopped' })), { name: 'idle' });
    assert.deepEqual(await found({}, homeWith('remote', { idle: 'stopped', far: 'remote' })), { name: 'far' });
  });

  test('refused among several, which are named, and where there is none', async () => {
    const several = homeWith('several', { one: 'runs', far: 'remote', idle: 'stopped' });
    await assert.rejects(found({}, several), {
      code: 'MANTA_CLIENT_SEVERAL_CLUSTERS',
      exit: 2,
      message: /: far, one$/,
    });
    await assert.rejects(found({}, homeWith('all-stopped', { idle: 'stopped', off: 'stopped' })), {
      code: 'MANTA_CLIENT_SEVERAL_CLUSTERS',
      message: /: idle, off$/,
    });
    await assert.rejects(found({}, homeWith('none', {})), { code: 'MANTA_CLIENT_NO_CLUSTER' });
    assert.throws(() => onlyKnown(two().MANTA_HOME), {
      code: 'MANTA_CLIENT_SEVERAL_CLUSTERS',
      message: /: idle, one$/,
    });
  });
});

test("the address of a known cluster's head means that cluster, by Ray's own port too; URLs are addresses", async () => {
  const remote = { address: '192.0.2.7', inside: '10.0.0.7' };
  createCluster(stateFolder(home, 'sky'), { role: 'laptop', createdAt: 0, engine: 'ray', remote });
  const meant = (given: string) => findHead({ options: { address: given } }, io());
  for (const given of ['192.0.2.7:6379', '10.0.0.7:6379', '10.0.0.7'])
    assert.deepEqual(await meant(given), { name: 'sky' });
  for (const given of ['http://10.0.0.7:8265', '10.0.0.8:6379'])
    assert.deepEqual(await meant(given), { address: given, from: '--address' });
  rmSync(join(home, 'clusters', 'sky'), { recursive: true });
});
