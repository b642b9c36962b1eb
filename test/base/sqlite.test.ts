import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  linkSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, test } from 'node:test';
import { databaseErrors } from '../../src/base/sqlite/errors.ts';
import { backUp, damageOf, repair } from '../../src/base/sqlite/repair.ts';
import { type Migration, openDatabase } from '../../src/base/sqlite/sqlite.ts';

const root = mkdtempSync(join(tmpdir(), 'manta-sqlite-'));
after(() => rmSync(root, { recursive: true, force: true }));
let count = 0;
const file = (): string => join(root, `db${count++}`);
const migrations: Migration[] = [(sql) => sql.exec('CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT UNIQUE)')];
const names = (db: ReturnType<typeof openDatabase>): unknown[] =>
  db
    .prepare('SELECT name FROM things ORDER BY id')
    .all()
    .map((row) => row['name']);

test('writes of one turn share a commit, and one that throws is undone alone', async () => {
  const db = openDatabase(file(), migrations);
  let commits = 0;
  db.onBatch(() => commits++);
  const insert = (name: string) => db.write(() => db.prepare('INSERT INTO things (name) VALUES (?)').run(name));
  const results = await Promise.allSettled([
    insert('a'),
    db.write(() => {
      db.prepare('INSERT INTO things (name) VALUES (?)').run('gone');
      throw new Error('no');
    }),
    insert('a'),
    insert('b'),
  ]);
  assert.deepEqual(
    results.map((each) => each.status),
    ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(names(db), ['a', 'b']);
  assert.equal(commits, 1);
  db.close();
});

test('an acknowledged write survives kill -9 of the process', async () => {
  const path = file();
  const sqlite = JSON.stringify(join(import.meta.dirname, '../../src/base/sqlite/sqlite.ts'));
  const code = `import { openDatabase } from ${sqlite};
    const db = openDatabase(${JSON.stringify(path)}, [(sql) => sql.exec('CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT)')]);
    for (let i = 0; ; i++) { await db.write(() => db.prepare('INSERT INTO things (name) VALUES (?)').run(String(i))); process.stdout.write(i + '\\n'); }`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  for await (const chunk of child.stdout) {
    said += String(chunk);
    if (said.split('\n').length > 30) break;
  }
  child.kill('SIGKILL');
  await once(child, 'exit');
  const acknowledged = Number(said.trimEnd().split('\n').at(-1));
  const db = openDatabase(path, migrations);
  assert.ok(names(db).length > acknowledged, `${names(db).length} rows, acknowledged up to ${acknowledged}`);
  db.close();
});

test('a second process cannot open the same file', () => {
  const path = file();
  const first = openDatabase(path, migrations);
  assert.throws(
    () => openDatabase(path, migrations),
    (error) => databaseErrors.InUse.is(error),
  );
  first.close();
  openDatabase(path, migrations).close();
});

test('a file is brought to the current format, and a newer one is refused', () => {
  const path = file();
  openDatabase(path, migrations).close();
  const next: Migration[] = [...migrations, (sql) => sql.exec('ALTER TABLE things ADD COLUMN size INTEGER')];
  const db = openDatabase(path, next);
  db.prepare('SELECT size FROM things').all();
  db.close();
  assert.throws(
    () => openDatabase(path, migrations),
    (error) => databaseErrors.Newer.is(error),
  );
});

test('a full disk rejects the writes with its own error and leaves what was acknowledged', async () => {
  const db = openDatabase(file(), migrations);
  const insert = (name: string) => db.write(() => db.prepare('INSERT INTO things (name) VALUES (?)').run(name));
  await insert('first');
  const pages = Number(db.sql.prepare('PRAGMA page_count').get()?.['page_count']);
  db.sql.exec(`PRAGMA max_page_count = ${pages}`);
  const failures = await Promise.allSettled([insert('x'.repeat(100_000)), insert('y')]);
  for (const failure of failures)
    assert.ok(failure.status === 'rejected' && databaseErrors.DiskFull.is(failure.reason));
  db.sql.exec('PRAGMA max_page_count = 100000');
  await insert('second');
  assert.deepEqual(names(db), ['first', 'second']);
  db.close();
});

test('a damaged page is found, readable rows are kept, the rest comes from the backup and is named', async () => {
  const path = file();
  const folder = join(root, 'backups');
  const db = openDatabase(path, migrations);
  const insert = (name: string) => db.write(() => db.prepare('INSERT INTO things (name) VALUES (?)').run(name));
  await Promise.all(Array.from({ length: 400 }, (_, i) => insert(`${'row'.repeat(30)} ${i}`)));
  await backUp(db, folder, 1_000);
  await Promise.all(Array.from({ length: 400 }, (_, i) => insert(`${'row'.repeat(30)} ${400 + i}`)));
  const before = names(db);
  const leaf = db.sql.prepare(
    "SELECT pageno FROM dbstat WHERE name = 'things' AND pagetype = 'leaf' ORDER BY path LIMIT 1 OFFSET 3",
  );
  let page = 6;
  try {
    page = Number(leaf.get()?.['pageno']);
  } catch {
    // Without dbstat in this build any inner page of the table serves.
  }
  db.close();
  assert.equal(damageOf(path), undefined);
  const fd = openSync(path, 'r+');
  writeSync(fd, Buffer.alloc(4096, 0xa5), 0, 4096, (page - 1) * 4096);
  closeSync(fd);
  assert.ok(damageOf(path));
  const done = repair(path, folder, 2_000, (draft) => openDatabase(draft, migrations).close());
  assert.ok(done?.backup && statSync(done.aside).size > 0);
  const table = done.tables.find((each) => each.table === 'things');
  assert.ok(table && table.kept > 0 && table.restored > 0 && table.unreadable, JSON.stringify(done));
  const again = openDatabase(path, migrations);
  assert.deepEqual(names(again), before);
  again.close();
  assert.equal(
    repair(path, folder, 3_000, () => assert.fail('a sound file is left alone')),
    undefined,
  );
});

/** A database of many rows with a page that cannot be read, and a backup that has all of them. */
async function damaged(): Promise<{ path: string; folder: string; before: unknown[] }> {
  const path = file();
  const folder = `${path}-backups`;
  const db = openDatabase(path, migrations);
  const insert = (name: string) => db.write(() => db.prepare('INSERT INTO things (name) VALUES (?)').run(name));
  await Promise.all(Array.from({ length: 400 }, (_, i) => insert(`${'row'.repeat(30)} ${i}`)));
  await backUp(db, folder, 1_000);
  const before = names(db);
  db.close();
  const fd = openSync(path, 'r+');
  writeSync(fd, Buffer.alloc(4096, 0xa5), 0, 4096, 5 * 4096);
  closeSync(fd);
  assert.ok(damageOf(path));
  return { path, folder, before };
}
const schema = (draft: string): void => openDatabase(draft, migrations).close();
const asidesOf = (path: string): string[] =>
  readdirSync(root).filter((name) => new RegExp(`^${basename(path)}\\.damaged-\\d+$`).test(name));

test('a repair that is broken off leaves the damaged file in its place, and the next one ends it', async () => {
  const { path, folder, before } = await damaged();
  assert.throws(() =>
    repair(path, folder, 2_000, () => {
      throw new Error('killed');
    }),
  );
  assert.ok(existsSync(path), 'an empty database must not be begun in its place');
  const done = repair(path, folder, 3_000, schema);
  assert.equal(done?.aside, `${path}.damaged-2000`);
  assert.deepEqual(asidesOf(path), [basename(done.aside)], 'one damaged file is put aside once');
  const again = openDatabase(path, migrations);
  assert.deepEqual(names(again), before);
  again.close();
  assert.equal(
    repair(path, folder, 4_000, () => assert.fail('what is put aside is no matter any more')),
    undefined,
  );
});

test('a file whose log was taken away right before it was to be replaced is repaired from what was put aside', async () => {
  const path = file();
  const db = openDatabase(path, migrations);
  await db.write(() => db.prepare('INSERT INTO things (name) VALUES (?)').run('kept'));
  db.close();
  linkSync(path, `${path}.damaged-1`);
  const done = repair(path, `${path}-backups`, 2_000, schema);
  assert.equal(done?.aside, `${path}.damaged-1`);
  assert.notEqual(statSync(path).ino, statSync(done.aside).ino);
  const again = openDatabase(path, migrations);
  assert.deepEqual(names(again), ['kept']);
  again.close();
});

test('where only the file put aside is left it is repaired from that', async () => {
  const { path, folder, before } = await damaged();
  renameSync(path, `${path}.damaged-1500`);
  assert.equal(repair(path, folder, 2_000, schema)?.aside, `${path}.damaged-1500`);
  const again = openDatabase(path, migrations);
  assert.deepEqual(names(again), before);
  again.close();
});
