import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plan } from '../../src/core/plan/plan-cluster.ts';
import { faultProfiles } from '../../src/simulation/faults.ts';
import { outcomePage } from '../../src/simulation/report/html.ts';
import { outcomesMarkdown } from '../../src/simulation/report/markdown.ts';
import { outcomeOf } from '../../src/simulation/report/outcome.ts';
import { outcomeText } from '../../src/simulation/report/text.ts';
import { builtInScenario } from '../../src/simulation/scenario/load-workload.ts';
import { simulateManta, simulateRay } from '../../src/simulation/simulate.ts';
import { publishedWorkloads } from '../../src/simulation/workloads/published.ts';
import { scenarioOf, smallCluster } from './worlds.ts';

const calm = { seed: 1, rates: faultProfiles.none, sampleEvery: 10_000 };
const burst = scenarioOf({
  ...smallCluster,
  name: 'small <burst>',
  work: [{ tasks: 12, needs: { CPU: 1 }, duration: '30s' }],
});

test('a burst is done, everything is gone afterwards, and the bill is for what was used', async () => {
  const { measures, finished, violations } = await simulateManta({ ...calm, scenario: burst }, plan);
  assert.deepEqual(violations, []);
  assert.ok(finished);
  assert.equal(measures.finished, 12);
  assert.equal(measures.launches, measures.terminations);
  assert.ok(measures.makespan >= 30_000 && measures.makespan < 300_000);
  const cost = (measures.nodeHours['cpu'] ?? 0) * 0.2 + (measures.nodeHours['gpu'] ?? 0) * 1;
  assert.ok(Math.abs((measures.cost ?? 0) - cost) < 1e-9);
});

test('every published workload is done without a broken rule', async () => {
  for (const file of publishedWorkloads) {
    const simulation = await simulateManta({ ...calm, scenario: builtInScenario(file) }, plan);
    assert.deepEqual(simulation.violations, [], file.name);
    assert.ok(simulation.finished, `${file.name} did not finish`);
  }
});

test('work that no type can hold is told as never finished instead of waited for', async () => {
  const scenario = scenarioOf({ ...smallCluster, work: [{ tasks: 1, needs: { CPU: 99 }, duration: '1s' }] });
  const { measures, finished } = await simulateManta({ ...calm, scenario }, plan);
  assert.equal(finished, false);
  assert.equal(measures.unfinished, 1);
});

test('types and resources whose names every object has are simulated like any other', async () => {
  const types = '{"constructor": {"resources": {"__proto__": 2}, "price": 1}, "head": {"resources": {}, "max": 0}}';
  const needs = JSON.parse('{"__proto__": 2}') as Record<string, number>;
  const scenario = scenarioOf({
    cluster: { head: 'head', types: JSON.parse(types) },
    work: [
      { tasks: 2, needs, duration: '30s' },
      {
        gangs: 1,
        bundles: [JSON.parse('{"__proto__": 1}'), JSON.parse('{"__proto__": 1}')],
        strategy: 'STRICT_PACK',
        duration: '30s',
      },
      { tasks: 1, needs: { toString: 1 } as unknown as Record<string, number>, duration: '30s' },
    ],
  });
  const { measures, violations } = await simulateManta({ ...calm, scenario }, plan);
  assert.deepEqual(violations, []);
  assert.equal(measures.finished, 3);
  assert.equal(measures.unfinished, 1);
  assert.ok((measures.nodeHours['constructor'] ?? 0) > 0);
});

test("Ray's loop looks every five seconds, starts one node of a type at a time, and ends idle ones", async () => {
  const launches: number[] = [];
  const seen: { count: number }[] = [];
  const result = await simulateRay({ ...calm, scenario: burst }, (request) => {
    const { current_instances: instances, resource_requests: requests } = request as {
      current_instances: {
        im_instance: { instance_id: string; status: string };
        ray_node: { idle_duration_ms: string } | null;
      }[];
      resource_requests: { count: string }[];
    };
    seen.push({ count: instances.filter(({ im_instance }) => im_instance.status === 'REQUESTED').length });
    const workers = instances.filter(({ im_instance }) => im_instance.instance_id !== 'ray-1');
    launches.push(workers.filter(({ im_instance }) => im_instance.status !== 'QUEUED').length);
    const idle = workers.filter(({ ray_node: node }) => Number(node?.idle_duration_ms ?? 0) > 60_000);
    return Promise.resolve({
      to_launch: requests.length > 0 && workers.length === 0 ? [{ instance_type: 'cpu', count: 3 }] : [],
      to_terminate: idle.map(({ im_instance }) => ({ instance_id: im_instance.instance_id, cause: 'IDLE' })),
    });
  });
  assert.ok(result.finished);
  assert.equal(result.measures.launches, 3);
  assert.equal(result.measures.finished, 12);
  assert.deepEqual(launches.slice(0, 5), [0, 1, 2, 3, 3]);
});

test('reports fit the terminal, name both sides, and the page needs nothing from elsewhere', async () => {
  const own = await simulateManta({ ...calm, scenario: burst }, plan);
  const outcome = outcomeOf(burst, 'none', [1], [[own, { ...own, decider: 'ray' }]]);
  const text = outcomeText(outcome, 60);
  assert.ok(
    text.split('\n').every((line) => line.length <= 60),
    text,
  );
  assert.match(text, /makespan .* 1\.00x/);
  const page = outcomePage([outcome]);
  assert.doesNotMatch(page, /https?:|<script|src=/);
  assert.match(page, /small &lt;burst&gt;/);
  assert.match(page, /prefers-color-scheme: dark/);
  assert.match(outcomesMarkdown([outcome]), /\| `small <burst>` \|.*\| 1\.00 \|/);
});
