// needs: ray-client

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { commands } from '../../src/cli/commands.ts';
import { gcsWordsFromRay, wordsFromRay } from '../../src/cli/parse/ray-words.ts';
import { quoted } from '../../src/cli/quote.ts';
import { shimText } from '../../src/launcher/shim/shim-text.ts';
import { type ApiBed, makeApiBed } from '../jobs/api-bed.ts';
import { rayCommand, rayPython } from '../jobs/ray-python.ts';
import { ShellRunner } from '../jobs/shell-runner.ts';
import { manta, runManta } from './run-manta.ts';

const folder = mkdtempSync(join(tmpdir(), 'manta-shim-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const place = (name: string): string => {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  return path;
};

function script(path: string, text: string): string {
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

/** Prints who it is, and each word between brackets. */
const echo = (who: string): string => `#!/bin/sh\nprintf '${who}'; for word do printf ' [%s]' "$word"; done; echo\n`;

describe('where a command line goes', () => {
  const [shims, reals] = [place("it's a shim"), place('real')];
  const program = script(join(place('a $place'), 'manta'), echo('manta'));
  const shim = script(
    join(shims, 'ray'),
    shimText({
      words: wordsFromRay(commands),
      gcsWords: gcsWordsFromRay(commands),
      node: '/bin/sh',
      program: quoted(program),
    }),
  );
  script(join(reals, 'ray'), echo('real'));
  const system = process.env['PATH'] ?? '';
  const ray = (
    words: readonly string[],
    path = [shims, reals, system].join(delimiter),
    env = {},
    shell = '/bin/sh',
  ) => {
    const { stdout, stderr, status } = spawnSync(shell, [shim, ...words], {
      encoding: 'utf8',
      env: { PATH: path, ...env },
    });
    return { said: stdout.trimEnd(), stderr, status };
  };

  test('commands about clusters and jobs go to Manta, in both spellings and with the old names', () => {
    for (const word of wordsFromRay(commands)) assert.equal(ray([word, 'x']).said, `manta [--as-ray] [${word}] [x]`);
    for (const word of ['up', 'rsync-up', 'rsync_up', 'create_or_update', 'teardown', 'job', 'status'])
      assert.ok(wordsFromRay(commands).includes(word), word);
  });

  test('all others go to the next ray on PATH, and so does what is no command', () => {
    for (const words of [
      ['start', '--head'],
      ['memory'],
      ['logs', 'cluster'],
      ['list', 'nodes'],
      ['--version'],
      ['--help'],
    ])
      assert.equal(ray(words).said, `real ${words.map((word) => `[${word}]`).join(' ')}`);
    assert.equal(ray([]).said, 'real');
  });

  test('options of ray itself may stand before the command', () => {
    assert.equal(ray(['--logging-level', 'up', 'stop']).said, 'real [--logging-level] [up] [stop]');
    assert.equal(ray(['--logging-format=up', 'up']).said, 'manta [--as-ray] [--logging-format=up] [up]');
  });

  test('words arrive as they were, whatever is in them', () => {
    const words = ['a  b', '*', '$HOME', "it's", '"', '\\n', '', ';', '`id`', 'two\nlines'];
    const shown = words.map((word) => `[${word}]`).join(' ');
    for (const shell of ['/bin/sh', '/bin/bash'].filter((each) => existsSync(each))) {
      assert.equal(ray(['exec', ...words], undefined, {}, shell).said, `manta [--as-ray] [exec] ${shown}`);
      assert.equal(ray(['memory', ...words], undefined, {}, shell).said, `real [memory] ${shown}`);
    }
  });

  test('the address of a GCS is for Ray, that of a head for Manta', () => {
    assert.match(ray(['status']).said, /^manta/);
    assert.match(ray(['status', '--address', 'http://localhost:8265']).said, /^manta/);
    assert.match(ray(['status', '--address', '10.0.0.1:6379']).said, /^real/);
    assert.match(ray(['health-check', '--address=10.0.0.1:6379']).said, /^real/);
    assert.match(ray(['status', '-v'], undefined, { RAY_ADDRESS: '10.0.0.1:6379' }).said, /^real/);
    assert.match(ray(['status'], undefined, { RAY_ADDRESS: 'auto' }).said, /^manta/);
  });

  test('it never finds itself, neither twice on PATH nor by another name', () => {
    const linked = place('linked');
    symlinkSync(shim, join(linked, 'ray'));
    assert.equal(ray(['memory'], [shims, linked, shims, reals].join(delimiter)).said, 'real [memory]');
    const none = ray(['memory'], [shims, linked].join(delimiter));
    assert.equal(none.status, 127);
    assert.match(none.stderr, /'memory' belongs to Ray, and there is no ray on PATH/);
  });

  for (const [what, place] of [
    ['Manta', { node: '/bin/sh', program: '/nowhere/manta' }],
    ['Node', { node: '/nowhere/node', program: quoted(program) }],
  ] as const)
    test(`a ${what} that has moved is looked for on PATH, and missed in words when it is not there either`, () => {
      const moved = join(folder, 'moved');
      script(moved, shimText({ words: ['up'], gcsWords: ['status'], ...place }));
      const run = (path: string) => spawnSync('/bin/sh', [moved, 'up'], { encoding: 'utf8', env: { PATH: path } });
      assert.equal(run(dirname(program)).stdout, 'manta [--as-ray] [up]\n');
      assert.deepEqual([run(reals).status, /manta shim install/.test(run(reals).stderr)], [127, true]);
    });
});

describe('manta shim', () => {
  const install = (path: string, more: readonly string[] = [], onPath = '') =>
    runManta(['shim', 'install', path, ...more], {
      PATH: [onPath, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
    });

  test('install puts a ray there that works, again and again; remove takes it away', async () => {
    const bin = place('bin');
    for (const _ of ['once', 'twice']) assert.equal((await install(bin, [], bin)).exit, 0);
    const { stdout } = spawnSync(join(bin, 'ray'), ['up', '--help'], { encoding: 'utf8' });
    assert.match(stdout, /^manta up: /);
    assert.equal((await runManta(['shim', 'remove', bin])).exit, 0);
    assert.equal(existsSync(join(bin, 'ray')), false);
    assert.match((await runManta(['shim', 'remove', bin])).stdout, /nothing to do/);
  });

  test('a ray that Manta did not make is neither replaced nor removed', async () => {
    const bin = place('foreign');
    script(join(bin, 'ray'), '#!/bin/sh\n');
    for (const verb of ['install', 'remove']) {
      const ran = await runManta(['shim', verb, bin]);
      assert.equal(ran.exit, 2);
      assert.match(ran.stderr, /was not created by Manta, so it was left alone \(MANTA_SHIM_NOT_OURS\)/);
    }
    assert.equal(readFileSync(join(bin, 'ray'), 'utf8'), '#!/bin/sh\n');
  });

  test('it says when PATH leads elsewhere, and when the folder is none', async () => {
    const [bin, real] = [place('late'), place('early')];
    script(join(real, 'ray'), echo('real'));
    assert.match((await install(bin)).stderr, /is not on PATH/);
    const ran = await install(bin, ['--json'], `${real}${delimiter}${bin}`);
    assert.match(ran.stderr, /MANTA_SHIM_SHADOWED/);
    assert.deepEqual(JSON.parse(ran.stdout), { file: join(bin, 'ray'), manta, real: join(real, 'ray') });
    assert.match((await install(join(folder, 'nowhere'))).stderr, /no such folder/);
  });
});

describe('what scripts read of ray job', {
  skip: 'missing' in rayPython() ? (rayPython() as { missing: string }).missing : false,
}, () => {
  const runner = new ShellRunner(4);
  let bed: ApiBed;
  before(async () => {
    bed = await makeApiBed({ runner, types: [{ name: 'box', resources: { CPU: 4 }, labels: {}, atMost: 1 }] });
  });
  after(async () => {
    await bed.remove();
    runner.close();
  });

  /** Output with what differs from run to run taken out: time, place in the source, colours, ids. */
  const settled = (text: string): string =>
    text
      // oxlint-disable-next-line no-control-regex -- colours are control characters
      .replaceAll(/\x1b\[\d+m/g, '')
      .replaceAll(/^[\d-]+ [\d:,]+\t(\w+) cli\.py:\d+ -- /gm, '$1 ')
      .replaceAll(/-{10,}/g, '---')
      .replaceAll(/\b(ours|rays)-/g, '')
      .replaceAll(/(start_time|end_time)=\d+/g, '$1=0')
      .replaceAll(/driver_node_id='\w+'/g, "driver_node_id='n'");

  const run = (program: string, words: readonly string[]): Promise<{ stdout: string; code: number | null }> =>
    new Promise((resolve, reject) => {
      const env = { ...process.env, RAY_ADDRESS: bed.address, RAY_AUTH_MODE: 'token', RAY_AUTH_TOKEN: bed.token };
      const child = spawn(program, words, { env, stdio: ['ignore', 'pipe', 'ignore'] });
      let stdout = '';
      child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
      child.on('error', reject);
      child.on('close', (code) => resolve({ stdout, code }));
    });
  const ours = (words: readonly string[]) => run(process.execPath, [manta, '--as-ray', 'job', ...words]);
  const rays = (words: readonly string[]) => {
    const ray = rayPython();
    return 'missing' in ray ? assert.fail(ray.missing) : run(ray.python, [...rayCommand, 'job', ...words]);
  };

  for (const [what, words] of [
    ['submit, to the end', ['submit', '--submission-id', '@-a', '--', 'echo', 'hello']],
    ['submit of a job that fails', ['submit', '--submission-id', '@-b', '--', 'sh', '-c', 'echo trace; exit 3']],
    ['submit, and leave', ['submit', '--no-wait', '--submission-id', '@-c', '--', 'sleep', '600']],
    ['status of one that runs', ['status', '@-c']],
    ['stop', ['stop', '--no-wait', '@-c']],
    ['status of one that succeeded', ['status', '@-a']],
    ['logs to the end', ['logs', '-f', '@-b']],
    ['delete', ['delete', '@-a']],
    ['status of one that is not there', ['status', '@-none']],
  ] as const)
    test(what, async () => {
      const as = (who: string): string[] => words.map((word) => word.replace('@', who));
      const [own, real] = await Promise.all([ours(as('ours')), rays(as('rays'))]);
      assert.deepEqual(
        { code: own.code, stdout: settled(own.stdout) },
        { code: real.code, stdout: settled(real.stdout) },
      );
    });

  test('logs, without the time that Ray puts before the first line of the output when nobody sits at a terminal', async () => {
    const [own, real] = [await ours(['logs', 'ours-b']), await rays(['logs', 'rays-b'])];
    assert.equal(settled(own.stdout), settled(real.stdout).replace('INFO trace', 'trace'));
  });

  test('list', async () => {
    const [own, real] = [await ours(['list']), await rays(['list'])];
    assert.equal(settled(own.stdout), settled(real.stdout));
  });
});
