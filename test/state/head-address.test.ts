import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { sshArguments } from '../../src/base/ssh/arguments.ts';
import { targetOf } from '../../src/bringup/node/reach.ts';
import { createCluster } from '../../src/state/cluster-record.ts';
import { headAddresses } from '../../src/state/head-address.ts';
import { knownHosts } from '../../src/state/known-hosts.ts';
import { loadSpec } from '../../src/state/load-spec.ts';
import { reachedFrom, stateFolder } from '../../src/state/state-folder.ts';

const specWith = (provider: string, more = '') =>
  loadSpec({
    name: 'sky',
    config: {
      path: 'sky.yaml',
      text: `cluster_name: sky\nprovider: {type: lab_cloud, endpoint: "http://127.0.0.1:1"${provider}}\nhead_node_type: head\navailable_node_types: {head: {node_config: {machine_type: small}}}\n${more}`,
      env: {},
    },
  });

test('the laptop goes outside unless the file wants internal addresses; workers always go inside', () => {
  const both = { inside: '10.0.0.1', outside: '192.0.2.1' };
  const laptop = (provider: string, address: object = both) => headAddresses(address, specWith(provider)).forLaptop;
  assert.equal(laptop(''), '192.0.2.1');
  assert.equal(laptop(', use_internal_ips: true'), '10.0.0.1');
  assert.equal(laptop(', use_internal_ips: true, use_external_head_ip: true'), '192.0.2.1');
  assert.equal(laptop('', { inside: '10.0.0.1' }), '10.0.0.1');
  assert.equal(headAddresses(both, specWith('')).forWorkers, '10.0.0.1');
  assert.deepEqual(headAddresses({}, specWith('')), {});
});

function headWith(t: { after: (done: () => void) => void }, provider: string, auth: string) {
  const home = mkdtempSync(join(tmpdir(), 'manta-hosts-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const folder = stateFolder(home, 'sky');
  const remote = { address: '192.0.2.1', inside: '10.0.0.1', instance: 'i-1', zone: 'us-west-2a', clusterId: 'c-1' };
  createCluster(folder, { role: 'laptop', createdAt: 0, engine: 'ray', remote });
  const { head } = knownHosts(specWith(provider, `auth: {ssh_user: me, ${auth}}`), folder);
  assert.ok(head);
  const target = targetOf(head, reachedFrom(folder));
  const proxy = sshArguments(target, { alone: true }).find((word) => word.startsWith('ProxyCommand='));
  return { head, target, proxy: proxy?.slice('ProxyCommand='.length) };
}

test('a proxy command finds the instance, its zone and its region in its environment', (t) => {
  const { proxy, target } = headWith(t, ', region: us-west-2', 'ssh_proxy_command: "nc \'%h\' %p"');
  assert.equal(target.address, '192.0.2.1');
  assert.equal(
    proxy,
    "env MANTA_INSTANCE_ID=i-1 MANTA_ZONE=us-west-2a MANTA_REGION=us-west-2 sh -c 'exec nc '\\''%h'\\'' %p'",
  );
});

test('ssh_proxy_use_node_id gives the proxy command the id in place of the address', (t) => {
  const { head, target } = headWith(t, '', 'ssh_proxy_command: ssm %h, ssh_proxy_use_node_id: true');
  assert.deepEqual([head.name, head.inside, target.address], ['192.0.2.1', '10.0.0.1', 'i-1']);
});
