import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unschedulableCause } from '../../../src/core/kube/unschedulable.ts';

const pod = (requests: Readonly<Record<string, string>>, claim?: string) => ({
  metadata: { name: 'p' },
  spec: {
    containers: [{ name: 'c', resources: { requests } }],
    volumes: claim === undefined ? [] : [{ name: 'v', persistentVolumeClaim: { claimName: claim } }],
  },
});
const node = (allocatable: Readonly<Record<string, string>>) => ({ metadata: { name: 'n' }, status: { allocatable } });
// As kube-scheduler 1.35 writes it.
const behind =
  ' no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.';

test('what the scheduler says is told for each resource and each taint', () => {
  const message = `0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint {team: other}.${behind}`;
  const cause = unschedulableCause(pod({ cpu: '64' }), message, [node({ cpu: '4' })]);
  assert.equal(cause.kind, 'unschedulable');
  assert.match(
    cause.says,
    /1 of 2 have too little cpu \(it asks for 64\); 1 of 2 have a taint that it does not tolerate \{team: other\}$/,
  );
  assert.match(cause.next, /ask for less \(cpu\)/);
});

test('a resource that no node offers, a taint alone and a volume are causes of their own', () => {
  const gpu = `0/1 nodes are available: 1 Insufficient nvidia.com/gpu.${behind}`;
  assert.equal(unschedulableCause(pod({ 'nvidia.com/gpu': '1' }), gpu, [node({ cpu: '4' })]).kind, 'no device plugin');
  assert.equal(
    unschedulableCause(pod({ 'nvidia.com/gpu': '1' }), gpu, [node({ 'nvidia.com/gpu': '1' })]).kind,
    'unschedulable',
  );
  assert.equal(unschedulableCause(pod({ 'nvidia.com/gpu': '1' }), gpu, undefined).kind, 'unschedulable');
  const taint = `0/1 nodes are available: 1 node(s) had untolerated taint {ray.io/node-type: worker}.${behind}`;
  assert.equal(unschedulableCause(pod({}), taint, []).kind, 'taint');
  const claim = `0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.${behind}`;
  assert.match(unschedulableCause(pod({}, 'data'), claim, []).says, /unbound.*claims: data/);
});
