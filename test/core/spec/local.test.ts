import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { canonicalHost, ownHosts } from '../../../src/core/spec/local.ts';
import { codesOf, open, specOf, typeOf } from './cluster-text.ts';

const file = (manta: string, more = ''): string => `cluster_name: own
provider:
  type: local
  head_ip: 10.0.0.1
  worker_ips: [10.0.0.2, 10.0.0.3]
  manta: ${manta}
auth: {ssh_user: ray, ssh_private_key: ~/.ssh/lab, ssh_proxy_command: ssh -W %h:%p gate}
${more}`;

describe('pools', () => {
  test('are node types beside that of worker_ips, with all of their hosts as workers', () => {
    const spec = specOf(
      file('{pools: {gpu: {hosts: [a, b]}, big: {hosts: [c, d, e], min_workers: 0, max_workers: 2}}}'),
    );
    assert.deepEqual(
      spec.nodeTypes.map(({ name, minWorkers, maxWorkers }) => [name, minWorkers, maxWorkers]),
      [
        ['local.cluster.node', 2, 2],
        ['gpu', 2, 2],
        ['big', 0, 2],
      ],
    );
    assert.equal(spec.maxWorkers, 6);
    assert.equal(spec.headType, 'local.cluster.node');
  });

  test('take what a node type takes', () => {
    const spec = specOf(
      file(
        '{pools: {gpu: {hosts: [a], resources: {CPU: 8, GPU: 2}, labels: {zone: x}, idle_timeout_s: 60, priority: 3, worker_setup_commands: [own]}}}',
      ),
    );
    const { resources, resourcesKnown, labels, idleTimeout, priority, worker } = typeOf(spec, 'gpu');
    assert.deepEqual(
      { resources, resourcesKnown, labels, idleTimeout, priority, setup: worker.setup },
      {
        resources: { CPU: 8, GPU: 2 },
        resourcesKnown: true,
        labels: { zone: 'x' },
        idleTimeout: 60_000,
        priority: 3,
        setup: ['own'],
      },
    );
  });

  test('have unknown resources until a host was looked at, also when the file adds one of its own', () => {
    const spec = specOf(file('{pools: {a: {hosts: [x]}, b: {hosts: [y], resources: {disk: 1}}}}'));
    assert.deepEqual(
      ['a', 'b'].map((name) => [typeOf(spec, name).resourcesKnown, typeOf(spec, name).resources]),
      [
        [false, {}],
        [false, { disk: 1 }],
      ],
    );
  });

  test('count under max_workers', () => {
    const pools = '{pools: {gpu: {hosts: [a, b], min_workers: 0}}}';
    assert.equal(specOf(file(pools, 'max_workers: 3')).maxWorkers, 3);
    assert.deepEqual(codesOf(file(pools, 'max_workers: 3')), []);
    assert.deepEqual(codesOf(file('{pools: {gpu: {hosts: [a, b]}}}', 'max_workers: 3')), ['8:1 LOCAL_LIMIT']);
    assert.deepEqual(codesOf(file(pools, 'max_workers: 9')), ['8:1 LOCAL_LIMIT']);
    assert.equal(specOf(file(pools, 'max_workers: 9')).maxWorkers, 4);
  });

  test('are refused without hosts, and under the name that is taken', () => {
    assert.deepEqual(codesOf(file('{pools: {gpu: {hosts: []}}}')), ['6:19 POOL_HOSTS']);
    assert.deepEqual(codesOf(file('{pools: {local.cluster.node: {hosts: [a]}}}')), ['6:19 POOL_NAME']);
    assert.deepEqual(codesOf(file('{pools: {gpu: {hosts: [a], max_workers: 2}}}')), ['6:37 POOL_LIMIT']);
  });

  test('are no use on a cloud', () => {
    assert.deepEqual(
      codesOf(
        'cluster_name: c\nprovider: {type: gcp, project_id: p, region: r1, availability_zone: r1-a, manta: {pools: {a: {hosts: [b]}}}}',
      ),
      ['2:83 NOT_OWN_HOSTS'],
    );
  });
});

describe('the hosts of a local cluster', () => {
  test('are reached as their own settings say, and else as auth says', () => {
    const spec = specOf(
      file(
        '{hosts: {10.0.0.2: {user: me, port: 2222, key: ~/.ssh/own, jump: bastion}, 10.0.0.3: {proxy_command: nc %h}}}',
      ),
    );
    const { head, pools } = ownHosts(spec);
    const usual = { user: 'ray', key: '~/.ssh/lab', proxyCommand: 'ssh -W %h:%p gate' };
    assert.deepEqual(head, { name: '10.0.0.1', address: '10.0.0.1', ...usual });
    assert.deepEqual(pools, [
      {
        type: 'local.cluster.node',
        hosts: [
          { name: '10.0.0.2', address: '10.0.0.2', user: 'me', port: 2222, key: '~/.ssh/own', jump: 'bastion' },
          { name: '10.0.0.3', address: '10.0.0.3', ...usual, proxyCommand: 'nc %h' },
        ],
      },
    ]);
  });

  test('are reached without what auth says where their settings hold an empty text', () => {
    const spec = specOf(file("{hosts: {10.0.0.2: {user: '', key: '', proxy_command: ''}}}"));
    assert.deepEqual(ownHosts(spec).pools[0]?.hosts[0], { name: '10.0.0.2', address: '10.0.0.2' });
  });

  test('may be IPv6 literals, with brackets or without, in any spelling', () => {
    assert.equal(canonicalHost('[2001:DB8:0::17]'), canonicalHost('2001:db8::17'));
    assert.equal(canonicalHost('::1'), canonicalHost('0:0:0:0:0:0:0:0001'));
    assert.notEqual(canonicalHost('2001:db8::1'), canonicalHost('2001:db8:1::'));
    assert.equal(canonicalHost('FE80::1%eth0'), 'fe80::1%eth0');
    assert.equal(canonicalHost('Gpu-1.Example.org'), 'gpu-1.example.org');
    const spec = specOf(
      "cluster_name: six\nprovider: {type: local, head_ip: '[2001:db8::1]', external_head_ip: '2001:db8::ff', worker_ips: ['2001:db8::2'], manta: {hosts: {'2001:DB8:0::2': {port: 23}}}}\n",
    );
    const { head, pools } = ownHosts(spec);
    assert.deepEqual(head, { name: '[2001:db8::1]', address: '2001:db8::1', outside: '2001:db8::ff' });
    assert.deepEqual(pools[0]?.hosts, [{ name: '2001:db8::2', address: '2001:db8::2', port: 23 }]);
  });

  test('stand in one place each', () => {
    const local = (workers: string, manta = '{}'): string =>
      `cluster_name: l\nprovider: {type: local, head_ip: h, worker_ips: ${workers}, manta: ${manta}}\n`;
    assert.deepEqual(codesOf(local('[a, b, a]')), ['2:56 HOST_TWICE']);
    assert.deepEqual(codesOf(local('[a]', '{pools: {p: {hosts: [A]}}}')), ['2:82 HOST_TWICE']);
    assert.deepEqual(codesOf(local('[]', '{pools: {p: {hosts: [h]}}}')), ['2:81 HOST_TWICE']);
    assert.match(open(local('[a, b, a]')).problems[0]?.message ?? '', /'a' is already one of worker_ips \(line 2\)/);
  });

  test('do not count the head as its own worker', () => {
    const text = 'cluster_name: l\nprovider: {type: local, head_ip: h, worker_ips: [h, a]}\n';
    assert.deepEqual(codesOf(text), ['2:50 HEAD_IS_WORKER']);
    assert.equal(specOf(text).maxWorkers, 1);
    assert.deepEqual(
      ownHosts(specOf(text)).pools[0]?.hosts.map(({ name }) => name),
      ['a'],
    );
  });

  test('are addresses, not options of ssh, numbers or sentences', () => {
    for (const bad of ["'-oProxyCommand=x'", '1:2:3:4:5:6:7:8', '7', "''", "'a b'", "'a;b'", '$(x)'])
      assert.ok(
        codesOf(`cluster_name: l\nprovider: {type: local, head_ip: h, worker_ips: [${bad}]}\n`).includes(
          '2:50 BAD_HOST',
        ),
        bad,
      );
  });

  test('have settings only when they are there, and only such as exist', () => {
    assert.deepEqual(codesOf(file('{hosts: {10.0.0.22: {user: x}}}')), ['6:19 UNKNOWN_HOST']);
    assert.match(open(file('{hosts: {10.0.0.22: {user: x}}}')).problems[0]?.hint ?? '', /did you mean '10\.0\.0\.2'/);
    assert.deepEqual(codesOf(file('{hosts: {10.0.0.2: {usr: x}}}')), ['6:30 UNKNOWN_KEY']);
    assert.deepEqual(codesOf(file('{hosts: {10.0.0.2: {port: 70000}}}')), ['6:36 BAD_PORT']);
    assert.deepEqual(codesOf(file('{hosts: {10.0.0.2: {jump: b, proxy_command: c}}}')), ['6:19 TWO_WAYS_IN']);
    assert.deepEqual(codesOf(file("{hosts: {10.0.0.2: {jump: '-x'}}}")), ['6:36 BAD_HOST']);
  });
});

describe('a coordinator', () => {
  test('is not asked, and the file is told what takes its place', () => {
    const text = 'cluster_name: c\nprovider: {type: local, coordinator_address: "10.0.0.9:1234"}\nmax_workers: 3\n';
    const { problems, spec } = open(text);
    assert.deepEqual(codesOf(text), ['2:25 LOCAL_COORDINATOR']);
    assert.match(problems[0]?.message ?? '', /without head_ip nothing can be launched/);
    assert.match(problems[0]?.hint ?? '', /list the shared hosts/);
    assert.equal(spec?.maxWorkers, 3);
    assert.equal(spec && ownHosts(spec).head, undefined);
  });

  test('is passed over where the hosts are listed too', () => {
    const text =
      'cluster_name: c\nprovider: {type: local, coordinator_address: "10.0.0.9:1234", head_ip: h, worker_ips: [a, b]}\n';
    assert.deepEqual(codesOf(text), ['2:25 LOCAL_COORDINATOR']);
    assert.equal(specOf(text).maxWorkers, 2);
  });
});
