// needs: older-manta
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { sourcesOf } from '../../scripts/older-manta.ts';

test('a history that does not go back far enough is told as such', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'manta-history-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const missing = '0123456789abcdef0123456789abcdef01234567';
  assert.throws(() => sourcesOf(missing, folder), /needs the history back to 0123456789ab: git fetch --unshallow/);
});
