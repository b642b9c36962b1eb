import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Plan } from '../../../src/core/plan/plan.ts';
import type { ScalingSpec } from '../../../src/core/scaling.ts';
import type { ClusterStatus } from '../../../src/core/status/status.ts';
import { RayReports } from '../../../src/head/ray/watch/ray-reports.ts';
import { until } from '../../contract/waiting.ts';

const statusOf = (count: number): ClusterStatus => ({
  at: 0,
  active: [],
  idle: [],
  launching: [{ type: 'cpu', count }],
  pending: [],
  failedLaunches: [],
  failedNodes: [],
  demand: { tasks: [], gangs: [], standing: [] },
});
const plan: Plan = { at: 0, actions: [], infeasible: [], waiting: [], facts: [], resources: {} };
const type = { name: 'cpu', resources: { CPU: 1 }, labels: {}, priority: 0, minWorkers: 0, maxWorkers: 4 };
const specOf = (maxWorkers: number): ScalingSpec => ({
  maxWorkers,
  upscalingSpeed: 1,
  headType: 'head',
  replaceOutdated: false,
  nodeTypes: [{ ...type, launchHash: '', hostsPerSlice: 1, offers: [] }],
});

function bed() {
  const reported: number[] = [];
  const limits: (number | undefined)[] = [];
  const lines: string[] = [];
  const state = { spec: specOf(3), gate: Promise.resolve(), refuses: false };
  const reports = new RayReports({
    engine: {
      report: async ({ launching }) => {
        reported.push(launching[0]?.count ?? 0);
        await state.gate;
      },
      reportConfig: async ({ maxWorkers }) => {
        if (state.refuses) throw new Error('the GCS is away');
        limits.push(maxWorkers);
      },
      tellDrivers: async () => true,
    },
    clock: { now: () => 0, sleep: async () => {} },
    spec: () => state.spec,
    log: (line) => lines.push(line),
    ending: new AbortController().signal,
  });
  return { reports, reported, limits, lines, state };
}

test('a Ray that is slow gets the newest report next, and none of those between', async () => {
  const { reports, reported, state } = bed();
  const gate = Promise.withResolvers<void>();
  state.gate = gate.promise;
  for (const count of [1, 2, 3]) reports.pass(statusOf(count), plan);
  gate.resolve();
  await until('the newest is sent', () => reported.includes(3));
  assert.deepEqual(reported, [1, 3]);
  reports.pass(statusOf(4), plan);
  await until('the next is sent', () => reported.includes(4));
});

test('the limits of the cluster are told once, again when they change, and until Ray takes them', async () => {
  const { reports, limits, lines, state } = bed();
  for (let pass = 0; pass < 3; pass++) reports.pass(statusOf(1), plan);
  await until('they are told', () => limits.length > 0);
  state.spec = specOf(5);
  state.refuses = true;
  reports.pass(statusOf(1), plan);
  await until('the refusal is in the log', () => lines.length > 0);
  state.refuses = false;
  reports.pass(statusOf(1), plan);
  await until('they are told again', () => limits.length > 1);
  assert.deepEqual(limits, [3, 5]);
  assert.deepEqual(lines, ['could not send the limits to Ray: the GCS is away']);
});
