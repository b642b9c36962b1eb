import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import fc from 'fast-check';
import { shellQuoted } from '../../src/base/shell/shell-quote.ts';
import type { NodeOrder } from '../../src/bringup/node/node.ts';
import { commandProgram, exportText, markWord, sessionEnvironment } from '../../src/bringup/node/shell-text.ts';
import { never } from '../contract/waiting.ts';
import { localHost } from './local-host.ts';

const here = { kind: 'host' } as const;
const order: NodeOrder = {
  cluster: 'lab',
  instance: 'host-1',
  kind: 'worker',
  type: 'small',
  commands: { initialization: [], setup: [], start: [] },
  files: { mounts: [], exclude: [], filter: [] },
  headAddress: '10.0.0.1',
  loginShells: true,
  usageStats: false,
  token: 'a-token-that-nobody-guesses',
};

function homeOf(t: TestContext, bashrc = ''): string {
  const home = mkdtempSync(join(tmpdir(), 'manta-shell-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  writeFileSync(join(home, '.bashrc'), bashrc);
  return home;
}

for (const loginShells of [true, false]) {
  const shell = loginShells ? 'a login shell' : 'a plain shell';

  test(`a command in ${shell} runs as it is written and its own exit code comes back`, async (t) => {
    const host = localHost(homeOf(t));
    const run = (command: string) => host.sh(commandProgram({ loginShells }, here, command, {}), { signal: never });
    assert.deepEqual(await run('echo "it\'s" $((1+1)); echo two >&2; exit 7'), {
      code: 7,
      stdout: "it's 2\n",
      stderr: 'two\n',
    });
    assert.equal((await run('false && echo no; true # the end')).code, 0);
    assert.equal((await run('cat <<EOF\n$(pwd)\nEOF')).stdout, (await run('pwd')).stdout);
    assert.equal((await run('cat | wc -c')).stdout.trim(), '0', 'standard input is empty');
    const broken = await run('echo (');
    assert.notEqual(broken.code, 0);
    assert.match(broken.stderr, /syntax error/);
  });

  test(`values reach a command in ${shell} as they are`, async (t) => {
    const host = localHost(homeOf(t));
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), async (text) => {
        const value = text.replaceAll('\0', '');
        const program = commandProgram({ loginShells }, here, 'printf %s "$VALUE"', { VALUE: value });
        assert.equal((await host.sh(program, { signal: never })).stdout, value);
      }),
      { numRuns: 25 },
    );
  });
}

test('a login shell reads a .bashrc that only interactive shells read to its end, and says nothing of its own', async (t) => {
  const host = localHost(homeOf(t, 'case $- in *i*) ;; *) return ;; esac\nexport FROM_BASHRC=1\n'));
  const command = 'echo "$FROM_BASHRC $OMP_NUM_THREADS $PYTHONWARNINGS"';
  const result = await host.sh(commandProgram({ loginShells: true }, here, command, {}), { signal: never });
  assert.deepEqual(result, { code: 0, stdout: '1 1 ignore\n', stderr: '' });
});

test('what Manta sets wins over the start-up files of the user', async (t) => {
  const host = localHost(homeOf(t, 'export RAY_HEAD_IP=elsewhere\n'));
  const program = commandProgram(order, here, 'echo $RAY_HEAD_IP', { RAY_HEAD_IP: '10.0.0.1' });
  assert.equal((await host.sh(program, { signal: never })).stdout, '10.0.0.1\n');
});

test('neither a command nor its environment stands in a process table', async (t) => {
  const host = localHost(homeOf(t));
  for (const loginShells of [true, false]) {
    const command = `: word-of-the-command; cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -aoE 'word-of-the-[c]ommand|value-of-the-[v]ariable'`;
    const program = commandProgram({ loginShells }, here, command, { VALUE: 'value-of-the-variable' });
    assert.equal((await host.sh(program, { signal: never })).stdout, '');
  }
});

test('sessions of users get the mode of authentication and the file of the token, not the token', async (t) => {
  const home = homeOf(t);
  const text = exportText(sessionEnvironment(order));
  assert.ok(!text.includes(order.token as string));
  const { stdout } = await localHost(home).sh(`${text}echo $RAY_AUTH_MODE $RAY_AUTH_TOKEN_PATH`, { signal: never });
  assert.equal(stdout, `token ${home}/.manta/nodes/lab/token\n`);
  const { token: _, ...open } = order;
  assert.match(exportText(sessionEnvironment(open)), /RAY_AUTH_MODE=disabled/);
});

test('a mark holds nothing that would end it or that a pattern reads', () => {
  assert.equal(markWord('lab', 'host-1.x'), 'lab/host-1.x');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (cluster, instance) => {
      assert.match(markWord(cluster, instance), /^[\w.%-]*\/[\w.%-]*$/);
    }),
  );
  assert.notEqual(markWord('a/b', 'c'), markWord('a', 'b/c'));
  assert.equal(shellQuoted("it's"), `'it'\\''s'`);
});
