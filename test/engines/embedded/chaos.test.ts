// needs: cluster

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { logExtent, readLog } from '../../../src/base/files/log-segments.ts';
import { never, until } from '../../contract/waiting.ts';
import { TestCluster } from './cluster.ts';

/** A small generator of our own: one seed gives one sequence. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const seed = Number(process.env.MANTA_TEST_SEED ?? Date.now() % 100_000);

test(`whatever is killed, every attempt ends once and truthfully (MANTA_TEST_SEED=${seed})`, async (t) => {
  const random = randomFrom(seed);
  const cluster = new TestCluster(t);
  cluster.types.wide = { resources: { CPU: 6 } };
  await cluster.open();
  const alive = await cluster.launch('wide', 2);
  const ids: string[] = [];
  const stopped = new Set<string>();
  const start = async (): Promise<void> => {
    const id = `c${ids.length}.1`;
    ids.push(id);
    const left = random(3) === 0 ? 'setsid sleep 1000 &' : '';
    const entrypoint = `echo "$ID" >> ${cluster.folder}/ran; ${left} echo begin; sleep 0.${random(5)}; echo end`;
    const gang =
      random(6) === 0 ? { gang: { bundles: [{ CPU: 1 }, { CPU: 1 }], strategy: 'SPREAD' }, resources: {} } : {};
    await cluster.engine.start(cluster.order(id, entrypoint, { env: { ID: id }, ...gang }), never);
  };
  const mischief = [
    async () => void (await cluster.open()),
    async () => {
      const victim = alive.splice(random(alive.length), 1)[0] ?? '';
      await until('it has signed in', () => existsSync(join(cluster.folder, 'instances', victim, 'process.json')));
      process.kill(cluster.agentPid(victim), 'SIGKILL');
      alive.push(...(await cluster.launch('wide', 1, false)));
    },
    async () => {
      const victim = alive.splice(random(alive.length), 1)[0] ?? '';
      await cluster.provider.terminate([victim], never);
      alive.push(...(await cluster.launch('wide', 1, false)));
    },
    async () => {
      const id = ids[random(ids.length)] ?? '';
      stopped.add(id);
      await cluster.engine.stop(id, random(2) * 200, never);
    },
  ];
  for (let round = 0; round < 80; round++) {
    await start();
    if (random(5) === 0) await mischief[random(mischief.length)]?.();
    await sleep(random(40));
  }
  await cluster.open();
  for (const id of ids) await cluster.ended(id);

  const ran = existsSync(join(cluster.folder, 'ran'))
    ? readFileSync(join(cluster.folder, 'ran'), 'utf8').split('\n')
    : [];
  for (const report of await cluster.engine.attempts(never)) {
    const times = ran.filter((id) => id === report.id).length;
    const log = join(cluster.folder, 'logs', report.id);
    const text = (await readLog(log, 0, 1 << 16)).bytes.toString();
    const what = `${JSON.stringify(report)} ran ${times} times and said ${JSON.stringify(text)}`;
    assert.ok(times <= 1, what);
    assert.ok(['succeeded', 'stopped', 'node-lost'].includes(report.cause ?? ''), what);
    if (report.cause === 'succeeded') assert.equal(text, 'begin\nend\n', what);
    if (report.cause === 'stopped') assert.ok(stopped.has(report.id), what);
    assert.deepEqual(await logExtent(log), { start: 0, size: report.logSize, ended: true }, what);
  }
  await until('nothing is left of it', () => cluster.leftovers().length === 0);
  await cluster.provider.settled();
  assert.equal((await cluster.engine.attempts(never)).length, ids.length);
});
