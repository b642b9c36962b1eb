// needs: hosts

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Host } from '../../src/base/host.ts';
import { bootWatchdog, endLease, renewLease } from '../../src/bringup/lease/lease.ts';
import { endNode } from '../../src/bringup/node/end-node.ts';
import { type NodeOrder, nodeFolder } from '../../src/bringup/node/node.ts';
import { prepareNode } from '../../src/bringup/node/prepare.ts';
import { startProgram } from '../../src/bringup/ray/start.ts';
import { never, until } from '../contract/waiting.ts';
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

test('a lease that nobody renews ends Ray of its cluster, of no other, and nothing else', { skip }, async (t) => {
  const host = await namespaceHost(t, '');
  const [mine, other] = [order('mine', 10_000), order('other', 600_000)];
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
  // The one before may still be on its way out.
  await until('there is one watchdog', async () => (await watchdogs(host)).length === 1);
});

test('a watchdog that somebody has ended comes back with the next renewal', { skip }, async (t) => {
  const host = await namespaceHost(t, '');
  await prepareNode(host, order('mine', 600_000), { signal });
  const [before] = await watchdogs(host);
  await host.sh(`kill -9 ${before}`, { signal });
  await until('it has gone', async () => (await watchdogs(host)).length === 0);
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

test('a set-up that is stopped on a machine of a cloud leaves the machine its lease', { skip }, async (t) => {
  const host = await hostWithSwitch(t);
  const node = order('mine', 600_000, { lease: { lasts: 600_000, powersOff: true } });
  await prepareNode(host, node, { signal });
  await startRay(host, node);
  const what = { cluster: 'mine', instance: node.instance, containers: [], remove: false, keepLease: true };
  assert.deepEqual(await endNode(host, what, signal), []);
  assert.deepEqual(await raylets(host), []);
  assert.equal((await watchdogs(host)).length, 1);
  assert.equal(await renewLease(host, 'mine', 1_000, { signal }), 'renewed');
  await until('it was switched off', async () => (await switchedOff(host)) > 0);
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

/** A host whose switch does nothing and says so, and on which nobody sleeps for long. */
async function hostWithSwitch(t: TestContext): Promise<Host> {
  const host = await namespaceHost(t, '');
  await host.sh(
    `mkdir -p /tmp/bin; for c in poweroff shutdown sudo; do printf '%s\\n' 'echo "$0" >>/tmp/powered; exit 1' >/tmp/bin/$c; done
echo 'exec /bin/sleep 0.1' >/tmp/bin/sleep; chmod +x /tmp/bin/*`,
    { signal },
  );
  return { ...host, sh: (program, options) => host.sh(`PATH=/tmp/bin:$PATH\n${program}`, options) };
}
const switchedOff = async (host: Host): Promise<number> =>
  (await lines(host, "cat /tmp/powered 2>/dev/null | grep 'poweroff$'; exit 0")).length;

test('a machine of a cloud is powered off with its lease, until it has gone; a host of the user never', {
  skip,
}, async (t) => {
  const host = await hostWithSwitch(t);
  await prepareNode(host, order('own', 1_000), { signal });
  await until('the own one has lapsed', async () => (await watchdogs(host)).length === 0);
  assert.equal(await switchedOff(host), 0);
  await prepareNode(host, order('cloud', 1_000, { lease: { lasts: 1_000, powersOff: true } }), { signal });
  await until('it was switched off again, because it did not go', async () => (await switchedOff(host)) >= 3);
});

test('a machine of a cloud that nobody gives a lease switches itself off; with a lease it has its own watchdog', {
  skip,
}, async (t) => {
  const boots = async (host: Host): Promise<string[]> => await lines(host, 'pgrep -f manta-boot; exit 0');
  const home =
    "mkdir -p /tmp/bin; printf '%s\\n' 'echo u:x:0:0::/tmp/home:/bin/sh' >/tmp/bin/getent; chmod +x /tmp/bin/getent\n";
  const left = await hostWithSwitch(t);
  await left.sh(`${home}${bootWatchdog('mine', 'ubuntu', 2_000)}`, { signal });
  await until('it was switched off', async () => (await switchedOff(left)) >= 2);

  const taken = await hostWithSwitch(t);
  // A lease that came with the image is none of this boot.
  const stale = `mkdir -p /tmp/home/${nodeFolder('mine')}; echo 'another/1 99999999 60' >/tmp/home/${nodeFolder('mine')}/lease\n`;
  await taken.sh(`${home}${stale}${bootWatchdog('mine', 'ubuntu', 600_000)}`, { signal });
  assert.ok((await boots(taken)).length > 0);
  await prepareNode(taken, order('mine', 600_000, { lease: { lasts: 600_000, powersOff: true } }), { signal });
  await until('the watchdog of the boot has ended', async () => (await boots(taken)).length === 0);
  assert.equal((await watchdogs(taken)).length, 1);
  assert.equal(await switchedOff(taken), 0);
});

test('a user who may not switch off a machine that is to go with its lease is found out', { skip }, async (t) => {
  const host = await namespaceHost(t, '');
  await host.sh('mkdir -p /tmp/.manta; chown 1000 /tmp/.manta', { signal });
  const powersOff = (as: Host, yes: boolean) =>
    prepareNode(as, order('mine', 600_000, { lease: { lasts: 600_000, powersOff: yes } }), { signal });
  assert.equal((await powersOff(host.as(1000), true)).powerless, true);
  assert.equal((await powersOff(host.as(1000), false)).powerless, false);
  assert.equal((await powersOff(host, true)).powerless, false);
});
