// needs: hosts

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Host } from '../../src/base/host.ts';
import type { NodeOrder } from '../../src/bringup/node/node.ts';
import { exportText, sessionEnvironment } from '../../src/bringup/node/shell-text.ts';
import { endRay } from '../../src/bringup/ray/end.ts';
import { startProgram } from '../../src/bringup/ray/start.ts';
import { never } from '../contract/waiting.ts';
import { namespaceHost, namespacesMissing } from './namespace-host.ts';

const skip = namespacesMissing() ?? false;
const signal = never;

const order = (cluster: string, instance = 'host-1'): NodeOrder => ({
  cluster,
  instance,
  kind: 'worker',
  type: 'small',
  commands: { initialization: [], setup: [], start: [] },
  files: { mounts: [], exclude: [], filter: [] },
  headAddress: '10.0.0.1',
  loginShells: false,
  usageStats: false,
});

/** Starts a process that is called `name` and is nothing but that. */
const pretend = (name: string, words = ''): string =>
  `cp -n /bin/sleep /tmp/${name}; bash -c 'exec -a "${name} ${words}" /tmp/${name} 1000' </dev/null >/dev/null 2>&1 & until pgrep -f '^${name} ' >/dev/null; do sleep 0.01; done; `;

async function names(host: Host): Promise<string[]> {
  const { stdout } = await host.sh(`ps -eo comm= | grep -E '^(raylet|gcs_server|ray::|work|shell)' | sort`, { signal });
  return stdout.split('\n').filter(Boolean);
}

const start = async (host: Host, node: NodeOrder, command: string): Promise<string> =>
  (await host.sh(startProgram(node, { kind: 'host' }, command), { signal })).stdout;

test('`ray stop` ends what the user has of this cluster and of none, and nothing of others', { skip }, async (t) => {
  const host = await namespaceHost(t, '');
  await start(host, order('mine', 'earlier-claim'), pretend('raylet_mine') + pretend('ray::mine'));
  await start(host, order('other'), pretend('ray::other'));
  await host.sh(pretend('ray::nobodys'), { signal });
  await host.as(1000).sh(pretend('ray::another'), { signal });
  const said = await start(host, order('mine'), `${pretend('work')} set -eu; IFS=; set -f; ray stop; echo done`);
  assert.equal(said, 'Stopped 2 Ray processes.\ndone\n');
  assert.deepEqual(await names(host), ['ray::another', 'ray::other', 'raylet_mine', 'work']);
});

test('what was started for a node is ended with it, but for the sessions of its users', { skip }, async (t) => {
  const host = await namespaceHost(t, '');
  await start(host, order('mine'), `${pretend('gcs_server')}${pretend('work')}`);
  await start(host, order('mine', 'host-2'), pretend('ray::second'));
  const session = exportText(sessionEnvironment(order('mine')));
  await host.sh(`${session}${pretend('shell')}${pretend('ray::started-by-hand')}`, { signal });
  assert.equal((await names(host)).length, 5);
  const { ended, left } = await endRay(host, { cluster: 'mine', instance: 'host-1' }, { signal });
  assert.deepEqual(ended.map(({ name }) => name).sort(), ['gcs_server', 'ray::started-by', 'work']);
  assert.deepEqual(left, []);
  assert.deepEqual(await names(host), ['ray::second', 'shell']);
});

test('what does not listen is ended all the same', { skip }, async (t) => {
  const host = await namespaceHost(t, '');
  await start(host, order('mine'), `trap '' TERM HUP; ${pretend('work')}`);
  await start(host, order('mine'), `${pretend('raylet')} kill -STOP $(pgrep -x raylet)`);
  assert.equal((await endRay(host, { cluster: 'mine' }, { signal })).ended.length, 2);
  assert.deepEqual(await names(host), []);
});

test('a process that this user may not end is named as left', { skip }, async (t) => {
  const host = await namespaceHost(t, '');
  const user = host.as(1000);
  const name = 'session_2026-01-02_03-04-05_000006_7';
  await start(user, order('mine'), pretend('raylet', `--session-name=${name}`));
  await host.sh(pretend('gcs_server', `--session-name=${name}`), { signal });
  const { ended, left } = await endRay(user, { cluster: 'mine' }, { signal });
  assert.deepEqual(
    ended.map((process) => process.name),
    ['raylet'],
  );
  assert.deepEqual(
    left.map((process) => process.name),
    ['gcs_server'],
  );
});
