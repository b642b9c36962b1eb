import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { silent } from '../../src/base/events.ts';
import { writeJson } from '../../src/base/files/json-file.ts';
import { identify } from '../../src/base/process.ts';
import { targetFor } from '../../src/client/target.ts';
import { recordTunnel, tunnelOf, tunnelOn } from '../../src/client/tunnel.ts';
import { createCluster } from '../../src/state/cluster-record.ts';
import { stateFolder } from '../../src/state/state-folder.ts';
import { patiently } from '../contract/waiting.ts';

const home = mkdtempSync(join(tmpdir(), 'manta-tunnel-'));
after(() => rmSync(home, { recursive: true, force: true }));

const folder = stateFolder(home, 'far');
createCluster(folder, { role: 'this-machine', createdAt: 0, engine: 'embedded' });
mkdirSync(folder.files.tokens, { recursive: true });
writeFileSync(join(folder.files.tokens, 'owner'), 'secret\n', { mode: 0o600 });
writeJson(folder.files.serving, {
  mantad: identify(process.pid),
  url: 'http://127.0.0.1:1',
  version: '0',
  startedAt: 0,
});

const tokenFor = async (port: number, host = 'localhost'): Promise<string | undefined> => {
  const env = { HOME: home, MANTA_HOME: home };
  const target = targetFor({ address: `http://${host}:${port}`, from: '--address' }, env, silent);
  return (await target.place(patiently())).token;
};

async function listening(): Promise<{ port: number; close(): Promise<void> }> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

test('the token goes through a tunnel that Manta holds, and to no other port', async () => {
  const [tunnel, other] = [await listening(), await listening()];
  try {
    assert.equal(await tokenFor(tunnel.port), undefined);
    recordTunnel(folder, tunnel.port);
    assert.equal(await tokenFor(tunnel.port), 'secret');
    assert.equal(await tokenFor(tunnel.port, '127.0.0.1'), 'secret');
    assert.equal(await tokenFor(other.port), undefined);
    assert.equal(await tokenFor(tunnel.port, 'elsewhere.example'), undefined);
  } finally {
    await Promise.all([tunnel.close(), other.close()]);
  }
});

test('each holder has a record of its own, which goes with it', async () => {
  const [first, second] = [await listening(), await listening()];
  const holder = spawn('sleep', ['600']);
  try {
    const ofOther = join(folder.files.tunnels, `${holder.pid}.json`);
    writeJson(ofOther, { holder: identify(holder.pid as number), port: second.port });
    const forget = recordTunnel(folder, first.port);
    for (const { port } of [first, second]) assert.equal(await tokenFor(port), 'secret');
    forget();
    assert.equal(await tokenFor(first.port), undefined);
    assert.equal(await tokenFor(second.port), 'secret');
    assert.equal(tunnelOf(folder), second.port);
    holder.kill();
    await once(holder, 'exit');
    assert.equal(await tokenFor(second.port), undefined);
    recordTunnel(folder, first.port)();
    assert.deepEqual(readdirSync(folder.files.tunnels), []);
  } finally {
    holder.kill();
    await Promise.all([first.close(), second.close()]);
  }
});

test('a record that has outlived its tunnel counts for nothing', async () => {
  const tunnel = await listening();
  try {
    const gone = { pid: process.pid, started: 'long ago' };
    const file = join(folder.files.tunnels, `${process.pid}.json`);
    writeJson(file, { holder: gone, port: tunnel.port });
    assert.equal(await tokenFor(tunnel.port), undefined);
    writeFileSync(file, '{"port":');
    assert.equal(await tokenFor(tunnel.port), undefined);
    recordTunnel(folder, tunnel.port);
  } finally {
    await tunnel.close();
  }
  if (process.platform === 'linux') assert.equal(tunnelOn(tunnel.port, home), undefined);
});
