// needs: shells

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Command } from '../../src/cli/command.ts';
import { commands, groups } from '../../src/cli/commands.ts';
import { complete } from '../../src/cli/complete.ts';
import { nextWords } from '../../src/cli/tree.ts';
import { manta } from './run-manta.ts';

const table: readonly Command[] = [
  {
    path: ['simulate'],
    summary: 'simulate',
    args: [{ name: 'FILE', summary: 'a file', complete: 'file' }],
    options: [
      { name: 'faults', short: 'f', summary: 'faults', value: 'PROFILE', choices: ['mild', 'chaos'] },
      { name: 'html', summary: 'page', value: 'FILE', complete: 'file' },
      { name: 'seed', summary: 'seed', value: 'S' },
    ],
    load: () => Promise.reject(new Error('completion must not load a command')),
  },
];

const values = (...words: string[]): string[] => complete(words, table, {}).candidates.map(({ value }) => value);

describe('what may come next', () => {
  test('commands, options and values', () => {
    assert.deepEqual(values('sim'), ['simulate']);
    assert.ok(values('simulate', '--').includes('--faults'));
    assert.ok(values('simulate', '--').includes('--json'));
    assert.deepEqual(values('simulate', '--faults', ''), ['mild', 'chaos']);
    assert.deepEqual(values('simulate', '-f', 'c'), ['chaos']);
    assert.deepEqual(values('simulate', '--faults=c'), ['--faults=chaos']);
    assert.deepEqual(values('--json', 'simulate', '--htm'), ['--html']);
  });

  test('files where files are meant, nothing where only the user knows', () => {
    assert.equal(complete(['simulate', ''], table, {}).paths, 'file');
    assert.equal(complete(['simulate', '--html', 'x'], table, {}).paths, 'file');
    assert.deepEqual(complete(['simulate', '--seed', ''], table, {}), { candidates: [], paths: 'none' });
    assert.deepEqual(complete(['simulate', 'a', ''], table, {}), { candidates: [], paths: 'none' });
    assert.deepEqual(complete(['nonsense', ''], table, {}), { candidates: [], paths: 'none' });
  });

  test('names of clusters beside files where a cluster is meant, and alone behind -n', () => {
    const here = (...words: string[]) => complete(words, commands, groups, () => ['team', 'other']);
    const names = (...words: string[]): string[] => here(...words).candidates.map(({ value }) => value);
    assert.deepEqual(names('down', 't'), ['team']);
    assert.equal(here('down', 't').paths, 'file');
    assert.deepEqual(names('ssh', ''), ['team', 'other']);
    assert.deepEqual(names('job', 'list', '-n', ''), ['team', 'other']);
    assert.deepEqual(names('exec', '--cluster-name=o'), ['--cluster-name=other']);
    assert.equal(here('status', '-n', 't').paths, 'none');
  });

  test('every visible command is reachable by completion', () => {
    for (const command of commands.filter(({ hidden }) => hidden !== true)) {
      for (const [index, word] of command.path.entries())
        assert.ok(
          complete([...command.path.slice(0, index), word.slice(0, 2)], commands, groups).candidates.some(
            ({ value }) => value === word,
          ),
          command.path.join(' '),
        );
    }
  });
});

let folder = '';
let env: NodeJS.ProcessEnv = {};
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'manta-completion-'));
  mkdirSync(join(folder, 'sub folder'));
  writeFileSync(join(folder, 'cluster one.yaml'), '');
  env = {
    ...process.env,
    HOME: folder,
    PATH: [dirname(manta), dirname(process.execPath), process.env['PATH']].join(delimiter),
  };
});
after(() => rmSync(folder, { recursive: true }));

const shell = (name: string, args: readonly string[]) =>
  spawnSync(name, args, { cwd: folder, env, encoding: 'utf8', timeout: 60_000 });

const absent = (name: string): string | false =>
  shell(name, ['--version']).status === 0 ? false : `optional: ${name} is not installed`;

describe('in bash', () => {
  const inBash = (words: readonly string[]): string[] => {
    const script = `
      eval "$(manta completion bash)"
      COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
      _manta
      printf '%s\\n' "\${COMPREPLY[@]}"
      complete -p manta >&2`;
    const { stdout, stderr } = shell('bash', ['--norc', '-c', script, 'bash', ...words]);
    assert.equal(stderr, 'complete -F _manta manta\n');
    return stdout.split('\n').filter((line) => line !== '');
  };

  test('commands and options', () => {
    assert.deepEqual(inBash(['manta', 'comp']), ['completion']);
    assert.deepEqual(inBash(['manta', '']), nextWords([], commands, false));
    assert.deepEqual(inBash(['manta', 'version', '--verb']), ['--verbose']);
  });
  test('values of an argument', () => assert.deepEqual(inBash(['manta', 'completion', '']), ['bash', 'zsh', 'fish']));
  test('values after an equals sign, which bash splits off', (t) => {
    const option = commands
      .flatMap((command) => command.options.map((each) => ({ command, each })))
      .find(({ each }) => each.choices);
    if (option === undefined) return t.skip('optional: no command has an option with choices');
    const { command, each } = option;
    assert.deepEqual(inBash(['manta', ...command.path, `--${each.name}`, '=']), each.choices);
    assert.deepEqual(inBash(['manta', ...command.path, `--${each.name}`, '=', each.choices![0]!]).slice(0, 1), [
      each.choices![0],
    ]);
  });
  test('file names, spaces and all', (t) => {
    const command = commands.find(({ args }) => ['file', 'cluster'].includes(String(args[0]?.complete)));
    if (command === undefined) return t.skip('optional: no command takes a file');
    assert.deepEqual(inBash(['manta', ...command.path, 'clu']), ['cluster one.yaml']);
  });
});

describe('in zsh', { skip: absent('zsh') }, () => {
  test('a word is completed on the line', () => {
    const { stdout } = shell('zsh', [
      '-f',
      '-c',
      `zmodload zsh/zpty
       zpty s zsh -f -i
       zpty -w s 'PS1="> "; autoload -Uz compinit; compinit -u -D; eval "$(manta completion zsh)"; print RE""ADY'
       while zpty -r s line; do [[ $line == *READY* ]] && break; done
       zpty -w -n s $'manta comp\\t--help; print DO""NE\\n'
       while zpty -r s line; do print -r -- "$line"; [[ $line == *DONE* ]] && break; done`,
    ]);
    assert.match(stdout, /Usage: manta completion SHELL/);
  });
});

describe('in fish', { skip: absent('fish') }, () => {
  test('commands with their meaning', () => {
    const { stdout } = shell('fish', ['--no-config', '-c', 'manta completion fish | source; complete -C "manta comp"']);
    assert.equal(stdout, 'completion\tprint a shell completion script\n');
  });
});
