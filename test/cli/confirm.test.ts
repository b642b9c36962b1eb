import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { silent } from '../../src/base/events.ts';
import type { Io } from '../../src/cli/command.ts';
import { confirmed } from '../../src/cli/confirm.ts';

const io = (stdin: string, signal = new AbortController().signal): Io => ({
  out: () => assert.fail('nothing is printed'),
  events: silent,
  stdin: Readable.from(stdin === '' ? [] : [stdin]),
  env: {},
  cwd: '/',
  terminal: true,
  columns: 80,
  color: false,
  json: false,
  signal,
});

test('only y and yes agree, in capitals too; an input that ends does not', { timeout: 30_000 }, async () => {
  const answers = ['y\n', 'YES\n', ' y \n', 'n\n', '\n', 'yesterday\n', ''];
  const said = [];
  for (const answer of answers) said.push(await confirmed('Go on?', false, io(answer)));
  assert.deepEqual(said, [true, true, true, false, false, false, false]);
});

test('--yes answers without a look at the input', async () => {
  assert.equal(await confirmed('Go on?', true, io('n\n')), true);
});

test('Ctrl-C while it is asked ends the command', { timeout: 30_000 }, async () => {
  const stop = new AbortController();
  const waiting = confirmed('Go on?', false, { ...io('', stop.signal), stdin: new Readable({ read() {} }) });
  stop.abort(new Error('stopped'));
  await assert.rejects(waiting, { name: 'AbortError' });
});

test('where nobody can answer it is an error that the command chooses', { timeout: 30_000 }, async () => {
  // A process of its own: this one may have a terminal.
  const text = `
    const { confirmed } = await import(${JSON.stringify(import.meta.resolve('../../src/cli/confirm.ts'))});
    const io = { terminal: false, stdin: process.stdin, signal: new AbortController().signal };
    const code = (asking) => confirmed('Go on?', false, io, asking).catch((error) => error.code);
    console.log(await code({}), await code({ nobody: () => Object.assign(new Error(), { code: 'OWN' }) }));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', text], { stdio: ['ignore', 'pipe', 'inherit'] });
  assert.equal((await child.stdout.toArray()).join(''), 'MANTA_EXEC_NOBODY_TO_ASK OWN\n');
});
