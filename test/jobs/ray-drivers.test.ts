import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { wallClock } from '../../src/base/time/wall-clock.ts';
import type { Driver } from '../../src/engines/runner.ts';
import { patiently, until } from '../contract/waiting.ts';
import { makeApiBed } from './api-bed.ts';
import { FakeRunner } from './fake-runner.ts';

const driver: Driver = { id: '08000000', address: '10.0.0.1', pid: '42' };
const told = { job_id: '08000000', driver_info: { id: '08000000', node_ip_address: '10.0.0.1', pid: '42' } };

/** A job that runs, and an engine whose answers about drivers are in `drivers`. */
async function bedWith(t: { after(end: () => unknown): void }) {
  const runner = new FakeRunner(wallClock);
  const drivers = new Map<string, Driver>();
  const asked: string[] = [];
  let silent = false;
  const bed = await makeApiBed({
    runner,
    atEngine: {
      drivers: async () => {
        if (silent) throw new Error('no answer');
        return drivers;
      },
      driverOf: async (id) => {
        asked.push(id);
        if (silent) throw new Error('no answer');
        const found = [...drivers].find(([name, each]) => name === id || each.id === id);
        return found && { submission: found[0], driver: found[1] };
      },
    },
  });
  t.after(() => bed.remove());
  const details = async (id: string, token = bed.token) => {
    const answer = await bed.call('GET', `/api/jobs/${id}`, { token });
    return answer.status === 200 ? (answer.json() as Record<string, unknown>) : { status: answer.status };
  };
  const run = async (id: string): Promise<void> => {
    await bed.queue.submit({ id, user: 'ada', entrypoint: 'true' });
    await until('it runs', () => bed.queue.get(id)?.state === 'running');
  };
  return { bed, runner, drivers, asked, details, run, beSilent: () => void (silent = true) };
}

const shown = ({ job_id, driver_info }: Record<string, unknown>): unknown => ({ job_id, driver_info });
const none = { job_id: null, driver_info: null };

test('the driver of a job that runs is asked of the engine, by the name that its attempt has there', async (t) => {
  const { bed, runner, drivers, asked, details, run } = await bedWith(t);
  await run('a');
  assert.deepEqual(shown(await details('a')), none);
  runner.learn('a.1', { submission: 'a' });
  await until('the name is known', () => bed.queue.get('a')?.attempts.at(-1)?.submission === 'a');
  drivers.set('a', driver);
  assert.deepEqual(shown(await details('a')), told);
  assert.ok(asked.includes('a.1') && asked.at(-1) === 'a');
  const before = asked.length;
  await details('a');
  assert.equal(asked.length, before, 'clients that ask again and again do not ask the engine each time');
  const [listed = {}] = (await bed.call('GET', '/api/jobs/')).json() as Record<string, unknown>[];
  assert.deepEqual(shown(listed), told);
});

test('a job is found by its driver, for everything that a job is asked for', async (t) => {
  const { bed, runner, drivers, details, run } = await bedWith(t);
  await run('a');
  await run('b');
  drivers.set('a.1', driver);
  assert.equal((await details('08000000'))['submission_id'], 'a');
  assert.deepEqual(await details('09000000'), { status: 404 });
  const other = await bed.tokenOf('nosy');
  for (const [method, path] of [
    ['POST', '/stop'],
    ['GET', '/logs'],
    ['DELETE', ''],
  ] as const)
    assert.equal((await bed.call(method, `/api/jobs/08000000${path}`, { token: other })).status, 403, path);
  const [refused] = (await once(bed.socket('/api/jobs/08000000/logs/tail', { token: other }), 'error')) as [Error];
  assert.match(refused.message, /403/);
  const tail = bed.socket('/api/jobs/08000000/logs/tail');
  const closed = once(tail, 'close');
  let text = '';
  tail.on('message', (data) => (text += String(data)));
  runner.finish('a.1', 'succeeded', 0, 'said');
  const [code] = (await closed) as [number];
  assert.deepEqual([text, code], ['said', 1000]);
  assert.deepEqual((await bed.call('GET', '/api/jobs/08000000/logs')).json(), { logs: 'said' });
  assert.deepEqual((await bed.call('DELETE', '/api/jobs/08000000')).json(), { deleted: true });
  assert.equal(bed.queue.get('a'), undefined);
});

test('a driver is journalled with the end of its attempt, and told when the engine is gone', async (t) => {
  const { bed, runner, details, run, beSilent } = await bedWith(t);
  await run('a');
  runner.learn('a.1', { submission: 'a', driver });
  runner.finish('a.1');
  await bed.queue.wait('a', patiently());
  beSilent();
  for (const id of ['a', '08000000']) assert.deepEqual(shown(await details(id)), told);
  const [listed = {}] = (await bed.call('GET', '/api/jobs/')).json() as Record<string, unknown>[];
  assert.deepEqual(shown(listed), told);
});

test('ids of drivers begin anew with every Ray: the one that runs is meant, else the last', async (t) => {
  const { bed, runner, drivers, details, run } = await bedWith(t);
  for (const id of ['old', 'older']) {
    await run(id);
    runner.learn(`${id}.1`, { driver });
    runner.finish(`${id}.1`);
    await bed.queue.wait(id, patiently());
  }
  assert.equal((await details('08000000'))['submission_id'], 'older');
  await run('new');
  await run('newest');
  drivers.set('new.1', driver);
  assert.equal((await details('08000000'))['submission_id'], 'new');
});

test('a job whose own id looks like that of a driver is found by it', async (t) => {
  const { drivers, details, run } = await bedWith(t);
  await run('08000000');
  await run('a');
  drivers.set('a.1', driver);
  assert.equal((await details('08000000'))['submission_id'], '08000000');
});
