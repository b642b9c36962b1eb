import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ci = fileURLToPath(new URL('../../.ci/run', import.meta.url));

/** Runs it with an `npm` whose commands do as these shell texts say. */
function run(t: TestContext, commands: { readonly test: string; readonly lab: string }): [number | null, string[]] {
  const bin = mkdtempSync(join(tmpdir(), 'manta-ci-'));
  t.after(() => rmSync(bin, { recursive: true }));
  const npm = join(bin, 'npm');
  writeFileSync(npm, `#!/bin/sh\ncase $3 in\ntest) ${commands.test};;\ntest:lab) ${commands.lab};;\nesac\n`);
  chmodSync(npm, 0o755);
  const { status, stdout } = spawnSync(ci, { env: { PATH: `${bin}:${process.env['PATH']}` }, encoding: 'utf8' });
  return [status, stdout.trimEnd().split('\n')];
}

describe('what continuous integration runs', () => {
  test('ends with the counts of both commands', (t) => {
    const [exit, lines] = run(t, {
      test: "echo '[1/1] ok'; echo '20 passed, 0 failed, 2 skipped'",
      lab: "echo '3 passed, 0 failed, 1 skipped'",
    });
    assert.deepEqual([exit, lines.at(-1)], [0, '23 passed, 0 failed, 3 skipped']);
    assert.equal(lines[0], '[1/1] ok');
  });

  test('runs the lab though the first fails, and fails', (t) => {
    const [exit, lines] = run(t, {
      test: "echo '20 passed, 2 failed'; exit 1",
      lab: "echo '3 passed, 0 failed'",
    });
    assert.deepEqual([exit, lines.at(-1)], [1, '23 passed, 2 failed']);
  });

  test('a command that dies before its counts is a failure', (t) => {
    const [exit, lines] = run(t, { test: "echo '20 passed, 0 failed'", lab: 'echo starting; exit 137' });
    assert.deepEqual([exit, lines.at(-1)], [1, '20 passed, 1 failed']);
    const [code, last] = run(t, { test: "echo '20 passed, 0 failed'; exit 1", lab: "echo '3 passed, 0 failed'" });
    assert.deepEqual([code, last.at(-1)], [1, '23 passed, 1 failed']);
    const [silent, end] = run(t, { test: 'exit 1', lab: "echo '3 passed, 0 failed'" });
    assert.deepEqual([silent, end.at(-1)], [1, '3 passed, 1 failed']);
  });
});
