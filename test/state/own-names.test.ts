import assert from 'node:assert/strict';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { stateErrors } from '../../src/state/errors.ts';
import { isOwnName, refuseForeign, type StateFolder, stateFolder, stateNames } from '../../src/state/state-folder.ts';

test('whatever Manta keeps in a state folder is known for its own, with what is written on the way to it', () => {
  const beside = [
    'journal.db-wal',
    'journal.db-shm',
    'journal.db.damaged-1794838674256',
    'mantad.log.1',
    'mantad.log.new',
    'key.pub',
    'command.lock.4711',
    'supervisor.lock.next',
    '0123456789abcdef',
    '0123456789abcdef.4711-a1b2c3',
    '.4711-2.new',
    'cluster.json.new',
    'before-upgrade.new',
    '.standing.json.new',
  ];
  for (const name of [...Object.values(stateNames), ...beside]) assert.ok(isOwnName(name), name);
});

test("other people's files are not", () => {
  for (const name of [
    'thesis.tex',
    'keys',
    'key2',
    'key.pem',
    'key-notes.txt',
    'journal.db-notes',
    'journal.db.gz',
    'mantad.log.txt',
    'my-cluster.json',
    'cluster.json.bak',
    '.bashrc',
    'x.new',
    'a'.repeat(17),
  ])
    assert.ok(!isOwnName(name), name);
});

test('every name stands once, and stateFolder gives the path of each', () => {
  const names = Object.values(stateNames);
  assert.deepEqual(names, [...new Set(names)]);
  const { path, files } = stateFolder('/home', 'c1');
  assert.deepEqual(
    Object.values(files),
    names.map((name) => join(path, name)),
  );
});

test('a folder without a record is refused only where it holds what is not of Manta', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'manta-home-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const made = (name: string, ...files: readonly string[]): StateFolder => {
    const folder = stateFolder(home, name);
    mkdirSync(folder.path, { recursive: true });
    for (const file of files) writeFileSync(join(folder.path, file), '');
    return folder;
  };
  refuseForeign(stateFolder(home, 'none'));
  // What an `up` of a cluster of other machines leaves that somebody declined.
  refuseForeign(made('declined', 'machine.json', '0123456789abcdef'));
  refuseForeign(made('head', 'unseen.json', 'letting-in', 'credential'));
  assert.throws(
    () => refuseForeign(made('other', 'machine.json', 'thesis.tex')),
    (error) =>
      stateErrors.FolderForeign.is(error) && error.data.detail === "it contains 'thesis.tex' but no cluster.json",
  );
  refuseForeign(made('known', 'cluster.json', 'thesis.tex'));
});

test('shell programs name no file in the folder on a head that Manta does not know for its own', () => {
  const root = join(import.meta.dirname, '../../src');
  const sources = globSync('{client,state,launcher,head}/**/*.ts', { cwd: root });
  const given = sources.filter((file) => readFileSync(join(root, file), 'utf8').includes('folderOnHead('));
  const programs = given.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/readShell\(new URL\('(\.\/[^']+)'/g)].map(([, name = '']) =>
      join(root, file, '..', name),
    ),
  );
  const named = programs.flatMap((program) =>
    [...readFileSync(program, 'utf8').matchAll(/"\$(?:folder|cluster)"?\/([\w.-]+)/g)].map(([, name = '']) => name),
  );
  assert.ok(named.length > 20, `only ${named.length} were found`);
  // The folder of a runtime is another one.
  for (const name of named) assert.ok(isOwnName(name) || name === 'node' || name === '.new.', name);
});
