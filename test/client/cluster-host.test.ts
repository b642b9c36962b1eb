import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterHost, listHost } from '../../src/client/cluster-host.ts';

test('each cluster has a name of its own in a browser, which reads no capital letters', () => {
  const names = ['blue', 'Blue', 'BLUE', 'blue_1', 'blue-1', 'blue.1', 'Blue_1', 'all-clusters', 'a'.repeat(64)];
  const hosts = names.map(clusterHost);
  assert.equal(new Set(hosts.map((host) => host.toLowerCase())).size, names.length, hosts.join());
  assert.ok(!hosts.includes(listHost));
  assert.equal(hosts[0], 'blue.localhost');
  for (const host of hosts) {
    assert.match(host, /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.localhost$/);
    assert.equal(new URL(`http://${host}/`).hostname, host);
  }
});
