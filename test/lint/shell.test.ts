// needs: shellcheck
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('programs for hosts are POSIX sh that shellcheck has nothing to say about', () => {
  const files = globSync('src/**/*.sh', { cwd: root });
  assert.notEqual(files.length, 0);
  const { error, stdout } = spawnSync('shellcheck', ['--shell=sh', ...files], { cwd: root, encoding: 'utf8' });
  assert.equal(error, undefined, "shellcheck is missing: run 'apt-get install shellcheck'");
  assert.equal(stdout, '');
});
