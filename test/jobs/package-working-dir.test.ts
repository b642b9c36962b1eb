// needs: ray-client

import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { unzip } from '../../src/base/archive/archive.ts';
import { ignoreRule } from '../../src/jobs/packages/ignore-rules.ts';
import { defaultExcludes, packageFile, packageFolder, packageModuleFile } from '../../src/jobs/packages/working-dir.ts';
import { fc } from '../property.ts';
import { rayPython, runPython } from './ray-python.ts';

const root = mkdtempSync(join(tmpdir(), 'manta-pack-'));
after(() => rmSync(root, { recursive: true, force: true }));
let count = 0;

function folderWith(files: Record<string, string>): string {
  const folder = join(root, `folder${count++}`);
  mkdirSync(folder);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    if (name.endsWith('/')) mkdirSync(join(folder, name), { recursive: true });
    else writeFileSync(join(folder, name), content);
  }
  return folder;
}

const tree = {
  'main.py': 'print(1)\n',
  'pkg/a.py': 'a',
  'pkg/b.pyc': 'b',
  'empty/': '',
  '.gitignore': '*.pyc\nbuild/\n!keep.pyc\n/top.txt\n# note\n\n',
  'build/out.o': 'o',
  'pkg/keep.pyc': 'k',
  'top.txt': 't',
  'pkg/top.txt': 't',
  'data/.rayignore': 'big*\n',
  'data/big1': 'x',
  'data/small': 'y',
  'venv/lib/x': 'v',
  'notes/draft.md': 'd',
  'ünï/cødé.txt': 'u',
};

test('files are left out by ignore files of every folder, by excludes and by default', async () => {
  const folder = folderWith(tree);
  const packed = await packageFolder(folder, { excludes: [...defaultExcludes, 'notes/*.md'] });
  const zip = await packed.write(join(root, 'a.zip'));
  const target = join(root, 'a');
  await unzip(zip, target);
  const has = (name: string): boolean => statSync(join(target, name), { throwIfNoEntry: false }) !== undefined;
  for (const name of ['main.py', 'pkg/a.py', 'empty', 'pkg/keep.pyc', 'pkg/top.txt', 'data/small', 'ünï/cødé.txt'])
    assert.ok(has(name), name);
  for (const name of ['pkg/b.pyc', 'build/out.o', 'top.txt', 'data/big1', 'venv', 'notes/draft.md'])
    assert.ok(!has(name), name);
});

test('the same files make the same archive, execute bits are kept, links are followed and loops are not', async () => {
  const folder = folderWith({ 'run.sh': '#!/bin/sh\n', 'sub/x': '1' });
  chmodSync(join(folder, 'run.sh'), 0o755);
  symlinkSync('..', join(folder, 'sub/loop'));
  symlinkSync('../run.sh', join(folder, 'sub/link.sh'));
  symlinkSync('nowhere', join(folder, 'broken'));
  const first = readFileSync(await (await packageFolder(folder)).write(join(root, '1.zip')));
  const second = readFileSync(await (await packageFolder(folder)).write(join(root, '2.zip')));
  assert.deepEqual(first, second);
  assert.deepEqual((await packageFolder(folder)).leftOut, ['broken']);
  await unzip(join(root, '1.zip'), join(root, 'linked'));
  assert.equal(statSync(join(root, 'linked/run.sh')).mode & 0o777, 0o755);
  assert.equal(readFileSync(join(root, 'linked/sub/link.sh'), 'utf8'), '#!/bin/sh\n');
  assert.equal(statSync(join(root, 'linked/sub/loop'), { throwIfNoEntry: false }), undefined);
});

test("names are Ray's own, bit for bit", async (t) => {
  const found = rayPython();
  if ('missing' in found) return t.skip(found.missing);
  const folder = folderWith(tree);
  writeFileSync(join(root, 'm.py'), 'x = 1\n');
  writeFileSync(join(root, 'some.zip'), 'zip');
  symlinkSync('nowhere', join(folder, 'broken'));
  const code = `import sys
from pathlib import Path
from ray._private.runtime_env.packaging import get_uri_for_directory, get_uri_for_file, get_uri_for_package
f = sys.argv[1]
print(get_uri_for_directory(f, True, [".git", ".venv", "venv", "__pycache__", "notes/*.md"]))
print(get_uri_for_directory(f, False))
print(get_uri_for_file(sys.argv[2]))
print(get_uri_for_package(Path(sys.argv[3])))`;
  const expected = runPython(found.python, code, [folder, join(root, 'm.py'), join(root, 'some.zip')]).split('\n');
  const ours = [
    await packageFolder(folder, { excludes: [...defaultExcludes, 'notes/*.md'] }),
    await packageFolder(folder, { useGitignore: false }),
    await packageModuleFile(join(root, 'm.py')),
    await packageFile(join(root, 'some.zip')),
  ];
  assert.deepEqual(
    ours.map((each) => each.uri),
    expected,
  );
});

test('ignore patterns mean what they mean in Ray', async (t) => {
  const found = rayPython();
  if ('missing' in found) return t.skip(found.missing);
  const piece = fc.constantFrom(
    'a',
    'b',
    'a*',
    '*',
    '**',
    '?',
    '[ab]',
    '[!a]',
    '[]a]',
    'a.b',
    '*.b',
    '\\#a',
    '[a',
    'é',
    'a b',
    '.',
  );
  const pattern = fc
    .tuple(
      fc.constantFrom('', '!', '/', '!/', '\\'),
      fc.array(piece, { minLength: 1, maxLength: 3 }),
      fc.constantFrom('', '/'),
    )
    .map(([front, pieces, back]) => `${front}${pieces.join('/')}${back}`);
  const path = fc
    .array(fc.constantFrom('a', 'b', 'ab', 'a.b', 'c', ']', '[a', 'é', 'a b', '#a'), { minLength: 1, maxLength: 3 })
    .map((parts) => parts.join('/'));
  const cases = fc.sample(
    fc.tuple(fc.array(pattern, { minLength: 1, maxLength: 3 }), fc.array(path, { minLength: 1, maxLength: 8 })),
    { numRuns: 1_500, seed: 7 },
  );
  const file = join(root, 'cases.json');
  writeFileSync(file, JSON.stringify(cases));
  const code = `import json, sys
from ray._private.thirdparty.pathspec import PathSpec
print(json.dumps([[bool(PathSpec.from_lines("gitwildmatch", p).match_file(x)) for x in xs] for p, xs in json.load(open(sys.argv[1]))]))`;
  const expected = JSON.parse(runPython(found.python, code, [file])) as boolean[][];
  for (const [index, [patterns, paths]] of cases.entries()) {
    const ignores = ignoreRule(patterns);
    assert.deepEqual(
      paths.map((each) => ignores(each)),
      expected[index],
      JSON.stringify([patterns, paths]),
    );
  }
});

test('archives have the names that Ray gives them', async (t) => {
  const found = rayPython();
  if ('missing' in found) return t.skip(found.missing);
  const files = ['a.zip', 'a.tar.gz', 'a.tgz', 'a.tar.xz', 'a-1.0-py3-none-any.whl'].map((name) => join(root, name));
  for (const file of files) writeFileSync(file, 'content');
  const code = `import sys
from pathlib import Path
from ray._private.runtime_env.packaging import get_uri_for_package
print(' '.join(get_uri_for_package(Path(each)) for each in sys.argv[1:]))`;
  const ours = await Promise.all(files.map(async (file) => (await packageFile(file)).uri));
  assert.equal(ours.join(' '), runPython(found.python, code, files));
});
