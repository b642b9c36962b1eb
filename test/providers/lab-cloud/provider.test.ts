import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { rayTags } from '../../../src/core/ray-tags.ts';
import { providerErrors } from '../../../src/providers/errors.ts';
import type { LaunchRequest } from '../../../src/providers/provider.ts';
import { never, until } from '../../contract/waiting.ts';
import { providerOf, standInCloud } from './cloud-bed.ts';

const ask = (token: string, more: Partial<LaunchRequest> = {}): LaunchRequest => ({
  ...{ token, type: 'worker', count: 1, market: 'on-demand', tags: {} },
  ...more,
});

/** A server that answers every request with this. */
async function answering(t: TestContext, status: number, text: string): Promise<string> {
  const server = createServer((_, response) => void response.writeHead(status).end(text));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a list is complete over many pages', async (t) => {
  const cloud = await standInCloud(t, { settings: { page_size: 3 } });
  const provider = providerOf(cloud);
  await provider.launch(ask('many', { count: 10 }), never);
  assert.equal((await provider.list(never)).length, 10);
  assert.equal((await cloud.admin.calls({ call: 'list' })).length, 4);
});

test('an instance that is marked as unmanaged is not in the list: nobody sets it up or ends it', async (t) => {
  const provider = providerOf(await standInCloud(t));
  const [one, other] = await provider.launch(ask('two', { count: 2 }), never);
  await provider.tag(one?.id ?? '', { [rayTags.kind]: 'unmanaged' }, never);
  assert.deepEqual(
    (await provider.list(never)).map(({ id }) => id),
    [other?.id],
  );
});

test('a list of which one page is missing is an error and no list', async (t) => {
  const cloud = await standInCloud(t, { settings: { page_size: 3 } });
  const provider = providerOf(cloud);
  await provider.launch(ask('many', { count: 10 }), never);
  for (const [fault, error] of [
    ['throttle', providerErrors.Throttled],
    ['server-error', providerErrors.Unreachable],
    ['lost-answer', providerErrors.Unreachable],
  ] as const) {
    await cloud.admin.fault({ fault, call: 'list', skip: 2, times: 1 });
    await assert.rejects(provider.list(never), { code: error.code }, fault);
    await cloud.admin.calm();
    await cloud.admin.set({ page_size: 3 });
  }
});

test('what the cloud says is in the error', async (t) => {
  const cloud = await standInCloud(t);
  const provider = providerOf(cloud);
  await cloud.admin.set({ capacity: [{ zone: 'lab-1b', limit: 0 }] });
  await assert.rejects(
    provider.launch(ask('full', { type: 'big' }), never),
    /'big' in lab-1b .*: there is no large in lab-1b/,
  );
  await cloud.admin.set({ quotas: { instances: null, cpus_on_demand: 3, cpus_spot: null } });
  await assert.rejects(
    provider.launch(ask('much', { count: 2, type: 'big', zone: 'lab-1a' }), never),
    /a quota of 3 CPUs/,
  );
  await cloud.admin.fault({ fault: 'throttle', message: 'slow down', times: 1 });
  await assert.rejects(provider.list(never), /throttled 'list': slow down/);
  await cloud.admin.fault({ fault: 'denied', message: 'not you', times: 1 });
  await assert.rejects(provider.launch(ask('denied'), never), /refused 'launch': not you/);
  await assert.rejects(provider.launch(ask('where', { zone: 'mars-1' }), never), /there is no zone 'mars-1'/);
  await assert.rejects(provider.launch(ask('what', { type: 'nothing' }), never), /there is no node type 'nothing'/);
  await assert.rejects(providerOf({ ...cloud, token: 'wrong' }).list(never), { code: providerErrors.Denied.code });
});

test('an instance carries the tags of Ray, by which others recognise it', async (t) => {
  const provider = providerOf(await standInCloud(t));
  const [worker] = await provider.launch(ask('worker', { tags: { team: 'vision' } }), never);
  assert.deepEqual(worker?.tags, {
    team: 'vision',
    'ray-cluster-name': 'bed',
    'ray-launch-request': 'worker',
    'ray-node-name': 'ray-bed-worker',
    'ray-node-type': 'worker',
    'ray-user-node-type': 'worker',
    'manta-cluster-id': 'c-1',
  });
  const [head] = await provider.launch(ask('head', { tags: { 'ray-node-type': 'head' } }), never);
  assert.equal(head?.kind, 'head');
  assert.equal(head?.tags['ray-node-name'], 'ray-bed-head');
});

test('zone and market of an instance are those that were asked for', async (t) => {
  const provider = providerOf(await standInCloud(t));
  const [made] = await provider.launch(ask('spot', { type: 'big', market: 'spot' }), never);
  assert.deepEqual([made?.zone, made?.market], ['lab-1b', 'spot']);
  const [other] = await provider.launch(ask('zone', { type: 'big', zone: 'lab-2a' }), never);
  assert.deepEqual([other?.zone, other?.market], ['lab-2a', 'on-demand']);
});

test('clusters of one name and of one account do not see one another', async (t) => {
  const cloud = await standInCloud(t);
  const [mine] = await providerOf(cloud).launch(ask('same'), never);
  const others = providerOf(cloud, { clusterId: 'c-2' });
  const [theirs] = await others.launch(ask('same'), never);
  assert.notEqual(mine?.id, theirs?.id);
  assert.deepEqual(
    (await others.list(never)).map(({ id }) => id),
    [theirs?.id],
  );
});

test('a launch that is asked for again after the file has changed gives what it gave', async (t) => {
  const cloud = await standInCloud(t);
  const made = await providerOf(cloud).launch(ask('again', { count: 2 }), never);
  const again = await providerOf(cloud).launch(ask('again', { count: 2, type: 'big' }), never);
  assert.deepEqual(
    again.map(({ id }) => id),
    made.map(({ id }) => id),
  );
});

test('an answer that cannot be read never passes for an empty list', async (t) => {
  for (const text of [
    '',
    '<html>',
    '[]',
    '{}',
    '{"instances":[{}]}',
    '{"instances":[{"id":"i","state":"odd","tags":{}}]}',
  ]) {
    const endpoint = await answering(t, 200, text);
    await assert.rejects(
      providerOf({ endpoint, token: 'x' }).list(never),
      { code: providerErrors.Unreachable.code },
      text,
    );
  }
  const endpoint = await answering(t, 502, '<html>bad gateway</html>');
  await assert.rejects(providerOf({ endpoint, token: 'x' }).list(never), { code: providerErrors.Unreachable.code });
});

test('a cloud that says nothing is given up on, and what it did is found by the token', async (t) => {
  const cloud = await standInCloud(t);
  await cloud.admin.fault({ fault: 'lost-answer', call: 'launch', silent: true, times: 1 });
  const hasty = providerOf(cloud, { deadline: 100 });
  await assert.rejects(hasty.launch(ask('silent'), never), /no response within 100 ms/);
  const [found] = await hasty.list(never);
  assert.equal(found?.launchToken, 'silent');
  assert.equal((await hasty.launch(ask('silent'), never))[0]?.id, found?.id);
});

test('a launch that arrives after its caller has given up is found by its token too', async (t) => {
  const cloud = await standInCloud(t);
  await cloud.admin.fault({ fault: 'late-request', call: 'launch', seconds: 0.3, times: 1 });
  const hasty = providerOf(cloud, { deadline: 100 });
  await assert.rejects(hasty.launch(ask('late'), never), { code: providerErrors.Unreachable.code });
  const [first] = await hasty.launch(ask('late'), never);
  await until('the first call has arrived', async () => (await cloud.admin.calls({ call: 'launch' })).length === 2);
  assert.deepEqual(
    (await hasty.list(never)).map(({ id }) => id),
    [first?.id],
  );
});

test('a server error that took effect does not lose what it made', async (t) => {
  const cloud = await standInCloud(t);
  await cloud.admin.fault({ fault: 'server-error', call: 'launch', after: true, times: 1 });
  const provider = providerOf(cloud);
  await assert.rejects(provider.launch(ask('broken'), never), { code: providerErrors.Unreachable.code });
  assert.equal((await provider.list(never)).length, 1);
});

test('an announced preemption is in the list', async (t) => {
  const cloud = await standInCloud(t);
  const provider = providerOf(cloud);
  const [made] = await provider.launch(ask('spot', { market: 'spot' }), never);
  await cloud.admin.preempt(made?.id ?? '', 3600);
  const [seen] = await provider.list(never);
  assert.ok((seen?.preemptionAt ?? 0) > Date.now());
});

test('workers get a program for their first boot with their order, heads do not', async (t) => {
  const cloud = await standInCloud(t);
  const provider = providerOf(cloud, { bootProgram: () => 'echo booted' });
  await provider.launch(ask('one'), never);
  await provider.launch(ask('two', { tags: { [rayTags.kind]: 'head' } }), never);
  await until('both are made', () => cloud.hypervisor.orders.length === 2);
  assert.deepEqual(
    cloud.hypervisor.orders.map(({ userData }) => userData),
    ['echo booted', undefined],
  );
});
