import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { root } from '../../scripts/docs/declared.ts';
import { commands } from '../../src/cli/commands.ts';
import { parse } from '../../src/cli/parse.ts';

const pages = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: root })].sort();
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

/** Lines of shell blocks, without prompts, comments and what is piped around them. */
function shellLines(page: string): string[] {
  const blocks = [...read(page).matchAll(/^```(?:sh|bash|console)\n([^]*?)^```/gm)].map((block) => block[1]!);
  return blocks
    .flatMap((block) => block.replaceAll('\\\n', ' ').split('\n'))
    .flatMap((line) => line.replace(/\s#.*$/, '').split(/\s(?:\||&&|;)\s|\$\(|\)"/))
    .map((part) =>
      part
        .replace(/^\$ /, '')
        .replace(/[<>]\s*\S+/g, '')
        .trim(),
    );
}

const words = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c!);

describe('every command that a page shows is one that Manta understands', () => {
  for (const page of pages) {
    test(page, () => {
      for (const line of shellLines(page)) {
        const [program, ...rest] = words(line);
        if (program === 'manta' || program === 'bin/manta') assert.doesNotThrow(() => parse(rest, commands), line);
        if (program !== 'npm') continue;
        const script = rest[0] === 'run' ? rest[1] : rest[0];
        assert.ok(['ci', 'install'].includes(script!) || scripts[script!] !== undefined, `${line}: no such script`);
      }
    });
  }
});

test('the examples of the commands are understood too', () => {
  for (const command of commands)
    for (const example of command.examples ?? []) {
      const line = /manta (?:[^|<>)"]|"[^"]*")*/.exec(example)?.[0] ?? assert.fail(example);
      assert.doesNotThrow(() => parse(words(line).slice(1), commands), example);
    }
});

test('the README opens with the two commands of a newcomer', () => {
  const block = /```sh\n([^]*?)```/.exec(read('README.md'))![1]!;
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
  assert.match(read('.ci/run'), /^run test\nrun test:lab$/m));

describe('every file that a page names or links to is there', () => {
  for (const page of pages) {
    test(page, () => {
      const links = [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)].map((link) =>
        join(dirname(page), link[1]!),
      );
      const named = [...read(page).matchAll(/`((?:src|test|scripts|bench|docs|bin)\/[\w./-]+)`/g)].map(
        (name) => name[1]!,
      );
      for (const path of [...links, ...named]) assert.ok(existsSync(join(root, path)), `${page} names ${path}`);
    });
  }
});
