import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isNothing, planText } from '../../src/cli/commands/up/plan-text.ts';
import { changedKeys } from '../../src/core/spec/changes.ts';
import type { ClusterSpec } from '../../src/core/spec/cluster.ts';
import type { WorkerNow } from '../../src/launcher/reach/current-cluster.ts';
import type { UpPlan } from '../../src/launcher/up/plan.ts';
import { planWorkers, type WorkerPlan } from '../../src/launcher/up/plan-workers.ts';
import { loadSpec } from '../../src/state/load-spec.ts';

const hosts = ['10.0.0.2', '10.0.0.3', '10.0.0.4'];
const specOf = (more = '', workers = hosts): ClusterSpec => {
  const text = `cluster_name: team\nprovider: {type: local, head_ip: 10.0.0.1, worker_ips: [${workers.join(', ')}]}\n${more}`;
  return loadSpec({ name: 'team', config: { path: 'cluster.yaml', text, env: {} } });
};
const there = (names: readonly string[], more: Partial<WorkerNow> = {}): WorkerNow[] =>
  names.map((name) => ({ name, type: 'local.cluster.node', ending: false, ...more }));

const planned = (more: Partial<Parameters<typeof planWorkers>[0]> = {}): WorkerPlan =>
  planWorkers({
    spec: specOf(),
    before: specOf(),
    hosts,
    now: there(hosts),
    headRestarts: false,
    filesChanged: false,
    leaveWorkers: false,
    ...more,
  });

const planOf = (workers: WorkerPlan, more: Partial<UpPlan> = {}): UpPlan => ({
  cluster: 'team',
  known: true,
  head: { host: '10.0.0.1', action: 'nothing', parts: [], foreignRay: false },
  workers,
  changes: [],
  runningJobs: { total: 0, names: [] },
  ...more,
});
const linesOf = (workers: WorkerPlan): readonly string[] =>
  planText(planOf(workers))
    .split('\n')
    .filter((line) => /^ {2}workers|^ {11}/.test(line))
    .map((line) => line.slice(11));

const all = '10.0.0.2, 10.0.0.3, 10.0.0.4';

test('workers of a cluster in which nothing changed stay, and there is nothing to agree to', () => {
  assert.deepEqual(linesOf(planned()), [`${all}: unchanged`]);
  assert.ok(isNothing(planOf(planned())));
});

test('a lowered limit says how many end', () => {
  const plan = planned({ spec: specOf('max_workers: 2\n') });
  assert.equal(plan.tooMany, 1);
  assert.match(linesOf(plan)[1]!, /^1 of them: drain and terminate, because the limits are lower/);
  assert.ok(!isNothing(planOf(plan)));
});

test('another list of mounts outdates workers in containers, whose part they are, and no others', () => {
  const mounted = 'file_mounts: {/opt/x: ./x}\n';
  const container = 'docker: {image: "ray:1", container_name: ray}\n';
  assert.deepEqual(planned({ spec: specOf(mounted), filesChanged: true }).updated, hosts);
  const plan = planned({ before: specOf(container), spec: specOf(container + mounted), filesChanged: true });
  assert.deepEqual(plan.rolled, hosts);
});

test('a raised limit says which host joins', () => {
  const plan = planned({ before: specOf('max_workers: 2\n'), now: there(hosts.slice(0, 2)) });
  assert.deepEqual(linesOf(plan), ['10.0.0.2, 10.0.0.3: unchanged', '10.0.0.4: set up and join']);
});

test('changed contents of files are brought to the workers, whose Ray goes on', () => {
  assert.deepEqual(linesOf(planned({ filesChanged: true })), [
    `${all}: sync files and run setup commands again; Ray keeps running`,
  ]);
});

test('changed commands of workers replace them in turn, unless nothing is to restart', () => {
  const spec = specOf('worker_setup_commands: [make]\n');
  assert.deepEqual(linesOf(planned({ spec })), [`${all}: drain and set up again, one after another`]);
  assert.deepEqual(linesOf(planned({ spec, leaveWorkers: true })), [`${all}: unchanged`]);
  assert.deepEqual(linesOf(planned({ spec: specOf('head_setup_commands: [make]\n') })), [`${all}: unchanged`]);
});

test('a head that starts anew takes along the workers that are there, and no others', () => {
  assert.deepEqual(linesOf(planned({ headRestarts: true })), [`${all}: rejoin, because Ray's head restarts`]);
  assert.deepEqual(linesOf(planned({ headRestarts: true, now: [] })), [`${all}: set up and join`]);
});

test('a host that the file no longer has is emptied; one that is new joins', () => {
  const now = [...hosts.slice(1), '10.0.0.5'];
  assert.deepEqual(linesOf(planned({ spec: specOf('', now), hosts: now })), [
    '10.0.0.3, 10.0.0.4: unchanged',
    '10.0.0.2: drain and terminate, because they are no longer in the file',
    '10.0.0.5: set up and join',
  ]);
});

test('a worker that ends already is told apart, and its host is not free yet', () => {
  const now = [...there(hosts.slice(1)), ...there(['10.0.0.2'], { ending: true })];
  assert.deepEqual(linesOf(planned({ now })), [
    '10.0.0.3, 10.0.0.4: unchanged',
    '10.0.0.2: already terminating',
    '1 more: set up and join',
  ]);
});

const changed = (before: string, after: string): string =>
  planText(planOf(planned(), { changes: changedKeys({ setup_commands: [before] }, { setup_commands: [after] }) }));

test('of a long value that changed the plan shows the part that is another', () => {
  const long = 'pip install torch==2.1.0 && pip install --upgrade --no-cache-dir transformers datasets ';
  const text = changed(`${long}accelerate==1 && pip check`, `${long}accelerate==2 && pip check`);
  assert.match(text, /accelerate==1 && pip.* -> .*accelerate==2 && pip/);
});

test('a secret stays hidden in the plan, also where it is what changed', () => {
  const text = changed(
    'export WANDB_API_KEY="s3cr3tkey123456789"; login s3cr3tkey123456789',
    'export WANDB_API_KEY="an0therkey123456789"; login an0therkey123456789',
  );
  assert.match(text, /setup_commands: changed \(value hidden\)/);
  const file = { provider: { type: 'external', api_token: 'hunter22hunter22' } };
  const plan = planOf(planned(), { changes: changedKeys({}, file) });
  assert.doesNotMatch(JSON.stringify(plan) + planText(plan) + text, /s3cr3t|an0ther|hunter22/);
});

test('what a restart of Ray ends is named, drivers among it', () => {
  const runningJobs = { total: 3, names: ['raysubmit_1', '01000000'] };
  assert.match(
    planText(planOf(planned({ headRestarts: true }), { runningJobs })),
    /jobs +3 running, which the restart of Ray stops: raysubmit_1, 01000000, …/,
  );
});

test('a cluster whose head another one holds is told before anything is done', () => {
  const more = { heldBy: { cluster: 'team', owner: 'ada@laptop' }, orphan: { name: 'team', sameFile: false } };
  const text = planText(planOf(planned({ now: [] }), { ...more, known: false, cluster: 'team2' }));
  assert.match(text, /head +10\.0\.0\.1: in use by the cluster 'team' of ada@laptop; this cluster cannot start/);
  assert.match(text, /warning {2}another file with this head started the cluster 'team', which keeps running/);
});
