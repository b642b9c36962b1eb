import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openRemote, startedElsewhere } from '../../src/launcher/reach/remote-cluster.ts';
import { createCluster } from '../../src/state/cluster-record.ts';
import { readConfig } from '../../src/state/load-spec.ts';
import { clusterNames, stateFolder } from '../../src/state/state-folder.ts';

const fileWith = (head: string, user = 'ada') => ({
  path: 'cluster.yaml',
  text: `cluster_name: team
provider: {type: local, head_ip: ${head}, worker_ips: [10.0.0.8]}
auth: {ssh_user: ${user}}
`,
  env: {},
});

test('a cluster is known to stand elsewhere than its file says now, by address and by user', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'manta-remote-'));
  t.after(() => rmSync(home, { recursive: true }));
  const config = fileWith('10.0.0.1');
  createCluster(stateFolder(home, 'team'), {
    role: 'laptop',
    createdAt: 0,
    engine: 'ray',
    config,
    remote: { address: '10.0.0.1' },
  });
  const moved = async (file: typeof config): Promise<unknown> => {
    const cluster = openRemote({ home, file: readConfig(file) });
    await cluster.close();
    return startedElsewhere(cluster);
  };

  assert.equal(await moved(config), undefined);
  assert.deepEqual(await moved(fileWith('10.0.0.2')), { before: '10.0.0.1', now: '10.0.0.2' });
  assert.deepEqual(await moved(fileWith('10.0.0.1', 'bob')), { before: 'ada@10.0.0.1', now: 'bob@10.0.0.1' });
});

test('a command that only looks makes no cluster known', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'manta-remote-'));
  t.after(() => rmSync(home, { recursive: true }));
  await openRemote({ home, file: readConfig(fileWith('10.0.0.1')) }).close();
  assert.deepEqual(clusterNames(home), []);
});
