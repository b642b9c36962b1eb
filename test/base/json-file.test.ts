import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createJson, makeFolder, namesIn, readJson, writeJson } from '../../src/base/files/json-file.ts';

test('a file is written whole, for its owner only, and read back', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'manta-json-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(makeFolder(join(folder, 'deep', 'er')), 'value.json');
  assert.equal(readJson(file), undefined);
  writeJson(file, { a: [1, 'ü'] });
  assert.deepEqual(readJson(file), { a: [1, 'ü'] });
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(statSync(join(folder, 'deep')).mode & 0o777, 0o700);
  assert.deepEqual(namesIn(join(folder, 'deep', 'er')), ['value.json']);
  assert.deepEqual(namesIn(join(folder, 'missing')), []);
});

test('a file that is there is not made a second time, and no draft stays', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'manta-json-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'value.json');
  assert.equal(createJson(file, 1), true);
  assert.equal(createJson(file, 2), false);
  assert.equal(readJson(file), 1);
  assert.deepEqual(namesIn(folder), ['value.json']);
});

test('a file that is no JSON is an error, not an absence', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'manta-json-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'bad.json'), '{"half');
  assert.throws(() => readJson(join(folder, 'bad.json')), SyntaxError);
});
