import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const runner = fileURLToPath(new URL('../../scripts/test.ts', import.meta.url));
let folder = '';
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'manta-runner-'));
});
after(() => rmSync(folder, { recursive: true }));

const suite = (body: string): string =>
  `import { test } from 'node:test';\nimport assert from 'node:assert/strict';\n${body}\n`;

function run(files: Readonly<Record<string, string>>, ci = ''): { exit: number | null; lines: string[] } {
  const paths = Object.entries(files).map(([name, text]) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  });
  const env: NodeJS.ProcessEnv = { ...process.env, CI: ci };
  delete env['NODE_TEST_CONTEXT'];
  const { status, stdout } = spawnSync(process.execPath, [runner, ...paths], {
    env,
    encoding: 'utf8',
  });
  return { exit: status, lines: stdout.trimEnd().split('\n') };
}

describe('the test command', () => {
  test('ends with one line of counts over all files', () => {
    const { exit, lines } = run({
      'a.test.ts': suite("test('a', () => {}); test('b', async (t) => { await t.test('c', () => {}); });"),
      'b.test.ts': suite("test('d', () => {});"),
    });
    assert.deepEqual([exit, lines.at(-1)], [0, '4 passed, 0 failed']);
  });

  test('a failure is shown with its reason and sets the exit code', () => {
    const { exit, lines } = run({
      'a.test.ts': suite("test('a', () => {}); test('sum', () => assert.equal(1 + 1, 3));"),
    });
    assert.deepEqual([exit, lines.at(-1)], [1, '1 passed, 1 failed']);
    assert.match(lines.join('\n'), /FAIL {2}.*a\.test\.ts > sum\n.*2 !== 3/s);
  });

  test('a file that cannot be loaded, or has no tests, is a failure', () => {
    assert.equal(run({ 'a.test.ts': "throw new Error('no');\n" }).exit, 1);
    const { exit, lines } = run({ 'a.test.ts': 'export {};\n' });
    assert.deepEqual([exit, lines.at(-1)], [1, '0 passed, 1 failed']);
  });

  test('a suite in a file of its own counts under the file that runs it', () => {
    writeFileSync(join(folder, 'suite.ts'), suite("export const holds = () => test('holds', () => {});"));
    const { lines } = run({
      'a.test.ts': "import { holds } from './suite.ts';\nholds();\n",
      'b.test.ts': "import { holds } from './suite.ts';\nholds();\nholds();\n",
    });
    assert.match(lines.join('\n'), /a\.test\.ts \(1 passed/);
    assert.match(lines.join('\n'), /b\.test\.ts \(2 passed/);
    assert.equal(lines.at(-1), '3 passed, 0 failed');
  });

  test('says how far it is, and which files took longest', () => {
    const { lines } = run({
      'a.test.ts': suite("test('a', () => {});"),
      'b.test.ts': suite("test('b', () => {});"),
    });
    assert.deepEqual(
      lines.slice(0, 2).map((line) => /^\[\d\/\d\]/.exec(line)?.[0]),
      ['[1/2]', '[2/2]'],
    );
    assert.match(lines.join('\n'), /^the slowest:\n( +[\d.]+ s {2}.*[ab]\.test\.ts\n){2}/m);
  });

  test('a file that is not there is named', () => {
    const { status, stderr } = spawnSync(process.execPath, [runner, 'test/no-such.test.ts'], { encoding: 'utf8' });
    assert.deepEqual([status, stderr], [2, "there is no test file 'test/no-such.test.ts'\n"]);
  });

  const skipping = (reason: string) => ({
    'a.test.ts': suite(`test('a', () => {}); test('b', (t) => t.skip(${JSON.stringify(reason)}));`),
  });

  test('what is skipped is listed with its reason', () => {
    const { exit, lines } = run(skipping('python3 is not installed'));
    assert.deepEqual([exit, lines.at(-1)], [0, '1 passed, 0 failed, 1 skipped']);
    assert.match(lines.at(-2) ?? '', /^skip {2}.*a\.test\.ts > b: python3 is not installed$/);
  });

  test('a group that is skipped is listed too', () => {
    const text =
      "import { describe, test } from 'node:test';\ntest('a', () => {}); describe('g', { skip: 'no g' }, () => {});\n";
    assert.deepEqual(run({ 'a.test.ts': text }).lines.at(-1), '1 passed, 0 failed, 1 skipped');
  });

  test('on a build server a missing component is a failure, a missing optional one is not', () => {
    assert.deepEqual(run(skipping('python3 is not installed'), 'true').lines.at(-1), '1 passed, 1 failed');
    assert.deepEqual(
      run(skipping('optional: zsh is not installed'), 'true').lines.at(-1),
      '1 passed, 0 failed, 1 skipped',
    );
  });
});
