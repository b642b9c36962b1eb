import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stateErrors } from '../../src/state/errors.ts';
import { loadSpec } from '../../src/state/load-spec.ts';

const text = `cluster_name: c
provider: {type: process}
max_workers: 3
head_node_type: head
available_node_types:
  head: {resources: {CPU: 0}, node_config: {}}
  cpu: {resources: {CPU: 1}, node_config: {}}
  gpu: {resources: {CPU: 1, GPU: 1}, max_workers: 1, node_config: {}}
`;
const config = { path: 'c.yaml', text, env: {} };
const limits = (overrides: { minWorkers?: number; maxWorkers?: number }): (number | undefined)[] => {
  const spec = loadSpec({ name: 'c', config, overrides });
  return [spec.maxWorkers, ...spec.nodeTypes.filter(({ name }) => name !== 'head').map((type) => type.maxWorkers)];
};

test('--max-workers stands for max_workers of the file: a type keeps the limit that it names itself', () => {
  assert.deepEqual(limits({}), [3, 3, 1]);
  assert.deepEqual(limits({ maxWorkers: 8 }), [8, 8, 1]);
});

test('--max-workers raises and lowers the built-in cluster', () => {
  const spec = loadSpec({ name: 'default', overrides: { maxWorkers: 9 } });
  assert.equal(spec.nodeTypes.find(({ name }) => name === 'worker')?.maxWorkers, 9);
});

test('--min-workers is refused where it does not say of which type', () => {
  assert.throws(
    () => limits({ minWorkers: 1 }),
    (error) => stateErrors.WhichType.is(error),
  );
  const spec = loadSpec({ name: 'default', overrides: { minWorkers: 1 } });
  assert.equal(spec.nodeTypes.find(({ name }) => name === 'worker')?.minWorkers, 1);
});
