import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { InstanceStatus } from '../../src/core/instance.ts';
import type { HeadLook } from '../../src/launcher/head/look.ts';
import { workersNow } from '../../src/launcher/reach/current-cluster.ts';
import type { RemoteCluster } from '../../src/launcher/reach/remote-cluster.ts';
import { never } from '../contract/waiting.ts';

test('workers that failed to launch are none, and those whose machine may still be there are ending', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'manta-now-'));
  const statuses: readonly InstanceStatus[] = ['setting-up', 'running', 'draining', 'launch-timeout', 'launch-failed'];
  const nodes = statuses.map((status) => ({ kind: 'worker', instance: status, type: 'w', status }));
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ nodes }));
  });
  t.after(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });
  const socket = join(folder, 's');
  await new Promise<void>((resolve) => server.listen(socket, resolve));

  const cluster = { name: 'team', head: { forward: async () => socket } };
  const look = { serving: { url: 'http://127.0.0.1:8265', socket }, ownerToken: 'token' };
  const found = await workersNow(cluster as unknown as RemoteCluster, look as unknown as HeadLook, never);
  assert.deepEqual(
    found.map(({ name, ending }) => [name, ending]),
    [
      ['setting-up', false],
      ['running', false],
      ['draining', true],
      ['launch-timeout', true],
    ],
  );
});
