import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeAnswer, WhyAnswer } from '../../../src/api/types.ts';
import { eventually, kill, type Owner, TestCluster } from '../../head/test-cluster.ts';
import { eventLines, judge } from './judge.ts';
import type { Demand, Fault, Scenario } from './scenario.ts';

const idleSeconds = 2;

/** What a fault is in the words of `provider.manta.faults`. */
const rules: Readonly<Partial<Record<Fault, object>>> = {
  'lost answer': { type: 'plain', lose_answer: true, times: 1 },
  'partial fill': { type: 'plain', capacity: 2, times: 1 },
  throttled: { type: 'plain', refuse: 'throttled', times: 2 },
  'no capacity once': { type: 'rig', refuse: 'no-capacity', times: 1 },
  'slow boot': { type: 'plain', boot_delay_s: 4 },
  'preempted with notice': { type: 'plain', preempt_after_s: 30, preempt_notice_s: 15, times: 1 },
};

/** Plays a scenario on an embedded cluster of its own: pieces of work are jobs there. */
export async function playEmbedded(scenario: Scenario, owner: Owner): Promise<void> {
  const { demand, fault, outcome } = scenario;
  const cluster = await TestCluster.start(owner, { yaml: clusterFile(fault, 0) });
  const workers = async (): Promise<readonly NodeAnswer[]> =>
    (await cluster.nodes()).filter(({ kind }) => kind === 'worker');
  try {
    if (demand.kind === 'floor') {
      await up(cluster, clusterFile(fault, demand.count));
      await stayIdle(workers, demand.count);
      await up(cluster, clusterFile(fault, 0));
    } else if (demand.kind === 'request') {
      const request = (bundles: readonly object[]) =>
        cluster.ask('POST', '/api/manta/v1/request-resources', {
          bundles: bundles.map((resources) => ({ resources })),
        });
      assert.equal((await request(demand.bundles)).status, 200);
      await stayIdle(workers, outcome.asked);
      assert.equal((await request([])).status, 200);
    } else if (outcome.work === 'impossible') await refused(cluster, demand);
    else await work(scenario, cluster, workers);
    await eventually('no worker is left', async () => (await workers()).length === 0);
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${eventLines(await cluster.events())}`, { cause: error });
  }
  // A job that can never run is refused to whoever submits it: there is nothing to tell anybody else.
  const tells = outcome.work === 'impossible' ? [] : (outcome.tells ?? []);
  judge({ ...scenario, outcome: { ...outcome, tells } }, await cluster.events());
  assert.equal((await cluster.down()).code, 0);
}

async function work(
  { demand, fault, outcome }: Scenario,
  cluster: TestCluster,
  workers: () => Promise<readonly NodeAnswer[]>,
): Promise<void> {
  const folder = join(cluster.home.path, 'turnstile');
  mkdirSync(folder);
  const jobs = jobsOf(demand);
  for (const [piece, job] of jobs.entries()) {
    const at = join(folder, String(piece));
    const entrypoint = `touch ${at}.at; while [ ! -e ${at}.go ] && [ ! -e ${folder}/all.go ]; do sleep 0.1; done`;
    await cluster.submit({ id: `piece-${piece}`, entrypoint, ...job, retries: { node_lost: 2, preempted: 2 } });
  }
  const running = async (): Promise<number> =>
    (await workers()).filter(({ status, ...node }) => status === 'running' && isHeld(node)).length;
  const hosts = outcome.hosts ?? outcome.asked;
  if (outcome.why !== undefined)
    await eventually('why says it', async () => {
      const { chain } = await cluster.get<WhyAnswer>('/why/demand/-');
      const text = chain.map((step) => step.text).join('\n');
      return outcome.why?.every((words) => words.test(text));
    });
  await eventually('all pieces have a place', async () => {
    const placed = readdirSync(folder).filter((name) => name.endsWith('.at')).length;
    return placed === jobs.length && (fault === 'preempted with notice' || (await running()) === (hosts || 1));
  });
  if (fault === 'machine vanished' || fault === 'preempted with notice') {
    const [first] = await workers();
    if (fault === 'machine vanished') kill([...cluster.agents()].find(([id]) => first?.machine?.endsWith(id))![1]);
    await eventually('it runs elsewhere', async () => {
      const { attempts, state } = await cluster.job('piece-0');
      return attempts.length === 2 && state === 'running';
    });
  }
  if (fault === 'busy beside idle') {
    const busy = (await workers()).filter(({ jobs: held }) => held.length > 0);
    const [idle] = busy;
    for (const id of idle!.jobs) writeFileSync(join(folder, `${id.replace('piece-', '')}.go`), '');
    await eventually('the idle one goes, and it alone', async () => {
      const left = await workers();
      return left.length === 1 && left[0]?.instance !== idle!.instance && left[0]?.status === 'running';
    });
  }
  writeFileSync(join(folder, 'all.go'), '');
  for (const piece of jobs.keys()) assert.equal((await cluster.finish(`piece-${piece}`)).state, 'succeeded');
}

/** A gang's entrypoint runs on one node; on the others it keeps room. */
const isHeld = ({ jobs, total, available }: Pick<NodeAnswer, 'jobs' | 'total' | 'available'>): boolean =>
  jobs.length > 0 || Object.entries(total).some(([name, amount]) => (available[name] ?? 0) < amount);

async function refused(cluster: TestCluster, demand: Demand): Promise<void> {
  const [job] = jobsOf(demand);
  const { status, body } = await cluster.ask('POST', '/api/manta/v1/jobs', { entrypoint: 'true', ...job });
  assert.equal(status, 422);
  assert.match((body as { error: { message: string } }).error.message, /nearest is 'plain'/);
}

function jobsOf(demand: Demand): readonly object[] {
  if (demand.kind === 'group') return [{ gang: { bundles: demand.bundles, strategy: demand.strategy } }];
  if (demand.kind !== 'tasks' && demand.kind !== 'actors') return [];
  const { count, cpus = 0, resources = {}, labels } = demand;
  const job = { resources: { ...(cpus > 0 && { CPU: cpus }), ...resources }, ...(labels && { labels }) };
  return Array.from({ length: count }, () => job);
}

async function up(cluster: TestCluster, yaml: string): Promise<void> {
  const file = join(cluster.home.path, 'cluster.yaml');
  writeFileSync(file, yaml);
  const { code, err } = await cluster.home.run('up', '-y', file);
  assert.equal(code, 0, err);
}

/** So many workers come, and stay for longer than idle ones do. */
async function stayIdle(workers: () => Promise<readonly NodeAnswer[]>, count: number): Promise<void> {
  await eventually(`${count} workers stay though they are idle`, async () => {
    const idle = (await workers()).filter(({ idleFor = 0 }) => idleFor > 2_000 * idleSeconds);
    return idle.length === count;
  });
}

function clusterFile(fault: Fault, minWorkers: number): string {
  const type = (resources: Readonly<Record<string, number>>): object => ({
    resources,
    node_config: {},
    idle_timeout_s: idleSeconds,
  });
  const rule = rules[fault];
  // JSON is YAML.
  return JSON.stringify({
    cluster_name: 'embedded',
    provider: { type: 'process', ...(rule && { manta: { faults: [rule] } }) },
    max_workers: 6,
    head_node_type: 'head',
    available_node_types: {
      head: { resources: { CPU: 0 }, node_config: {} },
      plain: { ...type({ CPU: 2 }), min_workers: minWorkers },
      gold: { ...type({ CPU: 0, shine: 1 }), labels: { tier: 'gold' } },
      dull: { ...type({ CPU: 0, shine: 1 }), labels: { tier: 'dull' } },
      rig: type({ CPU: 0, rig: 2 }),
    },
  });
}
