// needs: posix-shells, mounts
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { equalNames, shellFiles } from '../../scripts/build.ts';
import { shellProgram, shellText } from '../../src/base/shell/shell-file.ts';
import { ShellBed, shells } from '../base/shell-bed.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const readers = { sh: [['dash'], ['busybox', 'sh']], bash: [['bash']] } as const;

/** Of the lab too: they are programs of its hosts. */
const all = [...shellFiles(), ...globSync('lab/**/*.{sh,bash}', { cwd: root })];

describe('programs for hosts', () => {
  for (const file of all)
    test(`${file} can be read by every shell that it is for, with its comments and without`, () => {
      const source = readFileSync(join(root, file), 'utf8');
      for (const [name = '', ...words] of readers[file.endsWith('.bash') ? 'bash' : 'sh'])
        for (const input of [source, shellText(source)]) {
          const { error, status, stderr } = spawnSync(name, [...words, '-n'], { input, encoding: 'utf8' });
          assert.equal(error, undefined, `${name} is missing: run 'apt-get install ${name}'`);
          assert.deepEqual([status, stderr], [0, ''], name);
        }
    });

  test('stand in files of their own: no source holds shell with control flow', () => {
    const sources = globSync('{src,lab}/**/*.ts', { cwd: root });
    const flow = /\]; then\b|; fi\b|\besac\b|; do .*; done\b/;
    assert.match('if [ -e x ]; then', flow);
    assert.deepEqual(
      sources.filter((file) => flow.test(readFileSync(join(root, file), 'utf8'))),
      [],
    );
  });

  test('have names that no two share', () => {
    assert.equal(equalNames(shellFiles()), undefined);
    assert.match(
      equalNames(['src/a/end.sh', 'src/a/start.sh', 'src/b/end.bash']) ?? '',
      /a\/end\.sh and src\/b\/end\.b/,
    );
  });
});

test('the function ray, its parameters and all that it needs reach sub-shells, and Ray itself sees nothing of them', () => {
  const read = (name: string): string => readFileSync(join(root, 'src/bringup/ray', `ray-${name}.bash`), 'utf8');
  const start = read('start');
  const wordsAfter = (command: string): string[] =>
    (new RegExp(`^ *${command} ((?:[a-z_ ]|\\\\\n)+)$`, 'm').exec(start)?.[1] ?? '').split(/[\s\\]+/).sort();
  const functions = [start, read('processes'), read('versions')].flatMap((text) =>
    [...text.matchAll(/^(\w+)\(\) \{/gm)].map((match) => match[1] as string),
  );
  const parameters = [...start.matchAll(/^# (manta_\w+) /gm)].map((match) => match[1] as string);
  assert.ok(functions.includes('manta_end') && parameters.includes('manta_pattern'));
  for (const command of ['export -f', 'unset -f']) assert.deepEqual(wordsAfter(command), functions.toSorted(), command);
  for (const command of ['export', 'unset']) assert.deepEqual(wordsAfter(command), parameters.toSorted(), command);
});

for (const shell of shells)
  test(`in ${shell} parameters and arguments reach a program as they are`, (t) => {
    const odd = ['', ' ', "it's", '"$(exit 1)"', '`', '\\', '*', 'a\nb\n', '-n', '~', '#', 'é'];
    const program = 'printf "%s|" "$value" "$count" "$yes" "$no" "$none" "$#" "$@"\n';
    for (const value of odd) {
      const parameters = { value, count: 3, yes: true, no: false, none: undefined };
      const { code, stdout } = new ShellBed(t, shell).run(shellProgram(program, parameters, odd));
      assert.deepEqual([code, stdout], [0, [value, '3', 'yes', '', '', odd.length, ...odd, ''].join('|')]);
    }
  });
