// needs: cluster

/** The page about the state folder is held to what is really there. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { makeFolder } from '../../src/base/files/durable.ts';
import { openDatabase } from '../../src/base/sqlite/sqlite.ts';
import { openHeadDatabase } from '../../src/head/journal/database.ts';
import { jobsSchema } from '../../src/jobs/queue/schema.ts';
import { changeCluster, createCluster, readCluster } from '../../src/state/cluster-record.ts';
import { stateErrors } from '../../src/state/errors.ts';
import { stateFolder } from '../../src/state/state-folder.ts';
import { TestCluster } from '../head/test-cluster.ts';

const page = readFileSync(new URL('../../docs/state-folder.md', import.meta.url), 'utf8');
const listed = [...page.matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1] as string);

test('docs/state-folder.md lists what a state folder holds, no less and no more', async (t) => {
  const cluster = await TestCluster.start(t);
  await cluster.submit({ id: 'any', entrypoint: 'echo hello', resources: { CPU: 1 } });
  await cluster.finish('any');
  await cluster.ask('POST', '/api/manta/v1/request-resources', { bundles: [{ resources: { CPU: 1 } }] });
  const there = readdirSync(cluster.folder.path, { withFileTypes: true })
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    // A file that is being written whole appears under a name of its own first.
    .filter((name) => !/^\.\d+-\d+\.new$/.test(name));
  for (const name of there) assert.ok(listed.includes(name), `'${name}' is there and not on the page`);
  const onlyAtTimes = [
    'command.lock',
    'environments/',
    'journal.db.damaged-<time>',
    'turn-off.json',
    'tunnels/',
    'upgrade.json',
    'upgrade-failed.json',
    'before-upgrade/',
  ];
  const ofRay = ['archives/', 'ray.json', 'ray-token'];
  const ofOtherMachines = [
    'hosts/',
    'key',
    'credential',
    'letting-in',
    'files.json',
    'unseen.json',
    '<16 digits>',
    'machine.json',
  ];
  for (const name of listed)
    assert.ok(
      there.includes(name) || [...onlyAtTimes, ...ofRay, ...ofOtherMachines].includes(name),
      `'${name}' is on the page and not there`,
    );
  for (const path of Object.values(cluster.folder.files))
    assert.ok(
      listed.some((name) => path.endsWith(`/${name.replace(/\/$/, '')}`)),
      `${path} is not on the page`,
    );
});

test('a journal of an earlier format is copied before it is brought to the new one', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'manta-journal-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [path, backups] = [join(folder, 'journal.db'), join(folder, 'backups')];
  const old = openDatabase(path, [jobsSchema]);
  old.sql.exec("INSERT INTO users (name, admin, weight, created_at) VALUES ('somebody', 0, 1, 0)");
  old.close();
  for (let start = 0; start < 2; start++) openHeadDatabase(path, backups, 1_000).database.close();
  assert.deepEqual(readdirSync(backups), ['journal.db.00000000001000.format-1']);
  const copy = new DatabaseSync(join(backups, 'journal.db.00000000001000.format-1'), { readOnly: true });
  assert.equal(copy.prepare('SELECT name FROM users').get()?.['name'], 'somebody');
  assert.equal(copy.prepare('PRAGMA user_version').get()?.['user_version'], 1);
  copy.close();
});

test('a record that a power cut emptied or tore is taken from its copy', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'manta-home-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const folder = stateFolder(home, 'c1');
  const created = createCluster(folder, { role: 'this-machine', createdAt: 1, engine: 'embedded' });
  for (const left of ['', '{"format":1,"na']) {
    writeFileSync(folder.files.cluster, left);
    assert.deepEqual(readCluster(folder), created);
    assert.equal(changeCluster(folder, (record) => ({ ...record, until: 5 }))?.until, 5);
    assert.equal(JSON.parse(readFileSync(folder.files.cluster, 'utf8')).until, 5);
    changeCluster(folder, () => created);
  }
});

test('a damaged record without a copy is named, with what to do', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'manta-home-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const damaged = stateFolder(home, 'damaged');
  makeFolder(damaged.path);
  writeFileSync(damaged.files.cluster, '');
  assert.throws(
    () => readCluster(damaged),
    (error) => {
      assert.ok(stateErrors.RecordDamaged.is(error));
      assert.match(error.message, /damaged\/cluster\.json is empty or damaged/);
      assert.match(error.hint ?? '', /delete it and run 'manta up' .*jobs, logs and users are kept/);
      return true;
    },
  );
});
