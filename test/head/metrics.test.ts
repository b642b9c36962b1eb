// needs: cluster

/** What monitoring sees of a running cluster. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, raw, TestCluster, workersYaml } from './test-cluster.ts';

interface Family {
  readonly type: string;
  readonly samples: Map<string, number>;
}

/** Reads the Prometheus text format and refuses what is not in it. */
function parse(text: string): Map<string, Family> {
  const families = new Map<string, Family>();
  const helped = new Set<string>();
  assert.ok(text.endsWith('\n'));
  for (const line of text.slice(0, -1).split('\n')) {
    const help = /^# HELP ([a-zA-Z_:][\w:]*) \S.*$/.exec(line);
    const type = /^# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram)$/.exec(line);
    const sample = /^([a-zA-Z_:][\w:]*)(\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\n"])*",?)*\})? (\S+)$/.exec(line);
    if (help?.[1]) helped.add(help[1]);
    else if (type?.[1] && type[2]) {
      assert.ok(!families.has(type[1]), `${type[1]} is declared once`);
      families.set(type[1], { type: type[2], samples: new Map() });
    } else {
      assert.ok(sample?.[1], `not in the format: ${line}`);
      const name = [...families.keys()].findLast(
        (each) => sample[1] === each || /^_(?:bucket|sum|count)$/.test(sample[1]?.slice(each.length) ?? ''),
      );
      assert.ok(name !== undefined && helped.has(name), `${sample[1]} has no HELP and TYPE before it`);
      const value = Number(sample[3]?.replace('+Inf', 'Infinity'));
      assert.ok(!Number.isNaN(value), line);
      const key = `${sample[1].slice(name.length)}${sample[2] ?? ''}`;
      assert.ok(!families.get(name)?.samples.has(key), `twice: ${line}`);
      families.get(name)?.samples.set(key, value);
    }
  }
  return families;
}

const promised: Readonly<Record<string, string>> = {
  autoscaler_pending_nodes: 'gauge',
  autoscaler_active_nodes: 'gauge',
  autoscaler_recently_failed_nodes: 'gauge',
  autoscaler_running_workers_nodes: 'gauge',
  autoscaler_cluster_resources: 'gauge',
  autoscaler_started_nodes_total: 'counter',
  autoscaler_stopped_nodes_total: 'counter',
  autoscaler_failed_create_nodes_total: 'counter',
  autoscaler_failed_updates_total: 'counter',
  autoscaler_update_loop_exceptions_total: 'counter',
  autoscaler_node_launch_exceptions_total: 'counter',
  autoscaler_update_time_seconds: 'histogram',
  autoscaler_worker_create_node_time_seconds: 'histogram',
  manta_jobs: 'gauge',
  manta_job_attempts_ended_total: 'counter',
  manta_job_wait_seconds: 'histogram',
  manta_head_resident_bytes: 'gauge',
};

test('metrics stand under their promised names in the Prometheus format, and count what happens', async (t) => {
  const cluster = await TestCluster.start(t, { yaml: workersYaml({ cpus: 2, max: 1 }) });
  const scrape = async (): Promise<Map<string, Family>> => {
    const { status, body } = await raw(cluster.url, { path: '/metrics' });
    assert.equal(status, 200);
    return parse(body);
  };
  const value = (families: Map<string, Family>, name: string, ...labels: readonly string[]): number => {
    for (const [key, each] of families.get(name)?.samples ?? [])
      if (labels.every((label) => key.includes(label))) return each;
    return Number.NaN;
  };
  const fresh = await scrape();
  for (const name of fresh.keys())
    assert.ok(name === 'autoscaler_pending_resources' || name in promised, `${name} is not promised`);
  for (const { samples } of fresh.values())
    for (const key of samples.keys()) assert.match(key, /SessionName="default"/);
  assert.equal(value(fresh, 'manta_job_attempts_ended_total', 'cause="succeeded"'), 0);

  for (const [id, entrypoint] of [
    ['good', 'true'],
    ['bad', 'exit 1'],
  ] as const)
    await cluster.submit({ id, entrypoint, resources: { CPU: 1 } });
  await cluster.finish('good');
  await cluster.finish('bad');
  const after = await eventually('the node counts', async () => {
    const families = await scrape();
    return value(families, 'autoscaler_active_nodes', 'NodeType="worker"') === 1 && families;
  });
  for (const [name, type] of Object.entries(promised)) assert.equal(after.get(name)?.type, type, name);
  assert.equal(value(after, 'manta_job_attempts_ended_total', 'cause="succeeded"'), 1);
  assert.equal(value(after, 'manta_job_attempts_ended_total', 'cause="failed"'), 1);
  assert.equal(value(after, 'manta_jobs', 'state="succeeded"'), 1);
  assert.equal(value(after, 'manta_job_wait_seconds', '_count'), 2);
  assert.equal(value(after, 'autoscaler_started_nodes_total', 'NodeType="worker"'), 1);
  assert.equal(value(after, 'autoscaler_worker_create_node_time_seconds', '_count'), 1);
  assert.equal(value(after, 'autoscaler_cluster_resources', 'resource="CPU"'), 2);
  assert.ok(value(after, 'manta_head_resident_bytes') > 10e6);
  const buckets = [...(after.get('manta_job_wait_seconds')?.samples ?? [])].filter(([key]) =>
    key.startsWith('_bucket'),
  );
  const counts = buckets.map(([, count]) => count);
  assert.deepEqual(
    counts,
    counts.toSorted((a, b) => a - b),
    'buckets are cumulative',
  );
  assert.match(buckets.at(-1)?.[0] ?? '', /le="\+Inf"/);
});

test('health is told without a token, and readiness only once both sides have answered', async (t) => {
  const cluster = await TestCluster.start(t);
  for (const path of [
    '/healthz',
    '/readyz',
    '/api/healthz',
    '/api/gcs_healthz',
    '/api/local_raylet_healthz',
    '/-/healthz',
  ])
    assert.equal((await raw(cluster.url, { path })).status, 200, path);
});
