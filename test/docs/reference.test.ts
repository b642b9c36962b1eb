import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { declaredErrors, declaredEvents, declaredProblems, root } from '../../scripts/docs/declared.ts';
import { exitCodes } from '../../scripts/docs/exit-codes.ts';
import { generatedParts, withPart } from '../../scripts/docs/pages.ts';
import { commands } from '../../src/cli/commands.ts';
import { typed } from '../../src/cli/tree.ts';

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const parts = await generatedParts();
const errors = await declaredErrors();
const events = await declaredEvents();
const problems = await declaredProblems();

describe('each reference page says what the code says', () => {
  for (const [path, part] of parts)
    test(`${path} is as \`npm run docs\` writes it`, () => assert.equal(read(path), withPart(read(path), part)));
});

/** Environment variables look like codes and are not. */
const variables = new Set([...read('docs/variables.md').matchAll(/^\| `(MANTA_\w+)`/gm)].map((row) => row[1]!));

/** Codes that a page lists: the first cell of each row of its tables. */
const listed = (path: string): string[] =>
  [...read(path).matchAll(/^\| `(MANTA_[A-Z0-9_]+)` \|/gm)].map((row) => row[1]!);

describe('codes', () => {
  test('docs/errors.md lists every error and problem code, and no other', () => {
    assert.deepEqual(listed('docs/errors.md').sort(), [...errors, ...problems].map(({ code }) => code).sort());
  });
  test('docs/events.md lists every event code, and no other', () => {
    assert.deepEqual(listed('docs/events.md').sort(), events.map(({ code }) => code).sort());
  });
  test('every code is MANTA_<AREA>_<WHAT>', () => {
    for (const { code } of [...errors, ...events, ...problems])
      if (!['MANTA_INTERNAL', 'MANTA_INTERRUPTED'].includes(code)) assert.match(code, /^MANTA(?:_[A-Z0-9]+){2,}$/);
  });
  test('no code stands for two things', () => {
    const codes = [...errors, ...events, ...problems].map(({ code }) => code);
    assert.deepEqual(codes, [...new Set(codes)].sort(byOrderOf(codes)));
  });
  test('every code that the sources spell out is declared', () => {
    const known = new Set([...errors, ...events, ...problems].map(({ code }) => code));
    for (const file of globSync('src/**/*.ts', { cwd: root })) {
      for (const [, code] of read(file).matchAll(/['"](MANTA_(?:[A-Z0-9]+_)*[A-Z0-9]+)['"]/g))
        assert.ok(known.has(code!) || variables.has(code!), `${file} uses ${code}, which no table declares`);
    }
  });
  test('every error ends with an exit code that docs/exit-codes.md explains', () => {
    for (const { code, exit } of errors) assert.ok(exit in exitCodes, `${code} exits with ${exit}`);
  });
  test('every error is one sentence: lower case, no full stop, with its value in it', () => {
    for (const { code, message, hint } of errors) {
      assert.doesNotMatch(message, /\.$|undefined|\[object|NaN/, `${code}: ${message}`);
      assert.doesNotMatch(message, /^(?!(?:Ray|Node|Manta|Serve)\b)[A-Z]/, `${code}: ${message}`);
      assert.doesNotMatch(hint ?? '', /undefined|\[object|NaN/, `${code}: ${hint}`);
    }
  });
  test('every event says something of its values', () => {
    for (const { code, text } of events) assert.doesNotMatch(text, /undefined|\[object|NaN/, `${code}: ${text}`);
  });
});

const byOrderOf =
  (codes: readonly string[]) =>
  (a: string, b: string): number =>
    codes.indexOf(a) - codes.indexOf(b);

test('docs/commands.md has a section for every command with every option, and for no other', () => {
  const page = read('docs/commands.md');
  const headings = [...page.matchAll(/^## (manta .*)$/gm)].map((heading) => heading[1]!);
  assert.deepEqual(headings.sort(), commands.map(({ path }) => typed(path)).sort());
  for (const command of commands) {
    const section = page.split(`\n## ${typed(command.path)}\n`)[1]!.split('\n## ')[0]!;
    const options = [...section.matchAll(/^\| `(?:-\w, )?--([\w-]+)/gm)].map((row) => row[1]!);
    assert.deepEqual(
      options,
      command.options.map(({ name }) => name),
      typed(command.path),
    );
  }
});

test('docs/variables.md lists every variable of Manta that the sources name, and no other', () => {
  const codes = new Set([...errors, ...events, ...problems].map(({ code }) => code));
  const named = globSync(['src/**/*.{ts,sh,bash}', 'bin/*'], { cwd: root }).flatMap((file) =>
    [...read(file).matchAll(/\bMANTA_[A-Z0-9_]+\b/g)].map(([name]) => name),
  );
  assert.deepEqual(
    [...variables].sort(),
    [...new Set(named)].filter((name) => !codes.has(name) && !name.endsWith('_')).sort(),
  );
});
