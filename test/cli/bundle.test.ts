import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Metafile } from 'esbuild';
import { buildBundle, shellFiles } from '../../scripts/build.ts';
import { shellText } from '../../src/base/shell/shell-file.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
let shipped = '';
let metafile: Metafile = { inputs: {}, outputs: {} };

before(async () => {
  shipped = mkdtempSync(join(tmpdir(), 'manta-bundle-'));
  metafile = await buildBundle(join(shipped, 'dist'));
  for (const name of ['bin', 'package.json']) cpSync(join(root, name), join(shipped, name), { recursive: true });
});
after(() => rmSync(shipped, { recursive: true }));

const run = (words: readonly string[], more: NodeJS.ProcessEnv = {}) =>
  spawnSync(process.execPath, [join(shipped, 'bin', 'manta'), ...words], {
    cwd: shipped,
    env: { ...process.env, ...more },
    encoding: 'utf8',
    // The loader tells a lot.
    maxBuffer: 2 ** 26,
  });

/** Source files of the modules that a run really loaded. */
function loadedBy(
  words: readonly string[],
  { exit = 0, env = {} }: { exit?: number; env?: NodeJS.ProcessEnv } = {},
): string[] {
  const { status, stderr } = run(words, { NODE_DEBUG: 'esm', ...env });
  assert.equal(status, exit, stderr);
  const chunks = new Set([...stderr.matchAll(/dist\/[\w./-]+\.js/g)].map(([path]) => path));
  assert.ok(chunks.has('dist/manta.js'), 'the loader did not tell what it loaded');
  return Object.entries(metafile.outputs)
    .filter(([path]) => [...chunks].some((chunk) => path.endsWith(chunk)))
    .flatMap(([, output]) => Object.keys(output.inputs));
}

describe('the shipped bundle', () => {
  test('runs without sources and without node_modules', () => {
    const { status, stdout, stderr } = run(['version']);
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, /^manta \d/);
  });

  test('reads a cluster file and simulates, with all that this needs', () => {
    assert.equal(run(['simulate', '--demo', '--json']).status, 0);
    assert.equal(run(['config', 'schema']).status, 0);
    const users = Object.entries(metafile.outputs).filter(
      ([, { inputs }]) => 'src/simulation/ray/ray-process.ts' in inputs,
    );
    assert.equal(users.length, 1);
    assert.ok(existsSync(join(shipped, 'dist', 'chunks', 'ray_planner.py')));
    assert.match(users[0]![0], /dist\/chunks\/[^/]+$/);
  });

  test('help loads declarations only: no YAML, no schema, no planner, no provider, no package', () => {
    for (const words of [['--help'], ['help'], ['config', '--help'], ['__complete', 'bash', '--', 'sim']]) {
      const foreign = loadedBy(words).filter((path) => !/^src\/(cli|base)\//.test(path));
      const declarations = ['src/core/ray-version.ts', 'src/core/spec/keys/nearest.ts'];
      assert.deepEqual(foreign.sort(), declarations, words.join(' '));
    }
  });

  test('carries the programs for hosts as text, and reads no file for them', () => {
    const texts = Object.keys(metafile.outputs).map((path) => readFileSync(resolve(root, path), 'utf8'));
    // A string of the bundle writes some characters in its own way.
    const plain = (line: string): string =>
      line.split(/[\\'"`$\t]|[^ -~]/).sort((a, b) => b.length - a.length)[0] ?? '';
    for (const file of shellFiles()) {
      const lines = shellText(readFileSync(join(root, file), 'utf8'))
        .split('\n')
        .map(plain);
      assert.ok(lines.join('').length > 20, file);
      assert.ok(
        texts.some((text) => lines.every((line) => text.includes(line))),
        `${file} is in no chunk as a whole`,
      );
    }
    assert.ok(texts.every((text) => !text.includes('readShell(')));
  });

  test('a command that names no cluster file loads nothing that understands one', () => {
    const nowhere = { exit: 6, env: { RAY_API_SERVER_ADDRESS: 'http://127.0.0.1:1', MANTA_HOME: shipped } };
    for (const words of [['job', 'submit', '--', 'true'], ['job', 'list'], ['status']]) {
      const loaded = loadedBy(words, nowhere);
      assert.ok(loaded.includes('src/cli/shared/find-cluster.ts'), words.join(' '));
      const foreign = loaded.filter((path) => /^src\/core\/spec\/(yaml|ray|legacy|check|read|build)/.test(path));
      assert.deepEqual(foreign, [], words.join(' '));
    }
  });

  test('a command on a cluster file loads what providers are described by, and no code of a provider', () => {
    const file = join(shipped, 'cluster.yaml');
    writeFileSync(file, 'cluster_name: c\nprovider: {type: lab_cloud, endpoint: "http://127.0.0.1:1"}\n');
    const loaded = loadedBy(['config', 'check', file], { exit: 1 });
    assert.ok(loaded.includes('src/providers/lab-cloud/descriptor.ts'));
    const code = (paths: readonly string[]): readonly string[] =>
      paths.filter((path) => /^src\/providers\/.*\/(provider|client|claims|exchange)\.ts$|@aws-sdk/.test(path));
    assert.deepEqual(code(loaded), []);
    writeFileSync(file, 'cluster_name: c\nprovider: {type: aws, region: us-west-2, cache_stopped_nodes: false}\n');
    const ofAws = loadedBy(['config', 'check', file], { exit: 0 });
    assert.ok(ofAws.includes('src/providers/aws/descriptor.ts'));
    assert.deepEqual(code(ofAws), []);
    assert.deepEqual(code(loadedBy(['--version'])), []);
  });

  test('AWS adds less than a megabyte to what is downloaded', () => {
    const ofAws = Object.entries(metafile.outputs).filter(([, { inputs }]) =>
      Object.keys(inputs).some((path) => /@aws-sdk|@smithy|^src\/providers\/aws\/provider/.test(path)),
    );
    const chunks = ofAws.map(([path]) => readFileSync(join(shipped, path.slice(path.lastIndexOf('dist/')))));
    assert.ok(chunks.length > 0);
    const packed = chunks.reduce((sum, chunk) => sum + gzipSync(chunk).length, 0);
    assert.ok(packed < 1e6, `${packed} bytes`);
  });

  test('commands on Kubernetes load its client, and none of the classes made from its API; no other command does', () => {
    const env = { KUBECONFIG: join(shipped, 'none') };
    const ofKube = (paths: readonly string[]): readonly string[] =>
      paths.filter((path) => /^src\/(?:base|core|)\/?kube\/|@kubernetes/.test(path));
    const loaded = ofKube(loadedBy(['kube', 'check'], { exit: 3, env }));
    assert.ok(loaded.includes('node_modules/@kubernetes/client-node/dist/config.js'));
    assert.ok(loaded.includes('src/base/kube/client.ts'));
    assert.deepEqual(ofKube(loadedBy(['kube', '--help'])), []);
    assert.deepEqual(ofKube(loadedBy(['config', 'schema'])), []);
    const named = ofKube(loadedBy(['status', 'kube:a'], { exit: 3, env }));
    assert.ok(named.includes('src/kube/target.ts') && named.includes('src/base/kube/client.ts'));
    assert.deepEqual(ofKube(loadedBy(['list'])), []);
    assert.deepEqual(ofKube(loadedBy(['status'], { exit: 4 })), []);
    const inputs = Object.keys(metafile.inputs);
    assert.deepEqual(
      inputs.filter((path) => /client-node\/dist\/gen\/|node_modules\/undici\//.test(path)),
      [],
    );
  });

  test('carries the licence of every package in it', () => {
    const packages = Object.keys(metafile.inputs).flatMap(
      (path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
    );
    const text = readFileSync(join(shipped, 'dist', 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    for (const name of new Set(packages)) assert.match(text, new RegExp(`^${name} \\d`, 'm'));
  });
});
