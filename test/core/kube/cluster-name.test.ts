import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readKubeName } from '../../../src/core/kube/cluster-name.ts';
import { listedObject } from '../../../src/core/kube/listing.ts';

test('a name on Kubernetes may have a namespace and a kind', () => {
  assert.deepEqual(readKubeName('kube:a'), { name: 'a' });
  assert.deepEqual(readKubeName('kube:team/a'), { name: 'a', namespace: 'team' });
  assert.deepEqual(readKubeName('kube:rayservice/a'), { name: 'a', kind: 'RayService' });
  assert.deepEqual(readKubeName('kube:team/RayJobs/a'), { name: 'a', namespace: 'team', kind: 'RayJob' });
  for (const word of ['kube:', 'kube:a/b/c', 'kube:A', 'kube:team/', 'kube:a b'])
    assert.equal(readKubeName(word), undefined, word);
});

const condition = (type: string, status: string, reason: string) => ({ type, status, reason });

test('a listed object tells its state by its conditions, not by the one that never goes back', () => {
  const cluster = (head: string, more: object = {}) =>
    listedObject('RayCluster', {
      metadata: { name: 'a', namespace: 'n' },
      spec: {},
      status: {
        state: 'ready',
        conditions: [condition('HeadPodReady', head, 'ImagePullBackOff')],
        desiredWorkerReplicas: 2,
        readyWorkerReplicas: 2,
        ...more,
      },
    });
  assert.deepEqual([cluster('True').state, cluster('True').workers], ['ready', '2/2']);
  assert.equal(cluster('True', { readyWorkerReplicas: 1 }).state, 'workers missing');
  assert.equal(cluster('False').state, 'head not ready (ImagePullBackOff)');
  const service = listedObject('RayService', {
    metadata: { name: 's' },
    status: {
      conditions: [condition('Ready', 'True', 'NonZeroServeEndpoints')],
      activeServiceStatus: { rayClusterName: 's-1' },
      pendingServiceStatus: { rayClusterName: 's-2' },
    },
  });
  assert.deepEqual([service.state, service.clusters], ['upgrading', ['s-1', 's-2']]);
});
