import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { root } from '../../scripts/docs/declared.ts';
import { commands } from '../../src/cli/commands.ts';
import { parse } from '../../src/cli/parse/parse.ts';
import {
  blockNeeds,
  blocksOf,
  codeSpans,
  commandLines,
  isShell,
  pages,
  readFile,
  readPage,
  shownLines,
  words,
} from './pages.ts';

const { scripts } = JSON.parse(readFile('package.json')) as { scripts: Record<string, string> };

/** The words after `manta`, or undefined for another program. */
function mantaWords(line: string): readonly string[] | undefined {
  const [program, ...rest] = words(line);
  return program === 'manta' || program === 'bin/manta' ? rest : undefined;
}

const understands = (line: string): void => assert.doesNotThrow(() => parse(mantaWords(line)!, commands), line);

/** A sentence may name a command, or a group of them, without its arguments. */
const isName = (given: readonly string[]): boolean =>
  commands.some(({ path }) => given.every((word, index) => path[index] === word));

describe('every command that a page shows is one that Manta understands, with all its options', () => {
  for (const page of pages) {
    test(page, () => {
      const text = readPage(page);
      for (const { text: shell } of blocksOf(text).filter(isShell))
        for (const line of commandLines(shell)) {
          if (mantaWords(line) !== undefined) understands(line);
          const [program, ...rest] = words(line);
          if (program !== 'npm') continue;
          const script = rest[0] === 'run' ? rest[1] : rest[0];
          assert.ok(['ci', 'install'].includes(script!) || scripts[script!] !== undefined, `${line}: no such script`);
        }
      for (const line of shownLines(text)) if (mantaWords(line) !== undefined) understands(line);
      for (const line of codeSpans(text).flatMap(commandLines)) {
        const given = mantaWords(line);
        if (given !== undefined && !isName(given)) understands(line);
      }
    });
  }
});

describe('a block of shell is run, or says what it needs', () => {
  for (const page of pages) {
    test(page, () => {
      for (const { language, text, needs } of blocksOf(readPage(page))) {
        for (const need of needs)
          assert.ok(
            (blockNeeds as readonly string[]).includes(need),
            `'${need}' is not one of ${blockNeeds.join(', ')}`,
          );
        if (/^(?:\$ )?(?:bin\/)?manta [a-z-]/m.test(text) && language !== 'text')
          assert.equal(language, 'sh', `name the language of this block 'sh', so that it is run:\n${text}`);
      }
      const loose = readPage(page).match(/<!-- needs:[^>]*-->(?!\n+```)/g) ?? [];
      assert.deepEqual(loose, [], 'a comment stands right before its block');
    });
  }
});

test('a page with an unknown command, option or argument is found', () => {
  for (const line of ['manta upp', 'manta up --plant', 'manta get-head-ip a b', 'manta completion tcsh'])
    assert.throws(() => parse(mantaWords(line)!, commands), line);
  const page = 'Run `manta upp\n--plan` or\n\n    manta down -y\n\n<!-- needs: hosts -->\n```sh\nmanta up # x\n```\n';
  assert.deepEqual(codeSpans(page), ['manta upp --plan']);
  assert.deepEqual(shownLines(page), ['manta down -y']);
  assert.deepEqual(blocksOf(page), [{ language: 'sh', text: 'manta up # x\n', needs: ['hosts'] }]);
  assert.deepEqual(commandLines('eval "$(manta env)" # now\nmanta job logs x | head'), [
    'eval "',
    'manta env',
    'manta job logs x',
    'head',
  ]);
});

test('the examples of the commands are understood too', () => {
  for (const command of commands)
    for (const example of command.examples ?? []) {
      const line = /manta (?:[^|<>)"]|"[^"]*")*/.exec(example)?.[0] ?? assert.fail(example);
      understands(line);
    }
});

test('the README opens with the two commands of a newcomer', () => {
  const block = /```sh\n([^]*?)```/.exec(readPage('README.md'))![1]!;
  assert.deepEqual(
    block
      .trim()
      .split('\n')
      .map((line) => words(line.replace(/#.*/, ''))),
    [
      ['npm', 'start'],
      ['npm', 'test'],
    ],
  );
});

test("continuous integration runs the README's test command, and the lab", () =>
  assert.match(readFile('.ci/run'), /^run test\nrun test:lab$/m));

describe('every file that a page names or links to is there', () => {
  for (const page of pages) {
    test(page, () => {
      const links = [...readPage(page).matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)].map((link) =>
        join(dirname(page), link[1]!),
      );
      const named = [...readPage(page).matchAll(/`((?:src|test|scripts|bench|docs|bin)\/[\w./-]+)`/g)].map(
        (name) => name[1]!,
      );
      for (const path of [...links, ...named]) assert.ok(existsSync(join(root, path)), `${page} names ${path}`);
    });
  }
  // Decisions may name what was there when they were made.
  for (const page of pages.filter((path) => !path.startsWith('docs/decisions/')))
    test(`${page}, by the end of its path`, () => {
      for (const name of codeSpans(readPage(page)).filter((span) => /^[a-z][\w./-]*\.tsx?$/.test(span)))
        assert.ok(
          sources.some((file) => `/${file}`.endsWith(`/${name}`)),
          `${page} names ${name}`,
        );
    });
});

const sources = globSync('{src,test,scripts,lab,bench}/**/*.{ts,tsx}', { cwd: root });

describe('a link to a heading leads to one', () => {
  for (const page of pages) {
    test(page, () => {
      for (const [link, file, anchor] of readPage(page).matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)) {
        const target = file === '' ? page : join(dirname(page), file!);
        assert.ok(anchors(readFile(target)).includes(anchor!), `${page}: ${link}`);
      }
    });
  }
});

/** The anchors that GitHub makes of the headings of a page. */
const anchors = (page: string): string[] =>
  [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\- _]/gu, '')
      .replaceAll(' ', '-'),
  );

describe('a page ends with where to go next', () => {
  for (const page of pages.filter((path) => !path.startsWith('docs/decisions/')))
    test(page, () => {
      const last = readPage(page).trimEnd().split('\n## ').at(-1)!;
      assert.ok(/^Next\n\n[^]*^- /m.test(last), `the last section of ${page} is '${last.split('\n')[0]}'`);
    });
});
