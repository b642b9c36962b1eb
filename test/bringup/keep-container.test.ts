import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { silent } from '../../src/base/events.ts';
import { bringUpNode } from '../../src/bringup/node/bring-up.ts';
import { type NodeOrder, nodeFolder } from '../../src/bringup/node/node.ts';
import { fingerprints } from '../../src/bringup/node/record.ts';
import { contentsFingerprint } from '../../src/bringup/sync/contents.ts';
import type { ContainerSpec } from '../../src/core/spec/cluster.ts';
import { never } from '../contract/waiting.ts';
import { localHost } from './local-host.ts';

const containerOf = (image: string): ContainerSpec => ({
  engine: 'podman',
  image,
  name: 'ray_container',
  pullBeforeRun: false,
  runOptions: [],
  detectGpuRuntime: false,
  detectShmSize: false,
});

const orderOf = (container?: ContainerSpec): NodeOrder => ({
  cluster: 'team',
  instance: 'i-1',
  kind: 'worker',
  type: 'small',
  commands: { initialization: [], setup: ['pip list'], start: [], ...(container && { container }) },
  files: { mounts: [], exclude: [], filter: [] },
  headAddress: '127.0.0.1',
  loginShells: false,
  usageStats: false,
});

/** A host whose record says that it was made by `made`, with an engine that only says whether it was asked. */
async function hostMadeBy(t: TestContext, made: NodeOrder) {
  const home = mkdtempSync(join(tmpdir(), 'manta-keep-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  mkdirSync(join(home, nodeFolder(made.cluster)), { recursive: true });
  const record = { instance: made.instance, ...fingerprints(made, await contentsFingerprint(made.files)) };
  writeFileSync(join(home, nodeFolder(made.cluster), 'record.json'), JSON.stringify({ ...record, setup: 'other' }));
  mkdirSync(join(home, 'bin'));
  writeFileSync(join(home, 'bin/podman'), '#!/bin/sh\ntouch "$HOME/asked"\nexit 1\n', { mode: 0o755 });
  const host = localHost(home, { PATH: `${join(home, 'bin')}:${process.env['PATH']}` });
  return { host, engineAsked: () => existsSync(join(home, 'asked')) };
}

const how = { events: silent, connectWithin: 1_000, restart: 'never', keepContainer: true } as const;

for (const [what, made, wanted] of [
  ['of another image', containerOf('ray:1'), containerOf('ray:2')],
  ['that is to be none', containerOf('ray:1'), undefined],
  ['that was none', undefined, containerOf('ray:1')],
] as const) {
  test(`a node with a container ${what} is left as it is where containers are to be kept`, async (t) => {
    const { host, engineAsked } = await hostMadeBy(t, orderOf(made));
    const { left, done } = await bringUpNode(host, orderOf(wanted), how, never);
    assert.equal(left, true);
    assert.deepEqual([...done], []);
    assert.ok(!engineAsked());
  });
}

test('a node with the container that it is to have is brought up to date in it', async (t) => {
  const { host, engineAsked } = await hostMadeBy(t, orderOf(containerOf('ray:1')));
  await assert.rejects(bringUpNode(host, orderOf(containerOf('ray:1')), how, never));
  assert.ok(engineAsked());
});
