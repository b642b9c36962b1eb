// needs: cluster

/** A user who wants mantad's memory, against a mantad that has little of it. */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually, TestCluster, workersYaml } from './test-cluster.ts';

const jobs = '/api/manta/v1/jobs';

/** JSON of a megabyte that is a third of a million values. */
const manyValues = `{"excludes":[${'"",'.repeat(340_000)}""]}`;
const longText = JSON.stringify({ excludes: ['é'.repeat(500_000)] });

test('mantad with a small heap survives a hostile user, and the jobs of others go on', async (t) => {
  const cluster = await TestCluster.start(t, {
    env: { NODE_OPTIONS: '--max-old-space-size=512' },
    yaml: workersYaml({ cpus: 8, min: 1, max: 1 }),
  });
  const daemon = cluster.mantad;
  const add = async (name: string): Promise<string> => {
    const answer = await cluster.request('POST', '/api/manta/v1/users', { name });
    return ((await answer.json()) as { token: string }).token;
  };
  const hostile = { authorization: `Bearer ${await add('hostile')}` };
  const ada = { authorization: `Bearer ${await add('ada')}` };
  /** The status, whatever is said; 0 when the line broke. */
  const ask = async (method: string, path: string, body?: string): Promise<number> => {
    try {
      const answer = await cluster.request(method, path, body, hostile);
      await answer.arrayBuffer();
      return answer.status;
    } catch {
      return 0;
    }
  };
  const atOnce = async (count: number, rounds: number, work: (i: number) => Promise<unknown>): Promise<void> => {
    const loop = async (first: number): Promise<void> => {
      for (let round = 0; round < rounds; round++) await work(round * count + first);
    };
    await Promise.all(Array.from({ length: count }, (_, i) => loop(i)));
  };

  const go = join(cluster.home.path, 'go');
  const running = {
    id: 'running',
    entrypoint: `while [ ! -e ${go} ]; do sleep 0.1; done; echo last`,
    resources: { CPU: 1 },
  };
  assert.equal((await cluster.request('POST', jobs, running, ada)).status, 200);
  await cluster.reach('running', 'running');
  const noisy = { id: 'noisy', entrypoint: "head -c 9437184 /dev/zero | tr '\\0' '\\n'", resources: { CPU: 1 } };
  assert.equal((await cluster.request('POST', jobs, noisy, hostile)).status, 200);
  await cluster.reach('noisy', 'succeeded');

  const statuses = new Set<number>();
  const submit = async (id: string, env: string): Promise<void> => {
    statuses.add(await ask('POST', jobs, `{"id":"${id}","entrypoint":"true","start_after":2e14,"runtime_env":${env}}`));
  };
  const stalled = Array.from({ length: 20 }, () => {
    const sent = request(`${cluster.url}/api/jobs/`, { headers: hostile }, (answer) => answer.pause());
    sent.on('error', () => {});
    sent.end();
    return sent;
  });
  t.after(() => {
    for (const sent of stalled) sent.destroy();
  });
  const over = new AbortController();
  const attack = Promise.all([
    atOnce(16, 12, (i) => submit(`text-${i}`, longText)),
    atOnce(8, 3, (i) => submit(`objects-${i}`, manyValues)),
    atOnce(8, 5, async (i) => {
      await submit(`brief-${i}`, longText);
      await ask('POST', `${jobs}/brief-${i}/stop`);
    }),
    atOnce(16, 4, (i) => ask('POST', jobs, `{"entrypoint":"x","x${i}":[${'[],'.repeat(650_000)}1]}`)),
    atOnce(10, 5, () => ask('GET', `${jobs}/noisy/logs?grep=%0A`)),
    atOnce(10, 5, () => ask('GET', `${jobs}/noisy/logs`)),
    atOnce(10, 4, () => ask('GET', '/api/jobs/')),
    atOnce(10, 5, () => ask('GET', `${jobs}?limit=1000&search=t`)),
  ]).finally(() => over.abort());

  let ended = 0;
  while (ended === 0 || !over.signal.aborted) {
    const id = `ada-${ended}`;
    await eventually('the job of the other user is taken', async () => {
      const body = { id, entrypoint: 'echo done', resources: { CPU: 1 } };
      return (await cluster.request('POST', jobs, body, ada).catch(() => undefined))?.status === 200;
    });
    assert.equal((await cluster.finish(id)).state, 'succeeded');
    ended += 1;
  }
  await attack;
  t.diagnostic(`${ended} jobs of the other user ended meanwhile; the hostile one heard ${[...statuses].join(', ')}`);

  assert.ok(
    statuses.has(200) && statuses.has(429),
    `jobs were taken until there were too many: ${[...statuses].join(', ')}`,
  );
  assert.equal(cluster.mantad, daemon, 'mantad is the one that was started');
  assert.equal((await cluster.job('running')).state, 'running');
  assert.ok(!existsSync(go));
  writeFileSync(go, '');
  assert.equal((await cluster.finish('running')).state, 'succeeded');
});
