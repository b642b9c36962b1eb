/** What lab/cloud/behaviour.md says, on machines that are none. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import type { CloudOptions } from '../../lab/cloud/cloud.ts';
import { type FaultRule, faultNames } from '../../lab/cloud/faults.ts';
import type { ShownInstance } from '../../lab/cloud/instance.ts';
import { exchange } from '../../src/providers/lab-cloud/exchange.ts';
import { never, until } from '../contract/waiting.ts';
import { standInCloud } from '../providers/lab-cloud/cloud-bed.ts';

interface Said {
  readonly status: number;
  readonly body: {
    readonly instances: readonly ShownInstance[];
    readonly next_page?: string;
    readonly error: { readonly code: string; readonly message: string };
    readonly [key: string]: unknown;
  };
}

async function open(t: TestContext, options: Omit<CloudOptions, 'hypervisor'> = {}) {
  const cloud = await standInCloud(t, options);
  const ask = async (method: string, path: string, body?: unknown, token = cloud.token): Promise<Said> => {
    const { status, text } = await exchange(cloud.endpoint, { method, path, body, token, signal: never });
    return { status, body: JSON.parse(text) as Said['body'] };
  };
  const launch = (more: object = {}) => ask('POST', '/v1/instances', { machine_type: 'small', ...more });
  const list = async (query = '') => (await ask('GET', `/v1/instances${query}`)).body.instances;
  const state = async (id: string) => (await ask('GET', `/v1/instances/${id}`)).body['state'];
  const running = (id: string) => until(`${id} runs`, async () => (await state(id)) === 'running');
  return { ...cloud, ask, launch, list, state, running };
}

test('who has no token gets nothing, and an account sees only its own', async (t) => {
  const { ask, admin, launch, adminToken } = await open(t);
  await launch();
  assert.equal((await ask('GET', '/v1/instances', undefined, 'guess')).status, 401);
  assert.equal((await ask('GET', '/admin/instances')).status, 401, 'an account is no admin');
  assert.equal((await ask('GET', '/v1/instances', undefined, adminToken)).status, 401, 'the admin is no account');
  const other = await admin.open('other');
  assert.deepEqual((await ask('GET', '/v1/instances', undefined, other)).body.instances, []);
});

test('what cannot be is refused with its name', async (t) => {
  const { ask, launch } = await open(t);
  for (const [body, words] of [
    [{ machine_type: 'huge' }, /no machine type 'huge'/],
    [{ zone: 'mars' }, /no zone 'mars'/],
    [{ count: 0 }, /count must be/],
    [{ count: 1.5 }, /count must be/],
    [{ count: 2, min_count: 3 }, /count must be 3/],
    [{ market: 'grey' }, /market must be one of on-demand, spot/],
    [{ colour: 'red' }, /colour is not known; known are client_token/],
    [{ tags: { a: 1 } }, /tags.a must be a string/],
    [{ login: { user: 'x; rm', public_key: 'k' } }, /login.user is not a valid user name/],
    [{ login: { user: 'x', public_key: 'a\nb' } }, /must be one line/],
  ] as const) {
    const { status, body: said } = await launch(body);
    assert.equal(status, 400, JSON.stringify(body));
    assert.match(said.error.message, words);
  }
  assert.equal((await ask('GET', '/v1/instances?page_token=made-up')).status, 400);
  assert.equal((await ask('GET', '/v1/nothing')).status, 404);
  assert.equal((await ask('POST', '/v1/instances/terminate', { ids: 'all' })).status, 400);
});

test('a client token gives the same set, refuses another request, and forgets what was refused', async (t) => {
  const { launch, admin, ask } = await open(t);
  await admin.fault({ fault: 'no-capacity', times: 1 });
  assert.equal((await launch({ client_token: 'a', count: 2 })).body.error.code, 'InsufficientCapacity');
  const made = (await launch({ client_token: 'a', count: 2 })).body.instances.map(({ id }) => id);
  assert.deepEqual(
    (await launch({ client_token: 'a', count: 2 })).body.instances.map(({ id }) => id),
    made,
  );
  assert.equal((await launch({ client_token: 'a', count: 3 })).body.error.code, 'ClientTokenReused');
  const { body } = await ask('POST', '/v1/instances/terminate', { ids: [made[0], 'i-none'] });
  assert.deepEqual(body, { terminating: [made[0]], unknown: ['i-none'] });
});

test('capacity is counted by type, zone and market, and a launch takes the first zone with room', async (t) => {
  const { launch, admin } = await open(t);
  await admin.set({
    capacity: [
      { zone: 'lab-1a', market: 'spot', limit: 1 },
      { type: 'large', limit: 0 },
    ],
  });
  assert.equal((await launch({ market: 'spot' })).body.instances[0]?.zone, 'lab-1a');
  assert.equal((await launch({ market: 'spot' })).body.instances[0]?.zone, 'lab-1b');
  assert.equal((await launch({ market: 'spot', zone: 'lab-1a' })).body.error.code, 'InsufficientCapacity');
  assert.equal((await launch({ zone: 'lab-1a' })).body.instances[0]?.zone, 'lab-1a');
  assert.equal((await launch({ machine_type: 'large' })).body.error.code, 'InsufficientCapacity');
});

test('a quota bounds an account, in instances and in CPUs of a market, and gives what is left of it', async (t) => {
  const { launch, admin } = await open(t);
  await admin.set({ quotas: { instances: 5, cpus_on_demand: 6, cpus_spot: null } });
  assert.equal((await launch({ count: 4 })).body.instances.length, 3);
  const refused = await launch();
  assert.equal(refused.status, 403);
  assert.match(refused.body.error.message, /a quota of 6 CPUs \(on-demand\), of which 6 are in use/);
  assert.equal((await launch({ count: 4, market: 'spot' })).body.instances.length, 2);
  assert.equal((await launch({ market: 'spot', min_count: 1 })).body.error.code, 'QuotaExceeded');
});

test('all pages of a list tell of the same instant', async (t) => {
  const { launch, admin, ask, list } = await open(t, { settings: { page_size: 2 } });
  const { body } = await launch({ count: 5, tags: { a: '1' } });
  await launch({ tags: { a: '2' } });
  const first = await ask('GET', '/v1/instances?tag.a=1');
  await ask('POST', '/v1/instances/terminate', { ids: body.instances.map(({ id }) => id) });
  await launch({ tags: { a: '1' } });
  const seen = [...first.body.instances];
  for (let next = first.body.next_page; next !== undefined; ) {
    const page = await ask('GET', `/v1/instances?tag.a=1&page_token=${next}`);
    seen.push(...page.body.instances);
    next = page.body.next_page;
  }
  assert.deepEqual(
    seen.map(({ id }) => id),
    body.instances.map(({ id }) => id),
  );
  assert.ok(seen.every((instance) => instance.state === 'pending' || instance.state === 'running'));
  await admin.set({ page_size: 100 });
  assert.equal((await list('?tag.a=1')).length, 6, 'what has ended is shown for a while');
  await admin.set({ show_terminated_s: 0 });
  await until('it is shown no more', async () => (await list('?tag.a=1')).length === 1);
});

test('lists lag, and calls that change something do not', async (t) => {
  const { launch, admin, ask, list } = await open(t, { settings: { list_lag_s: 1000 } });
  const [made] = (await launch()).body.instances;
  assert.deepEqual(await list(), []);
  assert.equal((await ask('POST', `/v1/instances/${made!.id}/tags`, { a: 'b' })).status, 200);
  await admin.set({ list_lag_s: 0 });
  assert.equal((await list())[0]?.tags['a'], 'b');
  await admin.fault({ fault: 'stale-list', seconds: 1000, times: 1 });
  assert.deepEqual(await list(), []);
  assert.equal((await list()).length, 1);
});

test('a machine boots after its delay, and one that is ended before never does', async (t) => {
  const { launch, admin, ask, state, running, hypervisor } = await open(t, { settings: { boot_s: [1000, 1000] } });
  const [slow] = (await launch()).body.instances;
  assert.equal(slow!.state, 'pending');
  await ask('POST', '/v1/instances/terminate', { ids: [slow!.id] });
  await until('it has ended', async () => (await state(slow!.id)) === 'terminated');
  await admin.set({ boot_s: [0, 0] });
  const [quick] = (await launch()).body.instances;
  await running(quick!.id);
  assert.deepEqual([...hypervisor.up], [quick!.id]);
});

test('an instance is stopped and started, and not in the wrong state', async (t) => {
  const { launch, ask, state, running, hypervisor } = await open(t, { settings: { boot_s: [0.01, 0.02] } });
  const [made] = (await launch()).body.instances;
  const { id } = made!;
  assert.equal((await ask('POST', `/v1/instances/${id}/stop`)).body.error.code, 'IncorrectState');
  await running(id);
  await ask('POST', `/v1/instances/${id}/stop`);
  await until('it is stopped', async () => (await state(id)) === 'stopped');
  assert.equal(hypervisor.up.size, 0);
  await ask('POST', `/v1/instances/${id}/start`);
  await running(id);
  assert.equal((await ask('GET', `/v1/instances/${id}`)).body['reason'], undefined);
  assert.match(String((await ask('GET', `/v1/instances/${id}/console`)).body['output']), /said this/);
});

test('what switches itself off ends, or is stopped where that was asked for', async (t) => {
  const { launch, state, running, hypervisor } = await open(t);
  for (const [on_shutdown, wanted] of [
    [undefined, 'terminated'],
    ['stop', 'stopped'],
  ] as const) {
    const [made] = (await launch({ ...(on_shutdown && { on_shutdown }) })).body.instances;
    await running(made!.id);
    hypervisor.orders.at(-1)!.poweredOff();
    await until(`it is ${wanted}`, async () => (await state(made!.id)) === wanted);
  }
});

test('prices are those of the machine type until a rule changes them', async (t) => {
  const { ask, admin } = await open(t);
  const price = async (zone: string) => {
    const prices = (await ask('GET', '/v1/prices')).body['prices'] as readonly Record<string, unknown>[];
    return prices.find((each) => each['type'] === 'small' && each['zone'] === zone && each['market'] === 'spot')![
      'price'
    ];
  };
  assert.equal(await price('lab-1a'), 0.03);
  await admin.set({
    prices: [
      { market: 'spot', price: 1 },
      { zone: 'lab-1a', price: 2 },
    ],
  });
  assert.deepEqual([await price('lab-1a'), await price('lab-1b')], [2, 1]);
});

test('calls beyond the rate limit are throttled, each account by itself', async (t) => {
  const { ask, admin } = await open(t);
  const other = await admin.open('other');
  await admin.set({ rate_limit: { per_s: 0, burst: 2 } });
  const statuses: number[] = [];
  for (let call = 0; call < 4; call++) statuses.push((await ask('GET', '/v1/quotas')).status);
  assert.deepEqual(statuses, [200, 200, 429, 429]);
  assert.equal((await ask('GET', '/v1/quotas', undefined, other)).status, 200);
});

test('a fault happens where, when and as often as its rule says', async (t) => {
  const { ask, launch, admin } = await open(t);
  await admin.fault({ fault: 'throttle', call: 'launch', market: 'spot', skip: 1, times: 2 });
  const statuses: number[] = [];
  for (let call = 0; call < 4; call++) statuses.push((await launch({ market: 'spot' })).status);
  assert.deepEqual(statuses, [200, 429, 429, 200]);
  assert.equal((await launch()).status, 200);
  assert.equal((await ask('GET', '/v1/instances')).status, 200);
  assert.equal((await admin.faults())[0]?.happened, 2);
  await assert.rejects(admin.fault({ fault: 'odd' } as unknown as FaultRule), /must be one of/);
  await assert.rejects(admin.fault({ fault: 'throttle', tmes: 1 } as unknown as FaultRule), /tmes is not known/);
});

test('what is drawn repeats with the seed', async (t) => {
  const run = async (seed: number): Promise<number[]> => {
    const { ask, admin } = await open(t, { seed });
    await admin.fault({ fault: 'throttle', rate: 0.5 });
    const statuses: number[] = [];
    for (let call = 0; call < 20; call++) statuses.push((await ask('GET', '/v1/quotas')).status);
    return statuses;
  };
  const first = await run(7);
  assert.deepEqual(await run(7), first);
  assert.notDeepEqual(await run(8), first);
});

test('what is lost is lost on the way there or on the way back', async (t) => {
  const { launch, admin, list } = await open(t);
  await admin.fault({ fault: 'lost-request', call: 'launch', times: 1 });
  await assert.rejects(launch(), /hang up|ECONNRESET/);
  assert.deepEqual(await list(), []);
  await admin.fault({ fault: 'lost-answer', call: 'launch', times: 1 });
  await assert.rejects(launch(), /hang up|ECONNRESET/);
  assert.equal((await list()).length, 1);
});

test('a call that is delivered twice makes a second set only where it has no client token', async (t) => {
  const { launch, admin, list } = await open(t);
  await admin.fault({ fault: 'duplicate-call', call: 'launch', times: 2 });
  await launch({ client_token: 'once' });
  assert.equal((await list()).length, 1);
  await launch();
  assert.equal((await list()).length, 3);
});

test('launches are filled in part, instances vanish, are preempted, and appear by themselves', async (t) => {
  const { launch, admin, list, state } = await open(t);
  await admin.fault({ fault: 'partial-fill', count: 2, times: 1 }, { fault: 'vanish', seconds: 0.05, times: 1 });
  const [vanishing, staying] = (await launch({ count: 5 })).body.instances;
  await until('one has vanished', async () => (await list()).length === 1);
  assert.equal((await list())[0]?.id, staying!.id);
  assert.equal(await state(vanishing!.id), undefined);
  await admin.fault({ fault: 'preempt', market: 'spot', seconds: 0.4, notice_s: 0.3, times: 1 });
  const [spot] = (await launch({ market: 'spot' })).body.instances;
  await until('the notice', async () => (await list()).find(({ id }) => id === spot!.id)?.preemption_at);
  await until('it has ended', async () => (await state(spot!.id)) === 'terminated');
  const [stray] = await admin.stray('lab', { machine_type: 'small', tags: { whose: 'nobody' } });
  assert.equal((await list('?tag.whose=nobody'))[0]?.id, stray!.id);
});

test('a launch that was accepted is refused later, and says what was missing', async (t) => {
  const { launch, admin, ask, state } = await open(t);
  await admin.fault({ fault: 'late-refusal', code: 'no-capacity', message: 'none was left', seconds: 0.02, times: 1 });
  const [made] = (await launch()).body.instances;
  assert.equal(made!.state, 'pending');
  await until('it has ended', async () => (await state(made!.id)) === 'terminated');
  const { body } = await ask('GET', `/v1/instances/${made!.id}`);
  assert.deepEqual(body['refused'], { code: 'no-capacity', message: 'none was left' });
});

test('tags lag behind instances, and a list may end halfway or be refused', async (t) => {
  const { launch, admin, list, ask } = await open(t, { settings: { tag_lag_s: 1000 } });
  await launch({ tags: { a: '1' } });
  assert.deepEqual((await list())[0]?.tags, {});
  assert.deepEqual(await list('?tag.a=1'), []);
  await admin.set({ tag_lag_s: 0 });
  assert.equal((await list('?tag.a=1')).length, 1);
  await admin.fault({ fault: 'half-list', times: 1 });
  await assert.rejects(list(), /aborted|ECONNRESET|hang up/);
  await admin.fault({ fault: 'half-list', silent: true, times: 1 });
  await assert.rejects(list(), SyntaxError);
  await admin.fault({ fault: 'refuse', call: 'list', code: 'OnHoliday', message: 'come back', times: 1 });
  assert.deepEqual((await ask('GET', '/v1/instances')).body.error, { code: 'OnHoliday', message: 'come back' });
  assert.equal((await list()).length, 1);
});

test('every call is logged with its time and what came of it', async (t) => {
  const { launch, admin, list } = await open(t);
  const before = Date.now();
  await admin.fault(
    { fault: 'no-capacity', call: 'launch', times: 1 },
    { fault: 'lost-answer', call: 'list', times: 1 },
  );
  await launch({ client_token: 'a', zone: 'lab-1a' });
  const made = (await launch({ client_token: 'a', count: 3 })).body.instances.map(({ id }) => id);
  await assert.rejects(list());
  const [refused, given, lost] = await admin.calls();
  assert.deepEqual([refused?.status, refused?.error], [409, 'InsufficientCapacity']);
  assert.deepEqual(refused?.asked, { type: 'small', zone: 'lab-1a', count: 1, token: 'a' });
  assert.deepEqual([given?.status, given?.asked?.count, given?.instances], [200, 3, made]);
  assert.deepEqual([lost?.call, lost?.status, lost?.faults], ['list', undefined, ['lost-answer']]);
  assert.ok(before <= refused.at + 1 && refused.at <= given!.at && given!.at <= lost!.at);
  assert.deepEqual(await admin.calls({ since: given!.number, call: 'launch' }), []);
});

test('the page of its behaviour names every fault and every setting', async (t) => {
  const page = readFileSync(new URL('../../lab/cloud/behaviour.md', import.meta.url), 'utf8');
  const { cloud } = await open(t);
  for (const name of [...faultNames, ...Object.keys(cloud.settings)]) assert.ok(page.includes(`\`${name}\``), name);
});
