import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { MantaError } from '../../src/base/errors.ts';
import { silent } from '../../src/base/events.ts';
import type { Io } from '../../src/cli/command.ts';
import { configCommands } from '../../src/cli/commands/config/declaration.ts';
import { runManta } from './run-manta.ts';

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'manta-config-'));
});
after(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return name;
}

interface Call {
  readonly options?: Record<string, boolean>;
  readonly json?: boolean;
  readonly stdin?: string;
  readonly env?: Record<string, string>;
}

async function config(
  command: string,
  args: readonly string[],
  { options = {}, json = false, stdin = '', env = {} }: Call = {},
): Promise<{ exit: number; text: string }> {
  let text = '';
  const io: Io = {
    out: (part) => {
      text += part;
    },
    events: silent,
    stdin: Readable.from([Buffer.from(stdin)]),
    env,
    cwd: folder,
    terminal: false,
    columns: 100,
    color: false,
    json,
    signal: new AbortController().signal,
  };
  const declared = configCommands.find((each) => each.path[1] === command);
  assert.ok(declared, command);
  const loaded = await declared.load();
  return { exit: await loaded.run({ args, options, rest: [] }, io), text };
}

const lines = (text: string): Record<string, unknown>[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const good = 'cluster_name: good\nprovider: {type: aws, region: us-west-2, cache_stopped_nodes: false}\n';
const bad = 'cluster_name: bad\nmax_wokers: 3\nprovider: {type: aws, region: us-west-2}\n';
const old =
  '# mine\ncluster_name: old\nmin_workers: 1\nprovider: {type: aws, region: us-west-2}\nhead_node: {ImageId: a}\nworker_nodes: {ImageId: b}\n';

describe('config check', () => {
  test('shows position, code, the line with a caret, the hint and a summary', async () => {
    const { exit, text } = await config('check', [file('bad.yaml', bad)]);
    assert.equal(exit, 1);
    assert.equal(
      text,
      `bad.yaml:2:1: error MANTA_SPEC_UNKNOWN_KEY unknown key 'max_wokers'
    2 | max_wokers: 3
      | ^
  hint: did you mean 'max_workers'?
bad.yaml: 1 error
`,
    );
  });

  test('shows a short part of a line without end, wherever the problem is', async () => {
    for (const size of [80_000, 900_000, 10_500_000]) {
      const { exit, text } = await config('check', [file('long.yaml', `a: ${'x'.repeat(size)}\n`)]);
      assert.equal(exit, 1);
      assert.ok(text.length < 2_000, text.slice(0, 300));
    }
    const { text } = await config('check', [file('far.yaml', `{a: ${'x'.repeat(50_000)}, provider: {type: awss}}\n`)]);
    assert.match(text, /: error MANTA_SPEC_\w+ .*awss/);
    assert.match(text, /\| ….*awss/);
  });

  test('ends with 0 for warnings, 1 for errors, 2 for a file that is not there', async () => {
    assert.equal((await config('check', [file('good.yaml', good)])).exit, 0);
    assert.equal((await config('check', [file('old.yaml', old)])).exit, 0);
    assert.equal((await config('check', ['old.yaml'], { options: { strict: true } })).exit, 1);
    assert.equal((await config('check', ['bad.yaml', 'good.yaml'])).exit, 1);
    assert.equal((await config('check', ['nowhere.yaml', 'bad.yaml'])).exit, 2);
    assert.equal((await config('check', ['.'])).exit, 2);
  });

  test('shows the first of very many problems, errors before warnings, and counts the rest', async () => {
    const unknown = Array.from({ length: 12_000 }, (_, index) => `key_${index}: 1\n`).join('');
    file('many.yaml', `${good}setup_commands:\n${unknown}`);
    const { exit, text } = await config('check', ['many.yaml']);
    assert.equal(exit, 1);
    const shown = text.split('\n').filter((line) => line.startsWith('many.yaml:'));
    assert.equal(shown.length, 201);
    assert.ok(shown.slice(0, 200).every((line) => line.includes(': error ')));
    assert.match(text, /\nand 11,801 more\nmany\.yaml: 12000 errors, 1 warning\n$/);
    const [data] = lines((await config('check', ['many.yaml'], { json: true })).text) as [
      { problems: unknown[]; more: number },
    ];
    assert.deepEqual([data.problems.length, data.more], [10_000, 2_001]);
  });

  test('advises on a few of very many unknown names, and lists a few of very many known ones', async () => {
    const types = (letter: string): string =>
      Array.from({ length: 3_000 }, (_, index) => `    ${letter}${index}: {resources: {}, node_config: {}}\n`).join('');
    const own = types('a').replaceAll('resources: {}, node_config: {}', '');
    file(
      'names.yaml',
      `cluster_name: x\nprovider:\n  type: aws\n  region: us-west-2\n  manta:\n   node_types:\n${own}head_node_type: zzz\navailable_node_types:\n${types('b')}`,
    );
    const [data] = lines((await config('check', ['names.yaml'], { json: true })).text);
    const problems = data?.['problems'] as { code: string; hint: string }[];
    assert.equal(problems.filter(({ code }) => code === 'MANTA_SPEC_UNKNOWN_TYPE').length, 3_000);
    assert.ok(problems.every(({ hint }) => hint.length < 400));
  });

  test('with --json prints one object a line for each file', async () => {
    const { text } = await config('check', ['good.yaml', 'bad.yaml'], { json: true });
    assert.deepEqual(lines(text), [
      { file: 'good.yaml', problems: [] },
      {
        file: 'bad.yaml',
        problems: [
          {
            code: 'MANTA_SPEC_UNKNOWN_KEY',
            severity: 'error',
            line: 2,
            column: 1,
            message: "unknown key 'max_wokers'",
            hint: "did you mean 'max_workers'?",
          },
        ],
      },
    ]);
  });

  test('reads standard input for -', async () => {
    assert.match((await config('check', ['-'], { stdin: bad })).text, /^<stdin>:2:1: error/);
  });

  test('takes ${env:NAME} from the shell first, then from the .env beside the file', async () => {
    file('.env', 'WORKERS=3\nNAME=from-file\n');
    file('env.yaml', `${good.replace('good', '${env:NAME}')}max_workers: \${env:WORKERS}\n`);
    const { text } = await config('show', ['env.yaml'], { json: true, env: { NAME: 'from-shell' } });
    const [shown] = lines(text) as [{ config: { name: string; maxWorkers: number } }];
    assert.deepEqual([shown.config.name, shown.config.maxWorkers], ['from-shell', 3]);
  });

  test('hides what looks like a secret', async () => {
    file('secret.yaml', `${good}token: abcdefghijkl\n`);
    assert.doesNotMatch((await config('check', ['secret.yaml'])).text, /abcdefghijkl/);
  });
});

describe('config show', () => {
  test('prints the resolved spec, for people and as JSON', async () => {
    assert.match((await config('show', ['good.yaml'])).text, /^name: good\nprovider:\n {2}type: aws\n/);
    const [shown] = lines((await config('show', ['good.yaml'], { json: true })).text);
    assert.equal(shown?.file, 'good.yaml');
    assert.equal((shown?.config as { headType?: string } | undefined)?.headType, 'ray.head.default');
  });

  test('prints problems for a file that cannot be understood', async () => {
    const { exit, text } = await config('show', ['bad.yaml'], { json: true });
    assert.equal(exit, 1);
    assert.deepEqual(Object.keys(lines(text)[0] ?? {}), ['file', 'problems']);
  });

  test('hides the values of keys that hold secrets', async () => {
    file(
      'keys.yaml',
      'cluster_name: k\nprovider: {type: aliyun, region: r, access_key: id123, access_key_secret: hush123}\n',
    );
    assert.doesNotMatch((await config('show', ['keys.yaml'])).text, /hush123|id123/);
  });

  test('shows a file with placeholders, and says that it is not usable yet', async () => {
    file('left.yaml', good.replace('good', '<name>'));
    const { exit, text } = await config('show', ['left.yaml']);
    assert.equal(exit, 0);
    assert.match(text, /^# not usable yet, 1 error/);
  });

  test('with --ray prints what Ray makes of the file', async () => {
    const shown = JSON.parse((await config('show', ['good.yaml'], { options: { ray: true } })).text) as Record<
      string,
      unknown
    >;
    assert.deepEqual(shown.provider, { type: 'aws', region: 'us-west-2', cache_stopped_nodes: false });
    assert.equal(shown.head_node_type, 'ray.head.default');
    const several = await config('show', ['good.yaml', 'old.yaml'], { options: { ray: true } });
    assert.deepEqual(
      lines(several.text).map((line) => line.file),
      ['good.yaml', 'old.yaml'],
    );
  });
});

describe('config convert', () => {
  test('prints the modern text, or puts it in place of the file', async () => {
    const { exit, text } = await config('convert', ['old.yaml']);
    assert.equal(exit, 0);
    assert.match(text, /^# mine\n[^]*available_node_types:/);
    assert.equal((await config('convert', ['old.yaml'], { options: { write: true } })).exit, 0);
    assert.equal(readFileSync(join(folder, 'old.yaml'), 'utf8'), text);
    assert.match((await config('convert', ['old.yaml'], { options: { write: true } })).text, /nothing to convert/);
  });

  test('with --json says whether anything changed', async () => {
    assert.deepEqual(lines((await config('convert', ['good.yaml'], { json: true })).text), [
      { file: 'good.yaml', text: good, changed: false },
    ]);
  });

  test('refuses what it cannot understand', async () => {
    assert.equal((await config('convert', ['bad.yaml'])).exit, 1);
    assert.equal((await config('convert', ['nowhere.yaml'])).exit, 2);
  });
});

describe('config schema and explain', () => {
  test('print the schema, a key, all keys', async () => {
    assert.equal((JSON.parse((await config('schema', [])).text) as { title: string }).title, 'cluster.yaml');
    assert.match((await config('explain', ['max_workers'])).text, /^max_workers\n/m);
    assert.match((await config('explain', [])).text, /^cluster_name +Name/m);
    assert.equal(lines((await config('explain', ['docker.image'], { json: true })).text)[0]?.path, 'docker.image');
  });

  test('an unknown key is an error that names the nearest', async () => {
    await assert.rejects(
      config('explain', ['max_wrkers']),
      (error) => error instanceof MantaError && error.exit === 2 && /max_workers/.test(error.hint ?? ''),
    );
  });
});

test('the program itself answers with the same exit codes', async () => {
  const path = join(folder, 'bad.yaml');
  const ended = await runManta(['config', 'check', path]);
  assert.equal(ended.exit, 1);
  assert.match(ended.stdout, /MANTA_SPEC_UNKNOWN_KEY/);
  assert.equal((await runManta(['config', 'check'])).exit, 2);
});
