import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InstanceView } from '../../src/core/instance.ts';
import type { ScalingSpec } from '../../src/core/scaling.ts';
import { HeadMetrics } from '../../src/head/report/metrics.ts';
import { type Sight, samplePoint } from '../../src/head/report/observer.ts';

const names = ['constructor', '__proto__', 'toString'];
const resources = Object.fromEntries(names.map((name) => [name, 2]));

const spec: ScalingSpec = {
  upscalingSpeed: 1,
  headType: 'constructor',
  replaceOutdated: false,
  nodeTypes: [
    {
      name: 'constructor',
      resources,
      labels: {},
      minWorkers: 0,
      maxWorkers: 2,
      priority: 0,
      launchHash: '',
      hostsPerSlice: 1,
      offers: [{ market: 'on-demand' }],
    },
  ],
};

const instance = (id: string): InstanceView => ({
  id,
  type: 'constructor',
  kind: 'worker',
  status: 'running',
  requestedAt: 0,
  since: 0,
  node: { id: `node-${id}`, total: resources, available: {}, labels: {}, idleFor: 0 },
});

const counts: Sight['counts'] = {
  queued: 0,
  held: 0,
  starting: 0,
  running: 0,
  stopping: 0,
  succeeded: 0,
  failed: 0,
  stopped: 0,
};

test('types and resources whose names every object has are counted like any other', () => {
  const instances = [instance('a'), instance('b')];
  const { nodes, usage } = samplePoint({
    now: 0,
    spec,
    view: {
      at: 0,
      complete: { engine: true, provider: true },
      instances,
      demand: { tasks: [], gangs: [], standing: [] },
      memory: { refusals: [], unneededSince: {} },
    },
    plan: undefined,
    engine: undefined,
    jobs: [],
    counts,
  });
  assert.deepEqual(Object.entries(nodes), [['constructor', 2]]);
  assert.deepEqual(
    Object.entries(usage),
    names.map((name) => [name, { used: 4, total: 4 }]),
  );
  const text = new HeadMetrics('session').text({ instances, spec, jobs: counts, residentBytes: 0 });
  for (const name of names)
    assert.match(text, new RegExp(`autoscaler_cluster_resources\\{[^}]*resource="${name}"[^}]*\\} 4\n`));
});
