import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createCluster, readCluster } from '../../src/state/cluster-record.ts';
import {
  beginUpgrade,
  failedUpgrade,
  hasCopy,
  keepOldFormat,
  restoreOldFormat,
  settleUpgrade,
  type Upgrade,
  upgradeOf,
} from '../../src/state/mantad/upgrade.ts';
import { type StateFolder, stateFolder } from '../../src/state/state-folder.ts';

function oldFolder(t: TestContext): { folder: StateFolder; upgrade: Upgrade } {
  const home = mkdtempSync(join(tmpdir(), 'manta-upgrade-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const folder = stateFolder(home, 'any');
  createCluster(folder, { role: 'this-machine', engine: 'embedded', createdAt: 1 });
  writeFileSync(folder.files.journal, 'old journal');
  writeFileSync(`${folder.files.journal}-wal`, 'old wal');
  writeFileSync(folder.files.turnOff, '{"old":true}');
  mkdirSync(join(folder.path, 'attempts', 'ray-attempts'), { recursive: true });
  writeFileSync(join(folder.path, 'attempts', 'ray-attempts', 'a.json'), 'old attempt');
  const record = readFileSync(folder.files.cluster, 'utf8');
  const upgrade = { from: '0.1.0', to: '0.2.0', since: 2, command: ['true'], record };
  beginUpgrade(folder, upgrade);
  return { folder, upgrade };
}

/** What a new version may do before it has promised anything. */
function change({ files, path }: StateFolder): void {
  writeFileSync(files.journal, 'new journal');
  rmSync(`${files.journal}-wal`);
  writeFileSync(`${files.journal}-shm`, 'new');
  writeFileSync(join(path, 'later.json'), '{}');
  rmSync(join(path, 'attempts', 'ray-attempts'), { recursive: true });
  writeFileSync(files.cluster, '{"format":2}');
}

const texts = ({ files, path }: StateFolder): string[] =>
  [files.journal, `${files.journal}-wal`, files.turnOff, join(path, 'attempts', 'ray-attempts', 'a.json')].map((file) =>
    readFileSync(file, 'utf8'),
  );
const old = ['old journal', 'old wal', '{"old":true}', 'old attempt'];

test('what the old version wrote comes back as it was, and what the new one added goes', async (t) => {
  const { folder, upgrade } = oldFolder(t);
  await keepOldFormat(folder, upgrade);
  assert.ok(hasCopy(folder, upgrade));
  change(folder);
  await restoreOldFormat(folder, upgrade, 'it died');
  assert.deepEqual(texts(folder), old);
  assert.equal(readCluster(folder)?.machine, hostname());
  for (const name of ['journal.db-shm', 'later.json', 'upgrade.json', 'before-upgrade'])
    assert.ok(!existsSync(join(folder.path, name)), name);
  assert.equal(failedUpgrade(folder)?.why, 'it died');
});

test('where nothing was copied yet, nothing is touched', async (t) => {
  const { folder, upgrade } = oldFolder(t);
  await restoreOldFormat(folder, upgrade, 'no room for a copy');
  assert.deepEqual(texts(folder), old);
  assert.equal(upgradeOf(folder), undefined);
});

test('a way back that was cut short is gone to its end', async (t) => {
  const { folder, upgrade } = oldFolder(t);
  await keepOldFormat(folder, upgrade);
  change(folder);
  // It falls over the boot script, after the journal is back and before the upgrade is settled.
  const kept = join(folder.path, 'boot.sh.before');
  writeFileSync(kept, '');
  const cut = { ...upgrade, boot: { kept, script: join(folder.path, 'no', 'such', 'folder') } };
  await assert.rejects(restoreOldFormat(folder, cut, 'it died'));
  assert.equal(upgradeOf(folder)?.undone, 'it died', 'nobody starts a new mantad on it');
  await restoreOldFormat(folder, upgrade, 'it died');
  assert.deepEqual(texts(folder), old);
});

test('a copy of an upgrade that was settled is not taken for that of the next', async (t) => {
  const { folder, upgrade } = oldFolder(t);
  await keepOldFormat(folder, upgrade);
  assert.ok(!hasCopy(folder, { ...upgrade, since: 3 }));
  settleUpgrade(folder);
  assert.ok(!existsSync(folder.files.beforeUpgrade));
});
