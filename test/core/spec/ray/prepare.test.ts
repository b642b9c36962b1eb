import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PlainMap } from '../../../../src/core/spec/cluster.ts';
import type { Problem } from '../../../../src/core/spec/problem.ts';
import { pythonJson } from '../../../../src/core/spec/ray/json.ts';
import { prepareAsRay } from '../../../../src/core/spec/ray/prepare.ts';
import type { Source } from '../../../../src/core/spec/source.ts';
import { readYaml } from '../../../../src/core/spec/yaml/read.ts';
import { providers } from '../../../../src/providers/table.ts';
import { validateAsRay } from './validate.ts';

function sourceOf(text: string): Source {
  const read = readYaml('cluster.yaml', text);
  assert.ok('source' in read);
  return read.source;
}

function prepare(text: string): PlainMap {
  const result = prepareAsRay(sourceOf(text), providers);
  assert.ok('config' in result, JSON.stringify(result));
  return result.config;
}

const typesOf = (config: PlainMap): Record<string, PlainMap> => config.available_node_types as Record<string, PlainMap>;

/** What Ray says against a file, wherever it says it. */
function problemsOf(text: string): readonly Problem[] {
  const source = sourceOf(text);
  const prepared = prepareAsRay(source, providers);
  return 'problems' in prepared ? prepared.problems : validateAsRay(prepared.config, source);
}

const shown = (problems: readonly Problem[]): string[] =>
  problems.map(({ code, at }) => `${code.slice('MANTA_SPEC_RAY_'.length)} ${at.line}:${at.column}`);

const aws = 'cluster_name: c\nprovider: {type: aws, region: r}\n';

describe('preparing', () => {
  test('a minimal file gets the defaults of its provider, none of which it can change in part', () => {
    const config = prepare(aws);
    assert.equal(config.max_workers, 2);
    assert.deepEqual(config.provider, { type: 'aws', region: 'r' });
    assert.equal(typesOf(config)['ray.worker.default']?.max_workers, 2);
    assert.equal(typesOf(config)['ray.head.default']?.max_workers, 0);
  });

  test('every provider of Ray has its defaults', () => {
    for (const type of [
      'aws',
      'gcp',
      'azure',
      'aliyun',
      'vsphere',
      'readonly',
      'spark',
      'fake_multinode',
      'fake_multinode_docker',
    ]) {
      assert.ok(typesOf(prepare(`provider: {type: ${type}}`)), type);
    }
  });

  test('set-up commands come before those of head and workers', () => {
    const config = prepare(`${aws}setup_commands: [a]\nhead_setup_commands: [b]\nworker_setup_commands: [c]\n`);
    assert.deepEqual(
      [config.head_setup_commands, config.worker_setup_commands],
      [
        ['a', 'b'],
        ['a', 'c'],
      ],
    );
  });

  test('legacy nodes become node types, their resources apart', () => {
    const config = prepare(
      `${aws}min_workers: 1\nmax_workers: 3\nhead_node: {}\nworker_nodes: {InstanceType: m, resources: {CPU: 4}}\n`,
    );
    assert.deepEqual(typesOf(config)['ray-legacy-worker-node-type'], {
      node_config: { InstanceType: 'm' },
      resources: { CPU: 4 },
      min_workers: 1,
      max_workers: 3,
    });
    assert.equal('min_workers' in config, false);
    assert.equal('head_node' in config, false);
  });

  test('hosts on premise are all wanted, and never more than there are', () => {
    const hosts = 'cluster_name: c\nprovider: {type: local, head_ip: h, worker_ips: [a, b]}\n';
    assert.deepEqual(typesOf(prepare(hosts))['local.cluster.node'], {
      node_config: {},
      resources: {},
      min_workers: 2,
      max_workers: 2,
    });
    const limited = prepare(`${hosts}min_workers: 5\nmax_workers: 9\n`);
    assert.deepEqual([limited.max_workers, typesOf(limited)['local.cluster.node']?.min_workers], [2, 2]);
  });

  test('node types that share an anchor share what is filled in', () => {
    const config = prepare(
      `${aws}head_node_type: h\navailable_node_types: {h: &t {resources: {}, node_config: {}}, w: *t}\n`,
    );
    assert.equal(typesOf(config).w?.max_workers, 0);
  });

  test('a file for KubeRay stays as it is', () =>
    assert.deepEqual(prepare('provider: {type: kuberay}'), { provider: { type: 'kuberay' } }));

  test('the file itself is never changed', () => {
    const source = sourceOf(`${aws}head_node: {resources: {CPU: 1}}\nworker_nodes: {}\n`);
    prepareAsRay(source, providers);
    assert.deepEqual((source.value as PlainMap).head_node, { resources: { CPU: 1 } });
  });
});

describe('refusing, with the place in the file', () => {
  const cases: [name: string, text: string, problems: string[]][] = [
    ['a file that is no mapping', '- a\n', ['SHAPE 1:1']],
    ['no provider', 'cluster_name: c\n', ['PROVIDER 1:1']],
    ['an unknown provider', 'provider: {type: yarn}\n', ['PROVIDER 1:18']],
    ['a provider of nothing', 'provider:\n', ['SHAPE 1:10']],
    ['half a legacy file', `${aws}head_node: {}\n`, ['LEGACY 3:12']],
    ['legacy keys', `${aws}head_node: {a: 1}\nworker_nodes: {a: 1}\n`, ['KEY 3:1', 'KEY 4:1']],
    ['an image without a container name', `${aws}docker:\n  image: i\n`, ['CONTAINER 4:3']],
    ['hosts that are missing', 'provider: {type: local}\n', ['ON_PREMISE 1:11']],
    ['text for a number', `${aws}max_workers: many\n`, ['TYPE 3:14']],
    ['a number below zero', `${aws}idle_timeout_minutes: -1\n`, ['RANGE 3:23']],
    [
      'a fraction of a CPU',
      `${aws}head_node_type: h\navailable_node_types:\n  h: {resources: {CPU: 0.5}, node_config: {}}\n`,
      ['TYPE 5:24'],
    ],
    ['a command that reads as a mapping', `${aws}setup_commands:\n  - echo a: b\n`, ['TYPE 4:5']],
    [
      'a node type without its parts',
      `${aws}head_node_type: h\navailable_node_types:\n  h: {}\n`,
      ['MISSING 5:3', 'MISSING 5:3'],
    ],
    ['an unknown head type', `${aws}head_node_type: h\n`, ['HEAD 3:17']],
    [
      'more at least than at most',
      `${aws}max_workers: 1\nhead_node_type: h\navailable_node_types:\n  h: {resources: {}, node_config: {}, min_workers: 2}\n`,
      ['LIMITS 3:14'],
    ],
    [
      'a node type named by a number',
      `${aws}head_node_type: h\navailable_node_types:\n  h: {resources: {}, node_config: {}}\n  8: {resources: {}, node_config: {}}\n`,
      ['TYPE 6:3'],
    ],
    ['a proxy by node id without its command', `${aws}auth: {ssh_proxy_use_node_id: true}\n`, ['MISSING 3:1']],
  ];
  for (const [name, text, expected] of cases) test(name, () => assert.deepEqual(shown(problemsOf(text)), expected));

  test('nothing is said against a file that Ray takes', () => assert.deepEqual(problemsOf(aws), []));
});

describe('the JSON text that Python makes', () => {
  test('tells floats from integers, and escapes what is not ASCII', () => {
    const source = sourceOf('b: 1.0\na: [1, 2.50, 1.0e+16, 0.00001, -0.0, é, 😀, "\\x7f"]\n');
    assert.equal(
      pythonJson(source.value, { sortKeys: true }),
      '{"a": [1, 2.5, 1e+16, 1e-05, -0.0, "\\u00e9", "\\ud83d\\ude00", "\\u007f"], "b": 1.0}',
    );
  });

  test('keeps both through the preparation', () => {
    const config = prepare(`${aws}upscaling_speed: 2.0\nidle_timeout_minutes: 5\n`);
    const text = pythonJson(config);
    assert.match(text, /"upscaling_speed": 2\.0/);
    assert.match(text, /"idle_timeout_minutes": 5,/);
    assert.match(pythonJson(prepare(aws)), /"upscaling_speed": 1\.0/);
  });
});
