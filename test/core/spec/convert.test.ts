import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { convertCluster } from '../../../src/core/spec/legacy/convert.ts';
import { prepareAsRay } from '../../../src/core/spec/ray/prepare.ts';
import { providers } from '../../../src/providers/table.ts';
import { aws, corpus, noCorpus, open } from './cluster-text.ts';
import { validateAsRay } from './ray/validate.ts';

function convert(text: string): string {
  const { source } = open(text);
  assert.ok(source);
  const result = convertCluster(source, {}, providers);
  assert.ok('text' in result, JSON.stringify(result));
  return result.text;
}

/** What Ray of today has against a text. */
function refusals(text: string): string[] {
  const { source } = open(text);
  assert.ok(source);
  const prepared = prepareAsRay(source, providers);
  const problems = 'problems' in prepared ? prepared.problems : validateAsRay(prepared.config, source);
  return problems.map((problem) => problem.message);
}

const comments = (text: string): string[] =>
  text.split(/\r?\n/).flatMap((line) => /(?:^|\s)(#.*)$/.exec(line)?.[1]?.trim() ?? []);

describe('a converted file', () => {
  test('has the keys of today, and every comment', () => {
    const text = `# a cluster
cluster_name: old
min_workers: 1 # at least
max_workers: 4
initial_workers: 3
# how much is in use
target_utilization_fraction: 0.8 # of it
provider:
    type: aws
    region: us-west-2 # Oregon
# The head.
head_node:
    InstanceType: m5.large # small
    ImageId: ami-1
# The workers.
worker_nodes:
    InstanceType: m5.large
    # cheap
    InstanceMarketOptions:
        MarketType: spot
setup_commands: []
`;
    assert.equal(
      convert(text),
      `# a cluster
cluster_name: old
# at least
max_workers: 4
# how much is in use
upscaling_speed: 0.25 # of it
provider:
    type: aws
    region: us-west-2 # Oregon
    manta: {"node_types":{"ray-legacy-worker-node-type":{"initial_workers":3}}}
# The head.
available_node_types:
    ray-legacy-head-node-type:
        resources: {}
        min_workers: 0
        max_workers: 0
        node_config:
            InstanceType: m5.large # small
            ImageId: ami-1
# The workers.
    ray-legacy-worker-node-type:
        resources: {}
        min_workers: 1
        node_config:
            InstanceType: m5.large
            # cheap
            InstanceMarketOptions:
                MarketType: spot
head_node_type: ray-legacy-head-node-type
setup_commands: []
`,
    );
    assert.deepEqual(refusals(convert(text)), []);
  });

  test('that is modern stays as it is, byte for byte', () => {
    const text = aws('# nothing to do\r\nmax_workers:   3\r\n');
    assert.equal(convert(text), text);
  });

  test('keeps its line ends', () => {
    const text =
      'cluster_name: x\r\nprovider:\r\n  type: aws\r\n  region: r\r\nhead_node:\r\n  ImageId: a\r\nworker_nodes:\r\n  ImageId: b\r\n';
    assert.doesNotMatch(convert(text), /[^\r]\n/);
  });

  test('whose nodes stand apart, in flow form or the other way round is no matter', () => {
    for (const nodes of [
      'worker_nodes: {ImageId: b}\nauth: {ssh_user: me}\nhead_node: {ImageId: a}\n',
      'head_node: {ImageId: a}\nauth: {ssh_user: me}\nworker_nodes:\n  ImageId: b\n',
      'worker_nodes:\n  ImageId: b\nhead_node:\n  ImageId: a',
      'head_node: {}\nworker_nodes: {}\n',
      'head_node: &h\n  ImageId: a\nworker_nodes:\n  <<: *h\n  InstanceType: x\n',
    ]) {
      assert.deepEqual(refusals(convert(aws(nodes))), [], nodes);
    }
  });

  test('of both forms has their contents in its node types', () => {
    const text = aws(`available_node_types:
    h:
        node_config:
            InstanceType: a
    w:
        resources: {CPU: 1}
        node_config: {InstanceType: b}
head_node_type: h
head_node: {ImageId: x}
worker_nodes: {ImageId: x}
`);
    assert.deepEqual(refusals(convert(text)), []);
    assert.deepEqual(
      open(convert(text)).spec?.nodeTypes.map((type) => type.launchConfig.ImageId),
      ['x', 'x'],
    );
  });

  test('that cannot be edited is refused, not broken', () => {
    const { source } = open(
      '{cluster_name: x, provider: {type: aws, region: r}, min_workers: 1, head_node: {ImageId: a}}',
    );
    assert.ok(source);
    const result = convertCluster(source, {}, providers);
    assert.deepEqual('problems' in result && result.problems.map((problem) => problem.code), [
      'MANTA_SPEC_NOT_CONVERTIBLE',
    ]);
  });
});

test('every real legacy file converts to one that Ray takes, means the same and has its comments', (t) => {
  const files = corpus();
  if (files === undefined) {
    t.skip(noCorpus);
    return;
  }
  let converted = 0;
  for (const { name, bytes } of files) {
    const before = open(bytes.toString());
    if (before.source === undefined || before.spec === undefined) continue;
    const result = convertCluster(before.source, {}, providers);
    assert.ok('text' in result, `${name}: ${JSON.stringify(result)}`);
    const after = open(result.text);
    assert.deepEqual(after.spec, before.spec, name);
    assert.deepEqual(
      after.problems.filter((problem) => problem.code.includes('_LEGACY_')),
      [],
      name,
    );
    const kept = comments(result.text);
    for (const comment of comments(bytes.toString())) assert.ok(kept.includes(comment), `${name} loses ${comment}`);
    if (!result.changed) continue;
    converted += 1;
    const lacking = refusals(result.text).filter((message) => !message.includes('cluster_synced_files'));
    assert.deepEqual(lacking, [], name);
  }
  assert.ok(converted > 200, `${converted} files were converted`);
});
