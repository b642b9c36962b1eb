import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { manta, runManta, runNode } from './run-manta.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('without words it says what it is and what it can do', async () => {
  const { exit, stdout, stderr } = await runManta([]);
  assert.deepEqual([exit, stderr], [0, '']);
  assert.match(stdout, /^manta launches, scales and runs Ray clusters\n\nUsage: manta COMMAND/);
  assert.match(stdout, /^ {2}completion /m);
});

test('the version is that of the package', async () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  assert.match((await runManta(['version'])).stdout, new RegExp(`^manta ${version} \\(Node 2`));
  assert.equal((JSON.parse((await runManta(['--version', '--json'])).stdout) as { manta: string }).manta, version);
});

test('a mistyped command is one sentence and a hint, exit code 2', async () => {
  const { exit, stdout, stderr } = await runManta(['versoin']);
  assert.deepEqual([exit, stdout], [2, '']);
  assert.equal(
    stderr,
    "error: unknown command 'versoin' for 'manta' (MANTA_CLI_UNKNOWN_COMMAND)\nhint: did you mean 'version'?\n",
  );
});

test('a reader that is gone before the first line ends it without a word', async () => {
  const child = spawn(process.execPath, [manta, 'version'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [exit] = (await once(child, 'close')) as [number];
  assert.deepEqual([exit, stderr], [141, '']);
});

/** The program with one command, which evaluates `body`. */
const running = (body: string): string[] => [
  '--input-type=module',
  '-e',
  `import { start } from ${JSON.stringify(join(root, 'src/cli/start.ts'))};
   process.argv.splice(1, process.argv.length, 'manta', 'try');
   const run = (_, io) => ${body};
   await start([{ path: ['try'], summary: '', args: [], options: [], load: async () => ({ run }) }]);`,
];

test('a fault that nothing waited for is reported like any other', async () => {
  const { exit, stderr } = await runNode(
    running("new Promise(() => { setInterval(() => {}, 1000); setTimeout(() => { throw new Error('late'); }); })"),
  );
  assert.equal(exit, 70);
  assert.match(stderr, /^error: internal error: late \(MANTA_INTERNAL\)\nhint: [^\n]*\n$/);
});

describe('signals', () => {
  /** A command that waits for the signal, then tidies up for as long as it is let. */
  const waiting = (afterwards: string): string[] =>
    running(`new Promise((resolve) => {
      setInterval(() => {}, 1000);
      io.signal.addEventListener('abort', () => { io.out('tidying\\n'); ${afterwards} });
      io.out('waiting\\n');
    })`);

  const signalled = async (afterwards: string, signals: readonly NodeJS.Signals[]): Promise<[number, string]> => {
    const child = spawn(process.execPath, waiting(afterwards), { stdio: ['ignore', 'pipe', 'inherit'] });
    let stdout = '';
    const pending = [...signals];
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
      const next = pending.shift();
      if (next !== undefined) child.kill(next);
    });
    const [exit] = (await once(child, 'close')) as [number];
    return [exit, stdout];
  };

  test('the first Ctrl-C lets the command tidy up', async () => {
    assert.deepEqual(await signalled('resolve(0)', ['SIGINT']), [130, 'waiting\ntidying\n']);
  });
  test('the second Ctrl-C ends it at once', async () => {
    assert.deepEqual(await signalled('', ['SIGINT', 'SIGINT']), [130, 'waiting\ntidying\n']);
  });
  test('SIGTERM does the same with its own exit code', async () => {
    assert.deepEqual(await signalled('resolve(0)', ['SIGTERM']), [143, 'waiting\ntidying\n']);
  });
});

describe('on an old Node', () => {
  /** This Node, claiming to be an old one. */
  const asOldNode = (program: string, words: readonly string[]): string[] => [
    '-e',
    `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.0' } });
     process.argv = [process.argv[0], ${JSON.stringify(program)}, ...${JSON.stringify(words)}];
     require(${JSON.stringify(program)});`,
  ];

  test('a checkout hands over to the Node that came with its packages, exit code included', async () => {
    const good = await runNode(asOldNode(manta, ['version']));
    assert.deepEqual([good.exit, good.stderr], [0, '']);
    assert.match(good.stdout, /^manta /);
    assert.equal((await runNode(asOldNode(manta, ['nonsense']))).exit, 2);
  });

  test('without one it says in one sentence what to do', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'manta-old-'));
    try {
      cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true });
      const { exit, stderr } = await runNode(asOldNode(join(folder, 'bin', 'manta'), []));
      assert.equal(exit, 3);
      assert.match(stderr, /^manta: needs Node 24 or newer and was started by v[\d.]+: install one[^\n]*\n$/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('the starting file is written in syntax that Node 14 has', () => {
    const text = readFileSync(manta, 'utf8');
    assert.equal(transformSync(text, { target: 'node14' }).code, transformSync(text, { target: 'esnext' }).code);
  });
});
