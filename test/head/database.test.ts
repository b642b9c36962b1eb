import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openHeadDatabase } from '../../src/head/journal/database.ts';

test('a journal that an earlier repair put aside and never replaced is not taken for a new one', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'manta-journal-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'journal.db');
  const { database } = openHeadDatabase(path, join(folder, 'backups'), 1_000);
  const insert = 'INSERT INTO packages (owner, name, sha256, size, used_at) VALUES (?, ?, ?, ?, ?)';
  await database.write(() => database.prepare(insert).run('ada', 'a.zip', '00', 1, 1));
  database.close();
  renameSync(path, `${path}.damaged-1500`);
  const again = openHeadDatabase(path, join(folder, 'backups'), 2_000);
  t.after(() => again.database.close());
  assert.equal(again.repaired?.aside, `${path}.damaged-1500`);
  assert.deepEqual(
    again.database
      .prepare('SELECT owner, name FROM packages')
      .all()
      .map((row) => ({ ...row })),
    [{ owner: 'ada', name: 'a.zip' }],
  );
});
