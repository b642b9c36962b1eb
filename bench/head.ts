/** A whole cluster on this machine: how fast jobs get in, start and speak, how it bears a crowd, what it costs idle. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Measurement } from '../scripts/bench.ts';
import { costOf, held, percentile, type ShippedCluster, show, withShippedCluster } from './bed/shipped-cluster.ts';

const jobs = '/api/manta/v1/jobs';
const far = Date.now() + 30 * 86_400_000;

const wide = `cluster_name: default
provider: {type: process}
max_workers: 1
idle_timeout_minutes: 60
head_node_type: head
available_node_types:
  head: {resources: {CPU: 0}, node_config: {}}
  worker: {resources: {CPU: 100}, min_workers: 1, max_workers: 1, node_config: {}}
`;

export async function run(): Promise<Measurement[]> {
  const idle = await withShippedCluster(undefined, measureIdle);
  const busy = await withShippedCluster(wide, async (cluster) => [
    ...(await measureStarts(cluster)),
    ...(await measureFollowing(cluster)),
    ...(await measureCrowd(cluster)),
  ]);
  return [...busy, ...idle];
}

async function submit(cluster: ShippedCluster, body: Record<string, unknown>): Promise<string> {
  const answer = await cluster.send('POST', jobs, body);
  if (answer.status !== 200) throw new Error(`a submission was answered ${answer.status}: ${answer.body}`);
  return (JSON.parse(answer.body) as { id: string }).id;
}

/** Calls back at each state of each job, as the page hears of it. */
async function watchJobs(cluster: ShippedCluster, take: (id: string, state: string) => void): Promise<() => void> {
  return cluster.follow('/api/manta/v1/stream', (event, data) => {
    if (event !== 'job') return;
    const { id, state } = JSON.parse(data) as { id: string; state: string };
    take(id, state);
  });
}

async function measureStarts(cluster: ShippedCluster): Promise<Measurement[]> {
  const reached = new Map<string, () => void>();
  const leave = await watchJobs(cluster, (id, state) => reached.get(`${id} ${state}`)?.());
  const when = (id: string, state: string): Promise<void> =>
    new Promise((resolve) => reached.set(`${id} ${state}`, resolve));
  const times: number[] = [];
  for (let index = -20; index < 300; index++) {
    const id = `start-${index + 20}`;
    const [running, over] = [when(id, 'running'), when(id, 'succeeded')];
    const begin = performance.now();
    await submit(cluster, { id, entrypoint: 'true', resources: { CPU: 1 } });
    await running;
    if (index >= 0) times.push(performance.now() - begin);
    await over;
  }
  leave();
  const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)];
  return [
    held('head: submit to running, p50', `${p50.toFixed(1)} ms`, 'at most 50 ms', p50 <= 50),
    held('head: submit to running, p99', `${p99.toFixed(1)} ms`, 'at most 250 ms', p99 <= 250),
  ];
}

async function measureFollowing(cluster: ShippedCluster): Promise<Measurement[]> {
  const id = await submit(cluster, {
    entrypoint: 'for i in $(seq 1 300); do date +%s%N; sleep 0.02; done',
    resources: { CPU: 1 },
  });
  const times: number[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const leave = await cluster.follow(`${jobs}/${id}/logs/follow`, (event, data) => {
    const now = performance.timeOrigin + performance.now();
    if (event === 'end') return resolve();
    const { text = '' } = JSON.parse(data || '{}') as { text?: string };
    for (const line of text.split('\n')) if (line !== '') times.push(now - Number(line) / 1e6);
  });
  await promise;
  leave();
  const p99 = percentile(times, 0.99);
  return [
    held(
      `head: printed line to follower, p99 of ${times.length}`,
      `${p99.toFixed(1)} ms`,
      'at most 100 ms',
      p99 <= 100,
    ),
  ];
}

async function measureCrowd(cluster: ShippedCluster): Promise<Measurement[]> {
  const inTurns = async (count: number, work: (index: number) => Promise<unknown>): Promise<number> => {
    let next = 0;
    const begin = performance.now();
    const worker = async (): Promise<void> => {
      for (let index = next++; index < count; index = next++) await work(index);
    };
    await Promise.all(Array.from({ length: 32 }, worker));
    return count / ((performance.now() - begin) / 1000);
  };
  await submit(cluster, { id: 'holder', entrypoint: 'sleep 1000', resources: { CPU: 100 } });
  const queued = await inTurns(1_000, (index) =>
    submit(cluster, { id: `queued-${index}`, entrypoint: 'true', resources: { CPU: 100 } }),
  );
  const before = costOf(cluster.mantad).seconds;
  const rate = await inTurns(10_000, (index) =>
    submit(cluster, { id: `finished-${index}`, entrypoint: 'true', start_after: far }),
  );
  const each = (costOf(cluster.mantad).seconds - before) / 10;
  await inTurns(10_000, (index) => cluster.send('POST', `${jobs}/finished-${index}/stop`));
  const lists = { page: [] as number[], all: [] as number[] };
  for (let round = 0; round < 200; round++) {
    const begin = performance.now();
    await cluster.send('GET', `${jobs}?limit=100`);
    lists.page.push(performance.now() - begin);
    await sleep(5);
  }
  for (let round = 0; round < 40; round++) {
    const begin = performance.now();
    await cluster.send('GET', '/api/jobs/');
    lists.all.push(performance.now() - begin);
  }
  const { megabytes } = costOf(cluster.mantad);
  const [page, all] = [percentile(lists.page, 0.99), percentile(lists.all, 0.99)];
  return [
    held(
      'head: submits over HTTP, queued behind a full cluster',
      `${queued.toFixed(0)} a second`,
      'at least 1,000',
      queued >= 1_000,
    ),
    held('head: submits over HTTP, 10,000 of them', `${rate.toFixed(0)} a second`, 'at least 1,000', rate >= 1_000),
    { name: 'head: processor time of mantad for a submit', ours: `${each.toFixed(2)} ms` },
    held(
      'head: a page of 1,000 queued and 10,000 finished jobs, p99',
      `${page.toFixed(1)} ms`,
      'at most 100 ms',
      page <= 100,
    ),
    { name: "head: all 11,000 jobs by Ray's path, p99", ours: `${all.toFixed(1)} ms` },
    held('head: memory of mantad with all of them', `${megabytes.toFixed(0)} MB`, 'at most 300 MB', megabytes <= 300),
  ];
}

async function measureIdle(cluster: ShippedCluster): Promise<Measurement[]> {
  await sleep(5_000);
  const before = costOf(cluster.mantad);
  const begin = performance.now();
  await sleep(20_000);
  const after = costOf(cluster.mantad);
  const share = ((after.seconds - before.seconds) / ((performance.now() - begin) / 1000)) * 100;
  return [
    held('head: idle mantad, processor', `${share.toFixed(2)} % of a core`, 'under 1 %', share < 1),
    held('head: idle mantad, memory', `${after.megabytes.toFixed(0)} MB`, 'under 120 MB', after.megabytes < 120),
  ];
}

if (import.meta.main) show(await run());
