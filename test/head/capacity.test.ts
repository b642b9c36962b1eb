import assert from 'node:assert/strict';
import { test } from 'node:test';
import { infeasibility } from '../../src/core/jobs/admit.ts';
import type { ClusterSpec, NodeType } from '../../src/core/spec/cluster.ts';
import type { EngineNode } from '../../src/engines/engine.ts';
import { capacityOf } from '../../src/head/report/capacity.ts';

const ownMachines = (resources: NodeType['resources']): ClusterSpec =>
  ({
    headType: 'own',
    maxWorkers: 1,
    nodeTypes: [{ name: 'own', resources, resourcesKnown: false, labels: {}, maxWorkers: 1 }],
  }) as unknown as ClusterSpec;

const node = (total: EngineNode['total']): EngineNode => ({
  id: 'n',
  type: 'own',
  state: 'alive',
  head: false,
  total,
  available: total,
  labels: {},
  idleFor: 0,
});

const refused = (spec: ClusterSpec, nodes: readonly EngineNode[], resources: Record<string, number>): boolean => {
  const { types, maxNodes } = capacityOf(spec, nodes);
  return infeasibility({ resources, labels: {} }, types, maxNodes) !== undefined;
};

test('own machines of which nothing is known yet may hold anything', () => {
  assert.equal(refused(ownMachines({}), [], { CPU: 64 }), false);
});

test('own machines hold what was found on them', () => {
  assert.equal(refused(ownMachines({ CPU: 2 }), [], { CPU: 2 }), false);
  assert.equal(refused(ownMachines({ CPU: 2 }), [], { CPU: 64 }), true);
});

test('a node that runs on an own machine counts with what it was started with', () => {
  assert.equal(refused(ownMachines({ CPU: 2 }), [node({ CPU: 8, disk: 1 })], { CPU: 8, disk: 1 }), false);
  assert.equal(refused(ownMachines({ CPU: 2 }), [node({ CPU: 8 })], { disk: 1 }), true);
});
