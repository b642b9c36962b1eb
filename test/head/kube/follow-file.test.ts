import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { followFile } from '../../../src/head/kube/follow-file.ts';
import { until } from '../../contract/waiting.ts';

test('what is written to a log is handed on, also after it was put aside for a new one', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'manta-follow-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'log');
  writeFileSync(file, 'before\n');
  let told = '';
  const end = followFile(file, (text) => (told += text.toString()), 5);
  t.after(end);
  appendFileSync(file, 'one\n');
  await until('it is told', () => told === 'one\n');
  renameSync(file, `${file}.1`);
  writeFileSync(file, 'two\n');
  await until('the new one is read from its beginning', () => told === 'one\ntwo\n');
});
