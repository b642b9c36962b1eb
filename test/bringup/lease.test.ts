import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Host } from '../../src/base/host.ts';
import { endNode } from '../../src/bringup/end-node.ts';
import { endLease, renewLease } from '../../src/bringup/lease.ts';
import { type NodeOrder, nodeFolder } from '../../src/bringup/node.ts';
import { prepareNode } from '../../src/bringup/prepare.ts';
import { startProgram } from '../../src/bringup/ray-start.ts';
import { never } from '../contract/waiting.ts';
import { namespaceHost, namespacesMissing } from './namespace-host.ts';

const skip = namespacesMissing() ?? false;
const signal = never;

const order = (cluster: string, lasts: number, more: Partial<NodeOrder> = {}): NodeOrder => ({
  cluster,
  instance: 'host-1',
  kind: 'worker',
  type: 'small',
  commands: { initialization: [], setup: [], start: [] },
  files: { mounts: [], exclude: [], filter: [] },
  headAddress: '10.0.0.1',
  loginShells: false,
  usageStats: false,
  lease: { lasts, powersOff: false },
  ...more,
});

const pretend = (name: string): string =>
  `cp -n /bin/sleep /tmp/${name}; bash -c 'exec -a "${name} " /tmp/${name} 1000' </dev/null >/dev/null 2>&1 & until pgrep -f '^${name} ' >/dev/null; do sleep 0.01; done; `;

const startRay = (host: Host, node: NodeOrder): Promise<unknown> =>
  host.sh(startProgram(node, { kind: 'host' }, `${pretend('raylet')}${pretend('ray::work')}`), { signal });

const lines = async (host: Host, program: string): Promise<string[]> =>
  (await host.sh(program, { signal })).stdout.split('\n').filter(Boolean);
const raylets = (host: Host): Promise<string[]> => lines(host, "ps -eo comm= | grep -E '^(raylet|ray::)'; exit 0");
const watchdogs = (host: Host): Promise<string[]> => lines(host, 'pgrep -f "sh ./watchdog"; exit 0');

async function until(what: string, look: () => Promise<boolean>): Promise<void> {
  for (const limit = performance.now() + 60_000; !(await look()); await sleep(50))
    if (performance.now() > limit) throw new Error(`gave up waiting until ${what}`);
}

test('a lease that nobody renews ends Ray of its cluster, of no other, and nothing else', { skip }, async (t) => {
  const host = await namespaceHost(t, '');
  const [mine, other] = [order('mine', 2_000), order('other', 600_000)];
  for (const each of [mine, other]) {
    await prepareNode(host, each, { signal });
    await startRay(host, each);
  }
  await host.sh(pretend('shell'), { signal });
  assert.equal((await watchdogs(host)).length, 2);
  await until('the lapsed one is over', async () => (await raylets(host)).length === 2);
  await until('its watchdog has gone', async () => (await watchdogs(host)).length === 1);
  assert.deepEqual(await lines(host, `cd; ls ${nodeFolder('mine')} | grep -E '^(lease|lapsed)$'`), ['lapsed']);
  assert.equal((await lines(host, 'pgrep -x shell')).length, 1);
  assert.equal(await renewLease(host, 'mine', 600_000, { signal }), 'absent');
});

test('a lease that is renewed does not lapse, and neither is its watchdog doubled', { skip }, async (t) => {
  const host = await namespaceHost(t, '');
  const node = order('mine', 15_000);
  await prepareNode(host, node, { signal });
  await startRay(host, node);
  assert.equal(await renewLease(host, 'mine', 600_000, { signal }), 'renewed');
  await until(
    'the watchdog looks again, for longer',
    async () => (await lines(host, 'pgrep -fx "sleep 30"')).length > 0,
  );
  assert.equal((await raylets(host)).length, 2);
  await prepareNode(host, node, { signal });
  assert.equal((await watchdogs(host)).length, 1);
});

test('a watchdog that somebody has ended comes back with the next renewal', { skip }, async (t) => {
  const host = await namespaceHost(t, '');
  await prepareNode(host, order('mine', 600_000), { signal });
  const [before] = await watchdogs(host);
  await host.sh(`kill -9 ${before}`, { signal });
  assert.equal(await renewLease(host, 'mine', 600_000, { signal }), 'renewed');
  await until('another is there', async () => (await watchdogs(host)).length === 1);
  assert.notEqual((await watchdogs(host))[0], before);
});

test('a node that is ended has neither lease nor watchdog any more', { skip }, async (t) => {
  const host = await namespaceHost(t, '');
  const node = order('mine', 600_000);
  await prepareNode(host, node, { signal });
  await startRay(host, node);
  assert.deepEqual(await endNode(host, { cluster: 'mine', containers: [], remove: true }, signal), []);
  assert.deepEqual([...(await watchdogs(host)), ...(await raylets(host))], []);
  assert.deepEqual(await lines(host, `cd; ls ${nodeFolder('mine')} | grep -E 'lease|watchdog|lapsed'; exit 0`), []);
  assert.deepEqual(await endLease(host, 'mine', { signal }), []);
});

test('a watchdog that cannot be ended is named', { skip }, async (t) => {
  const host = await namespaceHost(t, '');
  await prepareNode(host, order('mine', 600_000), { signal });
  const [pid] = await watchdogs(host);
  await host.sh(`chmod 777 /tmp/home; chmod -R a+rwX /tmp/home/.manta`, { signal });
  const user = host.as(1000);
  const as = { ...user, sh: ((program, options) => user.sh(`HOME=/tmp/home\n${program}`, options)) as Host['sh'] };
  assert.deepEqual(await endLease(as, 'mine', { signal }), [`watchdog (pid ${pid})`]);
});

test('a machine of a cloud is powered off with its lease, a host of the user never', { skip }, async (t) => {
  const host = await namespaceHost(t, '');
  await host.sh(
    `mkdir -p /tmp/bin; for c in poweroff shutdown sudo; do echo 'echo "$0" >>/tmp/powered' >/tmp/bin/$c; chmod +x /tmp/bin/$c; done`,
    {
      signal,
    },
  );
  const path = {
    ...host,
    sh: ((program, options) => host.sh(`PATH=/tmp/bin:$PATH\n${program}`, options)) as Host['sh'],
  };
  await prepareNode(path, order('own', 1_000), { signal });
  await prepareNode(path, order('cloud', 1_000, { lease: { lasts: 1_000, powersOff: true } }), { signal });
  await until('both have lapsed', async () => (await watchdogs(host)).length === 0);
  assert.deepEqual(await lines(host, 'cat /tmp/powered | grep -c . ; exit 0'), ['1']);
});
