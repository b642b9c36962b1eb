import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readShell, shellProgram } from '../../src/base/shell/shell-file.ts';

const putting = readShell(new URL('../../src/launcher/up/put-folder.sh', import.meta.url));

test('a credential is handed over where the head asks by one, and goes where it does not any more', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'manta-put-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const put = (credential: string): void => {
    const program = shellProgram(putting, { folder: 'c', record: '{}', credential });
    execFileSync('sh', ['-c', program], { env: { ...process.env, HOME: home } });
  };
  const file = join(home, 'c/credential');
  put('secret\n');
  assert.equal(readFileSync(file, 'utf8'), 'secret\n');
  put('');
  assert.equal(existsSync(file), false);
});
