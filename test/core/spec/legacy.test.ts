import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { convertCluster } from '../../../src/core/spec/legacy/convert.ts';
import { providers } from '../../../src/providers/table.ts';
import { aws, codesOf, open, specOf, typeOf } from './cluster-text.ts';

const legacy = aws(`min_workers: 1
max_workers: 16
initial_workers: 8
autoscaling_mode: default
target_utilization_fraction: 0.8
head_node: {InstanceType: m5.large, ImageId: ami-1}
worker_nodes: {InstanceType: p3.2xlarge, ImageId: ami-2, InstanceMarketOptions: {MarketType: spot}}
`);

describe('a file of an earlier Ray version', () => {
  test('means what it meant in its day', () => {
    const spec = specOf(legacy);
    const head = typeOf(spec, 'ray-legacy-head-node-type');
    const worker = typeOf(spec, 'ray-legacy-worker-node-type');
    assert.equal(spec.headType, head.name);
    assert.equal(head.maxWorkers, 0);
    assert.deepEqual([worker.minWorkers, worker.maxWorkers, worker.initialWorkers], [1, 16, 8]);
    assert.deepEqual(worker.offers, [{ zone: 'us-west-2a', market: 'spot' }]);
    assert.equal(spec.upscalingSpeed, 0.25);
  });

  test('gets a warning for each key that names the modern form', () => {
    const { problems } = open(legacy);
    assert.deepEqual([...new Set(problems.map((problem) => problem.severity))], ['warning']);
    const messages = problems.map((problem) => problem.message).join('\n');
    for (const words of ['upscaling_speed: 0.25', 'available_node_types', 'min_workers', 'initial_workers'])
      assert.ok(messages.includes(words), words);
  });

  test('aggressive mode starts all at once, and upscaling_speed decides where both stand', () => {
    assert.equal(
      specOf(legacy.replace('autoscaling_mode: default', 'autoscaling_mode: aggressive')).upscalingSpeed,
      99999,
    );
    assert.equal(specOf(`${legacy}upscaling_speed: 3\n`).upscalingSpeed, 3);
  });

  test('that asks for more workers than it allows gets what it allows', () => {
    const spec = specOf(aws('min_workers: 9\nhead_node: {ImageId: a}\nworker_nodes: {ImageId: a}'));
    assert.equal(typeOf(spec, 'ray-legacy-worker-node-type').minWorkers, 2);
  });

  test('with a list where a node belongs is refused', () => {
    assert.deepEqual(codesOf(aws('worker_nodes: [{ImageId: a}]')), ['3:1 LEGACY_KEY', '3:15 WRONG_TYPE']);
  });

  test('may leave a node out: the provider has one', () => {
    const spec = specOf(aws('head_node: {InstanceType: m5.large, ImageId: a}'));
    assert.deepEqual(
      typeOf(spec, 'ray-legacy-worker-node-type').offers.map((offer) => offer.market),
      ['spot'],
    );
  });

  test('with both forms has head_node under the head and worker_nodes under every type', () => {
    const spec = specOf(
      aws(`available_node_types:
  h: {resources: {CPU: 1}, node_config: {InstanceType: a}}
  w: {resources: {CPU: 1}, node_config: {InstanceType: b, ImageId: own}}
head_node_type: h
head_node: {ImageId: of-head}
worker_nodes: {ImageId: of-workers, KeyName: k}
`),
    );
    assert.deepEqual(spec.head.launchConfig, { ImageId: 'of-head', InstanceType: 'a' });
    assert.deepEqual(typeOf(spec, 'w').launchConfig, { ImageId: 'own', KeyName: 'k', InstanceType: 'b' });
  });

  test('of the first days of node types has its head from head_node', () => {
    const spec = specOf(
      aws(
        'available_node_types: {w: {resources: {CPU: 1}, node_config: {ImageId: a}}}\nhead_node: {InstanceType: x, ImageId: a}',
      ),
    );
    assert.equal(spec.headType, 'ray-legacy-head-node-type');
    assert.deepEqual(
      spec.nodeTypes.map((type) => type.name),
      ['ray-legacy-head-node-type', 'w'],
    );
  });

  test('of the first form of node types has a type for each instance type', () => {
    const spec = specOf(
      aws(`min_workers: 2
max_workers: 10
head_node: {InstanceType: m4.large, ImageId: a}
worker_nodes: {InstanceType: auto, ImageId: a}
available_instance_types:
  m4.4xlarge: {resources: {CPU: 16}, max_count: 10, default: true}
  p2.xlarge: {resources: {CPU: 4, GPU: 1}, max_count: 8}
`),
    );
    assert.deepEqual(typeOf(spec, 'm4.4xlarge').launchConfig, { InstanceType: 'm4.4xlarge', ImageId: 'a' });
    assert.deepEqual(
      spec.nodeTypes.map(({ minWorkers, maxWorkers }) => [minWorkers, maxWorkers]),
      [
        [0, 0],
        [2, 10],
        [0, 8],
      ],
    );
  });

  test('of that form takes the first type of the file for the default, whatever its name', () => {
    const text = aws(`min_workers: 2
worker_nodes: {ImageId: a}
available_instance_types:
  m4.large: {resources: {CPU: 2}}
  16: {resources: {CPU: 16}}
  4: {resources: {CPU: 4}}
`);
    const spec = specOf(text);
    assert.deepEqual(
      spec.nodeTypes.map(({ name, minWorkers }) => [name, minWorkers]),
      [
        ['ray-legacy-head-node-type', 0],
        ['m4.large', 2],
        ['16', 0],
        ['4', 0],
      ],
    );
    const { source } = open(text);
    assert.ok(source);
    const converted = convertCluster(source, {}, providers);
    assert.ok('text' in converted);
    assert.deepEqual(
      specOf(converted.text).nodeTypes.map(({ name }) => name),
      spec.nodeTypes.map(({ name }) => name),
    );
  });

  test('with a default worker type gives it the workers that min_workers asks for', () => {
    const spec = specOf(
      aws(`min_workers: 4
max_workers: 9
worker_default_node_type: b
head_node_type: a
available_node_types:
  a: {resources: {CPU: 1}, node_config: {ImageId: x}}
  b: {resources: {CPU: 1}, node_config: {ImageId: x}}
  c: {resources: {CPU: 1}, min_workers: 1, node_config: {ImageId: x}}
`),
    );
    assert.deepEqual(
      spec.nodeTypes.map((type) => type.minWorkers),
      [0, 3, 1],
    );
  });

  test('with other names for its commands runs them in their place', () => {
    const spec = specOf(
      aws(`node_creation_commands: [s]
head_node_creation_commands: [h]
start_ray_commands: [ray stop]
head_start_ray_commands: [ray start --head]
worker_start_ray_commands: [ray start]
`),
    );
    assert.deepEqual(spec.head.setup, ['s', 'h']);
    assert.deepEqual(spec.head.start, ['ray stop', 'ray start --head']);
  });

  test('on a local cluster keeps its hosts as they are', () => {
    const text =
      'cluster_name: l\nprovider: {type: local, head_ip: a, worker_ips: [b, c]}\nmin_workers: 0\ninitial_workers: 2\nhead_node: {}\nworker_nodes: {}\ntarget_utilization_fraction: 0.5\n';
    const spec = specOf(text);
    assert.deepEqual([spec.nodeTypes[0]?.minWorkers, spec.nodeTypes[0]?.maxWorkers, spec.upscalingSpeed], [0, 2, 1]);
    assert.deepEqual(
      codesOf(text).map((code) => code.split(' ')[1]),
      ['LEGACY_IGNORED', 'LEGACY_IGNORED', 'LEGACY_IGNORED', 'LEGACY_KEY'],
    );
  });
});
