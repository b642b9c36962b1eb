import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeOrder } from '../../src/bringup/node/node.ts';
import { fingerprints, outdatedParts } from '../../src/bringup/node/record.ts';

const order: NodeOrder = {
  cluster: 'team',
  instance: 'i-1',
  kind: 'worker',
  type: 'small',
  commands: { initialization: ['docker login'], setup: ['pip list'], start: ['ray start'] },
  files: { mounts: [], exclude: [], filter: [] },
  headAddress: '127.0.0.1',
  loginShells: false,
  usageStats: false,
};

test('a machine that was stopped and started runs its initialization commands again, and nothing else', () => {
  const record = { instance: 'i-1', ...fingerprints({ ...order, startedAt: 1 }, 'files') };
  assert.deepEqual([...outdatedParts(record, fingerprints({ ...order, startedAt: 1 }, 'files'))], []);
  assert.deepEqual([...outdatedParts(record, fingerprints({ ...order, startedAt: 2 }, 'files'))], ['initialization']);
});
