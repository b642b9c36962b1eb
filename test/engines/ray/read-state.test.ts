import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { readState } from '../../../src/engines/ray/gcs/read-state.ts';
import { ClusterStateSchema } from '../../../src/engines/ray/gen/autoscaler_pb.js';

type State = MessageInitShape<typeof ClusterStateSchema>;
const demandOf = (state: State) => readState(create(ClusterStateSchema, state), 0).demand;
const pending = (resources: Record<string, number>) => ({ request: { resources }, count: 2n });
const group = 'aad0a39f6e3956e9b2ac71ea570a01000000';

test('tasks of a placement group that waits are no demand of their own: the group is', () => {
  const inGroup = { [`CPU_group_${group}`]: 1, [`CPU_group_0_${group}`]: 1, [`bundle_group_${group}`]: 0.001 };
  const { tasks, gangs } = demandOf({
    pending: [pending(inGroup), pending({ CPU: 1 }), pending({ my_group_a: 1 })],
    gangs: [{ details: `${group}:PACK|PENDING`, requests: [{ resources: { CPU: 1 } }] }],
  });
  assert.deepEqual(
    tasks.map(({ request }) => request.resources),
    [{ CPU: 1 }, { my_group_a: 1 }],
  );
  assert.deepEqual(
    gangs.map(({ id }) => id),
    [group],
  );
});

test('the same demand reads the same, in whatever order Ray names its resources', () => {
  const [one] = demandOf({ pending: [pending({ GPU: 1, CPU: 2, memory: 3 })] }).tasks;
  const [other] = demandOf({ pending: [pending({ memory: 3, CPU: 2, GPU: 1 })] }).tasks;
  assert.equal(JSON.stringify(one), JSON.stringify(other));
});

test('a node carries the labels of the placement groups on it, so that what must be apart from them goes elsewhere', () => {
  const node = { id: new Uint8Array([1]), labels: { tier: 'gold' }, dynamicLabels: { [`_PG_${group}`]: '' } };
  const [read] = readState(create(ClusterStateSchema, { nodes: [node] }), 0).nodes;
  assert.deepEqual(read?.labels, { tier: 'gold', [`_PG_${group}`]: '' });
});
