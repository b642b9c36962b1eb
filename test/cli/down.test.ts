import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { main } from '../../src/cli/main.ts';
import { createCluster } from '../../src/state/cluster-record.ts';
import { clusterNames, stateFolder } from '../../src/state/state-folder.ts';
import { screen } from './screen.ts';

/** A home with records of clusters, none of which has a process. */
function homeWith(t: TestContext, ...names: string[]): string {
  const home = mkdtempSync(join(tmpdir(), 'manta-down-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  for (const name of names)
    createCluster(stateFolder(home, name), { role: 'this-machine', createdAt: 0, engine: 'embedded' });
  return home;
}

async function down(home: string, words: readonly string[], env: Record<string, string> = {}) {
  const on = screen({ env: { MANTA_HOME: home, ...env } });
  const exit = await main(['down', '-y', ...words], on);
  return { exit, ...on.shown };
}

describe('down without a name', () => {
  test('ends nothing where there are several clusters, and names them', async (t) => {
    const home = homeWith(t, 'default', 'other');
    const { exit, stderr } = await down(home, []);
    assert.equal(exit, 2, stderr);
    assert.match(stderr, /there are several: default, other \(MANTA_CLIENT_SEVERAL_CLUSTERS\)/);
    assert.deepEqual(clusterNames(home), ['default', 'other']);
  });

  test('ends the cluster of MANTA_CLUSTER and no other', async (t) => {
    const home = homeWith(t, 'default', 'other');
    const { exit, stdout, stderr } = await down(home, [], { MANTA_CLUSTER: 'other' });
    assert.equal(exit, 0, stderr);
    assert.match(stdout, /'other' is down/);
    assert.deepEqual(clusterNames(home), ['default']);
  });

  test('ends nothing where MANTA_CLUSTER names one that is not there', async (t) => {
    const home = homeWith(t, 'default');
    const { exit, stdout } = await down(home, [], { MANTA_CLUSTER: 'gone' });
    assert.equal(exit, 0);
    assert.match(stdout, /No cluster 'gone' on this machine; nothing to do/);
    assert.deepEqual(clusterNames(home), ['default']);
  });

  test('ends the only one there is', async (t) => {
    const home = homeWith(t, 'only');
    const { exit, stdout } = await down(home, []);
    assert.deepEqual([exit, stdout], [0, "The cluster 'only' is down.\n"]);
    assert.equal(existsSync(stateFolder(home, 'only').path), false);
  });

  test('succeeds where there is none', async (t) => {
    const { exit, stdout } = await down(homeWith(t), []);
    assert.equal(exit, 0);
    assert.match(stdout, /No cluster 'default' on this machine; nothing to do/);
  });
});

test('down -n wins over MANTA_CLUSTER', async (t) => {
  const home = homeWith(t, 'default', 'other');
  const { exit } = await down(home, ['-n', 'default'], { MANTA_CLUSTER: 'other' });
  assert.equal(exit, 0);
  assert.deepEqual(clusterNames(home), ['other']);
});
