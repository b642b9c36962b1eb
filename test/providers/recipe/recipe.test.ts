import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Ended, runNode } from '../../cli/run-manta.ts';
import { tiny } from './tiny/descriptor.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folders = ['bin', 'docs', 'scripts', 'src', 'test'] as const;

/** A copy of this checkout, to which the provider `tiny` is added. */
let tree = '';
let touched: readonly string[] = [];

before(async () => {
  tree = mkdtempSync(join(tmpdir(), 'manta-recipe-'));
  for (const part of [...folders, 'package.json']) cpSync(join(root, part), join(tree, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
  addProvider();
  const docs = await runNode([join(tree, 'scripts/docs.ts')]);
  assert.equal(docs.exit, 0, docs.stderr);
  const text = (folder: string, file: string): string => readFileSync(join(folder, file), 'utf8');
  const before = new Set(filesIn(root));
  touched = filesIn(tree).filter((file) => !before.has(file) || text(root, file) !== text(tree, file));
});
after(() => rmSync(tree, { recursive: true }));

const filesIn = (folder: string): readonly string[] =>
  globSync(`{${folders.join(',')}}/**`, { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length).replace(/^\//, ''));

/** What the recipe asks for. The sources of `tiny` stand beside this test, and their imports lead from there. */
function addProvider(): void {
  const add = (name: string, file: string, imports: Readonly<Record<string, string>>): void => {
    const source = readFileSync(new URL(`tiny/${name}`, import.meta.url), 'utf8');
    const text = Object.entries(imports).reduce((each, [from, to]) => each.replaceAll(`'${from}`, `'${to}`), source);
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    writeFileSync(join(tree, file), text);
  };
  const fromSources = { '../../../../src/providers/': '../', '../../../../src/': '../../' };
  add('descriptor.ts', 'src/providers/tiny/descriptor.ts', fromSources);
  add('provider.ts', 'src/providers/tiny/provider.ts', fromSources);
  add('contract.test.ts', 'test/providers/tiny/contract.test.ts', {
    '../../../contract/': '../../contract/',
    './': '../../../src/providers/tiny/',
  });
  appendFileSync(join(tree, 'src/providers/descriptors.ts'), "export { tiny } from './tiny/descriptor.ts';\n");
  const names = readFileSync(join(tree, 'test/docs/public-names.txt'), 'utf8');
  const fresh = (tiny.keys ?? []).map(({ path }) => `key ${path}\n`).filter((line) => !names.includes(line));
  appendFileSync(join(tree, 'test/docs/public-names.txt'), fresh.join(''));
}

const manta = (...words: readonly string[]): Promise<Ended> =>
  runNode([join(tree, 'bin/manta'), ...words], { MANTA_HOME: join(tree, 'state') });

function clusterFile(text: string): string {
  const file = join(tree, 'cluster.yaml');
  writeFileSync(file, text);
  return file;
}

const small = 'cluster_name: small\nprovider: {type: tiny, account_folder: /nowhere, availability_zone: "a, b"}\n';

describe('a provider that is added by the recipe of docs/architecture.md', () => {
  test('touches the files that the recipe names, and no other', () => {
    const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
    const recipe = /^- \*\*a provider\*\*[^]*?(?=^- \*\*)/m.exec(page)?.[0] ?? '';
    const named = [...recipe.matchAll(/^ {2}- `([^`]+)`/gm)].map(([, file = '']) => file.replace('<name>', 'tiny'));
    assert.deepEqual(touched.toSorted(), named.toSorted());
  });

  test('adds a single line to a source file that was there', () => {
    const changed = touched.filter((file) => file.startsWith('src/') && !file.startsWith('src/providers/tiny/'));
    assert.deepEqual(changed, ['src/providers/descriptors.ts']);
    const lines = (folder: string): number => readFileSync(join(folder, changed[0] ?? ''), 'utf8').split('\n').length;
    assert.equal(lines(tree) - lines(root), 1);
  });

  test('has its files checked: its keys, its defaults, what it needs', async () => {
    const fine = await manta('config', 'check', clusterFile(small));
    assert.deepEqual([fine.exit, fine.stderr], [0, '']);
    assert.match(fine.stdout, /fine \(cluster 'small' on tiny, 2 node types, up to 2 workers\)/);
    const doubtful = await manta('config', 'check', clusterFile('provider: {type: tiny, account_folder: [1]}\n'));
    assert.equal(doubtful.exit, 1);
    assert.match(doubtful.stdout, /'provider\.account_folder' must be a string/);
    const poor = await manta('config', 'check', clusterFile('provider: {type: tiny}\n'));
    assert.match(poor.stdout, /provider\.account_folder is not set, but tiny needs it to launch instances/);
  });

  test('has its zones and markets planned with', async () => {
    const types = 'available_node_types: {head: {resources: {CPU: 1}, node_config: {spot: true}}}\n';
    const { stdout } = await manta('config', 'show', '--json', clusterFile(small + types));
    const { config } = JSON.parse(stdout) as { config: { nodeTypes: readonly { offers: unknown }[] } };
    assert.deepEqual(config.nodeTypes[0]?.offers, [
      { zone: 'a', market: 'spot' },
      { zone: 'b', market: 'spot' },
    ]);
  });

  test('has its keys explained, and in the schema', async () => {
    const explained = await manta('config', 'explain', 'provider.account_folder');
    assert.match(explained.stdout, /Folder that stands for the account\.\n[^]*providers: +tiny\n/);
    assert.match((await manta('config', 'explain', 'node_config.size')).stdout, /Size of the instances\./);
    assert.match((await manta('config', 'explain', 'availability_zone')).stdout, /providers: .*\btiny\b/);
    assert.match((await manta('config', 'schema')).stdout, /"account_folder": \{/);
  });

  test('has its head and its workers planned by up', async () => {
    const { exit, stdout, stderr } = await manta('up', clusterFile(small), '--plan');
    assert.equal(exit, 0, stderr);
    assert.match(stdout, /New cluster 'small' on tiny: an instance of head for the head, and 2 workers to start with/);
  });

  test('is offered where another provider cannot be run', async () => {
    const other = clusterFile('cluster_name: other\nprovider: {type: azure, location: westus2}\n');
    const { exit, stderr } = await manta('up', other, '--plan');
    assert.equal(exit, 2);
    assert.match(stderr, /only runs 'process', 'local', 'aws', 'gcp', and 'tiny'/);
  });

  test('holds the contract of providers, and its reference pages and public names are complete', async () => {
    const tests = ['providers/tiny/contract', 'docs/reference', 'docs/public-names', 'core/spec/keys'];
    const files = tests.map((name) => join(tree, `test/${name}.test.ts`));
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const run = promisify(execFile)(process.execPath, ['--test', ...files], { env });
    const { stdout } = await run.catch((error: { stdout: string }) => assert.fail(error.stdout));
    assert.match(stdout, /provider contract: tiny/);
  });
});
