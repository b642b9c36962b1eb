import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RayServiceState, serviceProgress } from '../../../src/core/kube/service-progress.ts';

const config = (replicas: number): string =>
  `applications:\n- {name: a, route_prefix: /, import_path: "m:a", deployments: [{name: D, num_replicas: ${replicas}}]}\n`;

const deployed = (replicas: number, status = 'RUNNING', running = replicas) => ({
  applications: {
    a: {
      name: 'a',
      status,
      message: '',
      source: 'declarative',
      deployed_app_config: {
        name: 'a',
        route_prefix: '/',
        import_path: 'm:a',
        deployments: [{ name: 'D', num_replicas: replicas }],
      },
      deployments: {
        D: {
          status: 'HEALTHY',
          message: '',
          target_num_replicas: replicas,
          replicas: Array.from({ length: running }, () => ({ state: 'RUNNING' })),
        },
      },
    },
  },
});

const pod = (name: string, cluster: string) => ({
  metadata: { name, labels: { 'ray.io/cluster': cluster, 'ray.io/node-type': 'head' } },
  spec: { containers: [{ name: 'h' }] },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
});

/** As KubeRay 1.6 leaves it when all is well. */
const state = (more: Partial<RayServiceState> = {}, status: object = {}): RayServiceState => ({
  service: {
    metadata: {
      name: 's',
      generation: 2,
      managedFields: [{ manager: 'manta', operation: 'Apply', time: '2026-01-01T00:00:10Z' }],
    },
    spec: { serveConfigV2: config(2) },
    status: {
      observedGeneration: 2,
      numServeEndpoints: 1,
      conditions: [
        { type: 'Ready', status: 'True', reason: 'NonZeroServeEndpoints' },
        { type: 'UpgradeInProgress', status: 'False', reason: 'NoPendingCluster' },
      ],
      activeServiceStatus: { rayClusterName: 's-one' },
      pendingServiceStatus: { rayClusterStatus: {} },
      ...status,
    },
  },
  clusters: [{ metadata: { name: 's-one' }, spec: {}, status: { observedGeneration: 1 } }],
  pods: [pod('s-one-head', 's-one')],
  events: [],
  endpoints: [{ endpoints: [{ conditions: { ready: true }, targetRef: { name: 's-one-head' } }] }],
  serve: deployed(2),
  ...more,
});

test('it is done when Serve runs what was sent and the Service leads to it', () => {
  assert.equal(serviceProgress(state()).state, 'done');
});

test('none of the signs that come too early is enough', () => {
  const waiting = (more: Partial<RayServiceState>, status: object = {}): void =>
    assert.equal(serviceProgress(state(more, status)).state, 'waiting', JSON.stringify([more, status]));
  waiting({}, { observedGeneration: 1 });
  waiting({}, { numServeEndpoints: 0 });
  waiting({}, { pendingServiceStatus: { rayClusterName: 's-two' } });
  waiting({}, { activeServiceStatus: {} });
  // The operator says RUNNING of the config before.
  waiting({ serve: deployed(1) });
  waiting({ serve: deployed(2, 'DEPLOYING') });
  waiting({ serve: deployed(2, 'RUNNING', 1) });
  waiting({ serve: undefined });
  // The Service still leads to the old cluster.
  waiting({ endpoints: [{ endpoints: [{ conditions: { ready: true }, targetRef: { name: 's-old-head' } }] }] });
  waiting({ endpoints: [{ endpoints: [] }] });
});

test('who may not ask Serve gets what the operator says', () => {
  const blind = { serve: undefined, isBlind: true } as const;
  assert.equal(serviceProgress(state(blind)).state, 'waiting');
  const statuses = { a: { status: 'RUNNING' } };
  const active = { activeServiceStatus: { rayClusterName: 's-one', applicationStatuses: statuses } };
  assert.equal(serviceProgress(state(blind, active)).state, 'done');
});

const warning = (reason: string, message: string, lastTimestamp = '2026-01-01T00:00:11Z') => ({
  type: 'Warning',
  reason,
  message,
  lastTimestamp,
  involvedObject: { kind: 'RayService', name: 's' },
});

test('a config that Serve refuses is final, unless the refusal is of an earlier one', () => {
  const refusal = 'err: UpdateDeployments fail: 400 Bad Request 1 validation error for ServeDeploySchema';
  const causeOf = (at: string) => {
    const seen = serviceProgress(
      state({ events: [warning('FailedToUpdateServeApplications', refusal, at)] }, { observedGeneration: 1 }),
    );
    return seen.state === 'waiting' ? seen.cause : undefined;
  };
  assert.deepEqual(
    [causeOf('2026-01-01T00:00:11Z')?.kind, causeOf('2026-01-01T00:00:11Z')?.isFinal],
    ['serve config', true],
  );
  for (const earlier of ['2026-01-01T00:00:09Z', '2026-01-01T00:00:10Z'])
    assert.notEqual(causeOf(earlier)?.kind, 'serve config', earlier);
});

test('validation, timeouts, failed applications and missing room are told by their cause', () => {
  const kindOf = (more: Partial<RayServiceState>, status: object = {}) => {
    const seen = serviceProgress(state(more, status));
    return seen.state === 'waiting' ? seen.cause?.kind : 'done';
  };
  const ready = (reason: string) => ({
    observedGeneration: 1,
    conditions: [{ type: 'Ready', status: 'False', reason, message: 'm' }],
  });
  assert.equal(kindOf({}, ready('ValidationFailed')), 'refused by the operator');
  assert.equal(kindOf({}, ready('InitializingTimeout')), 'timed out');
  assert.equal(kindOf({ serve: deployed(2, 'DEPLOY_FAILED') }), 'deploy failed');
  const next = {
    ...pod('s-two-head', 's-two'),
    status: {
      phase: 'Pending',
      conditions: [
        {
          type: 'PodScheduled',
          status: 'False',
          reason: 'Unschedulable',
          message: '0/1 nodes are available: 1 Insufficient cpu.',
        },
      ],
    },
  };
  const clusters = ['s-one', 's-two'].map((name) => ({
    metadata: { name },
    spec: {},
    status: { observedGeneration: 1 },
  }));
  const both = { clusters, pods: [pod('s-one-head', 's-one'), next], serve: undefined };
  assert.equal(kindOf(both, { pendingServiceStatus: { rayClusterName: 's-two' } }), 'no room for a second cluster');
});

test('a worker without a replica is not ready, and that is no trouble', () => {
  const worker = {
    ...pod('s-one-worker', 's-one'),
    metadata: { name: 's-one-worker', labels: { 'ray.io/cluster': 's-one', 'ray.io/node-type': 'worker' } },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'False' }],
      containerStatuses: [{ name: 'w', state: { running: {} } }],
    },
  };
  assert.equal(serviceProgress(state({ pods: [pod('s-one-head', 's-one'), worker] })).state, 'done');
  const seen = serviceProgress(state({ pods: [pod('s-one-head', 's-one'), worker], serve: deployed(2, 'DEPLOYING') }));
  assert.equal(seen.state === 'waiting' && seen.cause, undefined);
});
