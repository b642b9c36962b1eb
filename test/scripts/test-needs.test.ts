import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { allNeeds, findTestFiles } from '../../scripts/test-needs.ts';

function found(t: TestContext, files: Readonly<Record<string, string>>): ReturnType<typeof findTestFiles> {
  const folder = mkdtempSync(join(tmpdir(), 'manta-needs-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return findTestFiles(folder);
}

describe('what a test file needs', () => {
  test('decides which command runs it, whatever its folder', (t) => {
    const { files, problems } = found(t, {
      'test/lab/a.test.ts': "import 'node:test';\n",
      'test/b.test.ts': '// needs: cluster, chromium\n',
      'test/c.test.ts': '/** About it. */\n// needs: ray-client, hosts\n',
      'test/d.test.ts': '// needs: hosts, soak\n',
    });
    assert.deepEqual(problems, []);
    assert.deepEqual(
      files.map(({ path, tier, needs }) => [path, tier, needs]),
      [
        ['test/b.test.ts', 'test', ['cluster', 'chromium']],
        ['test/c.test.ts', 'lab', ['ray-client', 'hosts']],
        ['test/d.test.ts', 'soak', ['hosts', 'soak']],
        ['test/lab/a.test.ts', 'unit', []],
      ],
    );
  });

  test('is one of the known words', (t) => {
    const { problems } = found(t, { 'test/a.test.ts': '// needs: hosts, chrome\n', 'test/bed.ts': '// needs: rays\n' });
    assert.match(problems.join('\n'), /^test\/a\.test\.ts: 'chrome' is not a need; there are cluster, .*soak$/m);
    assert.match(problems.join('\n'), /^test\/bed\.ts: 'rays' is not a need/m);
  });

  const bed = { 'test/bed.ts': '// needs: hosts\n\nexport const open = 1;\n', 'lab/lab.ts': '// needs: hosts\n' };

  test('is what the files need that it imports or starts, and the check says what to write', (t) => {
    const { problems } = found(t, {
      ...bed,
      'test/step.ts': "export * from './bed.ts';\n",
      'test/a.test.ts': "import { open } from './step.ts';\n",
      'test/b.test.ts': "// needs: chromium\n\nspawn(new URL('./step.ts', import.meta.url));\n",
      'test/c.test.ts': "const { openLab } = await import('../lab/lab.ts');\n",
      'test/d.test.ts': "// needs: hosts\n\nimport { open } from './bed.ts';\n",
      'test/e.test.ts': "import type { Bed } from './bed.ts';\n",
    });
    assert.deepEqual(problems, [
      "test/a.test.ts: needs hosts (by test/bed.ts) and does not declare it; add the first line '// needs: hosts'",
      "test/b.test.ts: needs hosts (by test/bed.ts) and does not declare it; change its line to '// needs: chromium, hosts'",
      "test/c.test.ts: needs hosts (by lab/lab.ts) and does not declare it; add the first line '// needs: hosts'",
    ]);
  });

  test('is what it asks of hosts of a lab', (t) => {
    const { problems } = found(t, {
      ...bed,
      'test/a.test.ts': "// needs: hosts\n\nimport { open } from './bed.ts';\nopen({ podman: true, ray: true });\n",
      'test/b.test.ts': 'parse({ ray: true });\n',
    });
    assert.equal(problems.length, 1);
    assert.match(problems[0] ?? '', /change its line to '\/\/ needs: ray, hosts, podman'$/);
  });

  test('may be a word that gives more', (t) => {
    const { problems } = found(t, {
      'test/python.ts': '// needs: ray-client\n',
      'test/a.test.ts': "// needs: ray\n\nimport './python.ts';\n",
    });
    assert.deepEqual(problems, []);
  });

  test('is explained in CONTRIBUTING.md, word by word', () => {
    const text = readFileSync(new URL('../../CONTRIBUTING.md', import.meta.url), 'utf8');
    const table = /^\| declared \|[^]*?\n\n/m.exec(text)?.[0] ?? '';
    const rows = [...table.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, first]) => first!.match(/[\w-]+/g) ?? []);
    assert.deepEqual(rows.sort(), [...allNeeds].sort());
  });
});
