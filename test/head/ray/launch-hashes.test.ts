import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withLaunchHashes } from '../../../src/head/ray/machines/launch-hashes.ts';
import { loadSpec } from '../../../src/state/load-spec.ts';

const hashOf = (more: string, mounted: readonly string[]): string | undefined => {
  const text = `cluster_name: team\nprovider: {type: local, head_ip: 10.0.0.1, worker_ips: [10.0.0.2]}\n${more}`;
  const spec = loadSpec({ name: 'team', config: { path: 'cluster.yaml', text, env: {} } });
  const mounts = mounted.map((remote) => ({ remote, local: '/x', directory: true }));
  return withLaunchHashes(spec, { mounts }).nodeTypes[0]?.launchHash;
};

test('workers of a cloud are outdated by another node_config, and own hosts by nothing of the kind', () => {
  const inCloud = (config: string): string | undefined => {
    const text = `cluster_name: sky\nprovider: {type: lab_cloud, endpoint: "http://127.0.0.1:1"}\nhead_node_type: head\navailable_node_types: {head: {node_config: ${config}}}\n`;
    const spec = loadSpec({ name: 'sky', config: { path: 'cluster.yaml', text, env: {} } });
    return withLaunchHashes(spec, { mounts: [] }).nodeTypes[0]?.launchHash;
  };
  assert.equal(inCloud('{machine_type: small, zone: a}'), inCloud('{zone: a, machine_type: small}'));
  assert.notEqual(inCloud('{machine_type: small}'), inCloud('{machine_type: large}'));
});

test('workers are outdated by other mounts where those are part of their container, and only there', () => {
  const container = 'docker: {image: "ray:1", container_name: ray}\n';
  const synced = 'cluster_synced_files: [~/data/]\n';
  assert.equal(hashOf('', ['/a']), hashOf(synced, ['/a', '/b']));
  assert.equal(hashOf(container, ['/a']), hashOf(container, ['/a']));
  assert.notEqual(hashOf(container, ['/a']), hashOf(container, ['/a', '/b']));
  assert.notEqual(hashOf(container, ['/a']), hashOf(container + synced, ['/a']));
  assert.notEqual(hashOf(container, ['/a']), hashOf(container.replace('ray:1', 'ray:2'), ['/a']));
});
