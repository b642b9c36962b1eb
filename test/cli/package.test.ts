import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildBundle } from '../../scripts/build.ts';
import { buildWeb } from '../../scripts/build-web.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What packages take when somebody has installed it, and do without otherwise. */
const optional = ['bufferutil', 'supports-color', 'utf-8-validate'];

const work = mkdtempSync(join(tmpdir(), 'manta-package-'));
const user = join(work, 'user');
const env = {
  PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
  HOME: user,
  MANTA_HOME: join(user, '.manta'),
  npm_config_cache: join(work, 'npm'),
};
let foreign: readonly string[] = [];

const run = (command: string, ...words: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(command, words, { cwd: user, env, encoding: 'utf8', timeout: 120_000 });
  return { status, output: `${stdout}${stderr}` };
};
const manta = (...words: readonly string[]): string => {
  const { status, output } = run('node_modules/.bin/manta', ...words);
  assert.equal(status, 0, `manta ${words.join(' ')}: ${output}`);
  return output;
};

before(async () => {
  const staged = join(work, 'package');
  for (const folder of [staged, user]) mkdirSync(folder);
  const { outputs } = await buildBundle(join(staged, 'dist'));
  await buildWeb(join(staged, 'dist', 'web'));
  for (const name of ['bin', 'package.json']) cpSync(join(root, name), join(staged, name), { recursive: true });
  foreign = Object.values(outputs).flatMap(({ imports }) =>
    imports.filter(({ external }) => external === true).map(({ path }) => path),
  );
  const packed = run('npm', 'pack', '--silent', '--ignore-scripts', '--pack-destination', work, staged);
  assert.equal(packed.status, 0, packed.output);
  const [archive] = readdirSync(work).filter((name) => name.endsWith('.tgz'));
  // Nothing is in the cache: a package that it asks for cannot be had.
  const installed = run('npm', 'install', '--silent', '--offline', '--no-audit', join(work, archive!));
  assert.equal(installed.status, 0, installed.output);
});
after(() => {
  run('node_modules/.bin/manta', 'down', '-y');
  rmSync(work, { recursive: true, force: true });
});

describe('the package as it is installed', () => {
  test('is one package: it asks for no other', () => {
    assert.deepEqual(
      readdirSync(join(user, 'node_modules')).filter((name) => !name.startsWith('.')),
      ['mantaray'],
    );
    const declared = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, unknown>;
    for (const list of ['dependencies', 'optionalDependencies', 'peerDependencies']) assert.ok(!(list in declared));
  });

  test("loads nothing but itself and Node's own modules", () => {
    const own = new Set([...builtinModules, ...builtinModules.map((name) => `node:${name}`), 'node:sqlite']);
    assert.ok(foreign.includes('node:http'));
    const others = new Set(foreign.filter((path) => !own.has(path)));
    assert.deepEqual([...others].sort(), optional);
  });

  test('shows help, starts a cluster, runs a job on it and ends it', () => {
    assert.match(manta('--help'), /^ {2}up\b/m);
    manta('up', '-y');
    assert.match(manta('job', 'submit', '--', 'echo', 'from the package'), /^from the package$/m);
    assert.match(manta('down', '-y'), /is down/);
  });
});
