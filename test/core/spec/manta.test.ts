import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Plain } from '../../../src/core/spec/cluster.ts';
import { mantaKeys } from '../../../src/core/spec/keys/manta.ts';
import { mantaSpec } from '../../../src/core/spec/manta.ts';
import { openCluster } from '../../../src/core/spec/read.ts';
import { providers } from '../../../src/providers/table.ts';

const minutes = (count: number): number => count * 60_000;

describe('provider.manta', () => {
  test('has its defaults where the file says nothing', () => {
    const nothing = {
      allowNoAuth: false,
      idle: 'timeout',
      lease: minutes(30),
      engine: 'embedded',
      headPolicies: [],
      faults: [],
      nodeTypes: new Map(),
      pools: new Map(),
      hosts: new Map(),
    };
    for (const value of [undefined, null, {}]) assert.deepEqual(mantaSpec(value), nothing);
  });

  test('has the defaults that the table of keys tells', () => {
    const told = mantaKeys.filter(({ path }) => ['allow_no_auth', 'lease', 'engine'].includes(path.slice(15)));
    assert.equal(told.length, 3);
    const written = told.map(({ path, shape, default: preset }): [string, Plain] => [
      path.slice('provider.manta.'.length),
      shape === 'boolean' ? preset === 'true' : preset!,
    ]);
    assert.deepEqual(mantaSpec(Object.fromEntries(written)), mantaSpec(undefined));
  });

  test('has a part for every key of the table', () => {
    const key = (name: string): string => name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    const names = mantaKeys.flatMap(({ path }) => /^provider\.manta\.(\w+)$/.exec(path)?.[1] ?? []);
    const all = mantaSpec(Object.fromEntries(mantaKeys.map((each) => [each.path.slice(15), each.example ?? null])));
    assert.deepEqual(Object.keys(all).sort(), names.map(key).sort());
  });

  test('gives lengths of time in milliseconds, and none for one of nothing', () => {
    const { idleShutdown, maxLifetime, lease, setupTimeout } = mantaSpec({
      idle_shutdown: '1h30m',
      max_lifetime: '2d',
      lease: '1s',
      setup_timeout: '2h',
    });
    assert.deepEqual([idleShutdown, maxLifetime, setupTimeout], [minutes(90), minutes(2880), minutes(120)]);
    assert.equal(lease, 10_000, 'no shorter than this');
    for (const value of ['0s', null]) {
      const none = mantaSpec({ idle_shutdown: value, setup_timeout: value });
      assert.deepEqual([none.idleShutdown, none.setupTimeout], [undefined, undefined]);
    }
  });

  test('tells of node types, pools and hosts by their names', () => {
    const spec = mantaSpec({
      node_types: {
        gpu: { price: 2, spot_price: 0.5, market: ['reserved', 'spot', 'spot', 'on-demand'], zones: ['a'] },
        cpu: { allocation_timeout: '45m' },
      },
      pools: { own: { hosts: ['10.0.0.1'], resources: { CPU: 2 } } },
      hosts: { '10.0.0.1': { user: 'ray', port: 2222, key: '~/k', jump: 'me@bastion', proxy_command: 'nc %h %p' } },
    });
    assert.deepEqual(
      [...spec.nodeTypes],
      [
        [
          'gpu',
          { price: 2, spotPrice: 0.5, markets: ['reserved', 'spot', 'on-demand'], zones: ['a'], initialWorkers: 0 },
        ],
        ['cpu', { markets: [], zones: [], allocationTimeout: 2_700_000, initialWorkers: 0 }],
      ],
    );
    assert.deepEqual([...spec.pools], [['own', { hosts: ['10.0.0.1'], type: { resources: { CPU: 2 } } }]]);
    assert.deepEqual(
      [...spec.hosts],
      [['10.0.0.1', { user: 'ray', port: 2222, key: '~/k', jump: 'me@bastion', proxyCommand: 'nc %h %p' }]],
    );
  });

  test('of a wrong kind is a problem of the file and no spec', () => {
    for (const wrong of ['faults: {hang: true}', 'engine: raylet', 'lease: soon', 'allow_no_auth: 1', 'pools: [a]']) {
      const text = `cluster_name: c\nprovider: {type: process, manta: {${wrong}}}\n`;
      const { problems } = openCluster('c.yaml', Buffer.from(text), {}, providers);
      assert.ok(
        problems.some(({ severity, path }) => severity === 'error' && path[1] === 'manta'),
        wrong,
      );
    }
  });
});
