import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import type { EventKind } from '../../src/base/events.ts';
import type { Io } from '../../src/cli/command.ts';
import { whichCluster } from '../../src/cli/commands/which-cluster.ts';
import { createCluster, stateFolder } from '../../src/head/state-folder.ts';

const text = (name: string): string => `cluster_name: ${name}\nprovider: {type: process}\n`;

const folder = mkdtempSync(join(tmpdir(), 'manta-which-'));
const home = join(folder, 'home');
const server = createServer((request, response) => {
  if (request.url === '/hangs.yaml') return;
  response.statusCode = request.url === '/c.yaml' ? 200 : 404;
  response.end(text('web'));
});
let address = '';
before(async () => {
  createCluster(stateFolder(home, 'known'), { createdAt: 0, engine: 'embedded' });
  createCluster(stateFolder(home, 'both'), { createdAt: 0, engine: 'embedded' });
  mkdirSync(join(folder, 'here'));
  writeFileSync(join(folder, 'here', 'c.yaml'), text('filed'));
  writeFileSync(join(folder, 'here', 'both'), text('filed'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const told: string[] = [];
const io = (stdin = ''): Io => ({
  out: () => assert.fail('nothing is printed'),
  events: { emit: <Data>(kind: EventKind<Data>) => void told.push(kind.code) },
  stdin: Readable.from([stdin]),
  env: { MANTA_HOME: home },
  cwd: join(folder, 'here'),
  terminal: false,
  columns: 80,
  color: false,
  json: false,
  signal: new AbortController().signal,
});
const which = (cluster?: string, name?: string, stdin?: string) =>
  whichCluster(
    { args: [], rest: [], options: name === undefined ? {} : { 'cluster-name': name }, ...(cluster && { cluster }) },
    io(stdin),
  );

describe('CLUSTER is', () => {
  test('a file, and -n gives its cluster another name', async () => {
    const file = { path: join(folder, 'here', 'c.yaml'), text: text('filed'), env: {} };
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
    const before = readdirSync(join(folder, 'here'));
    const meant = await which(`${address}/c.yaml`);
    assert.deepEqual(meant, { name: 'web', file: { path: `${address}/c.yaml`, text: text('web'), env: {} } });
    assert.deepEqual(readdirSync(join(folder, 'here')), before);
    await assert.rejects(which(`${address}/none.yaml`), /the server answered 404/);
    await assert.rejects(which(`${address}/hangs.yaml`), /no answer within 5 s/);
    assert.deepEqual(told, [], 'the loopback needs no warning');
    await assert.rejects(which('http://nowhere.invalid/c.yaml'));
    assert.deepEqual(told, ['MANTA_CLI_PLAIN_DOWNLOAD']);
  });

  test('the name of a cluster that is known, unless there is a file of that name', async () => {
    assert.deepEqual(await which('known'), { name: 'known' });
    assert.deepEqual(await which('known', 'known'), { name: 'known' });
    assert.equal((await which('both')).name, 'filed');
    await assert.rejects(which('known', 'other'), { code: 'MANTA_CLI_TWO_CLUSTERS' });
  });

  test('nothing, and then -n alone says it', async () => {
    assert.deepEqual(await which(), {});
    assert.deepEqual(await which(undefined, 'known'), { name: 'known' });
  });

  test('refused when it is none of these', async () => {
    await assert.rejects(which('unknown'), { code: 'MANTA_LAUNCHER_UNKNOWN_CLUSTER' });
    await assert.rejects(which('none.yaml'), /there is no such file/);
    assert.equal(existsSync(join(home, 'clusters', 'unknown')), false);
  });
});
