// needs: hosts

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeOrder } from '../../src/bringup/node/node.ts';
import { prepareNode } from '../../src/bringup/node/prepare.ts';
import { runningSessions } from '../../src/bringup/sessions/running-sessions.ts';
import { commandText } from '../../src/launcher/exec/command-text.ts';
import { never, until } from '../contract/waiting.ts';
import { namespaceHost, namespacesMissing } from './namespace-host.ts';

const skip = namespacesMissing() ?? false;
const signal = never;

const order: NodeOrder = {
  cluster: 'mine',
  instance: 'head-1',
  kind: 'head',
  type: 'head',
  commands: { initialization: [], setup: [], start: [] },
  files: { mounts: [], exclude: [], filter: [] },
  headAddress: '10.0.0.1',
  loginShells: false,
  usageStats: false,
};

test('what users run on the head is found, and the shell that runs it; other clusters and ends are not', {
  skip,
}, async (t) => {
  const host = await namespaceHost(t, '');
  await prepareNode(host, order, { signal });
  await prepareNode(host, { ...order, cluster: 'other' }, { signal });
  const count = (): Promise<number> => runningSessions(host, 'mine', { signal });
  assert.equal(await count(), 0);
  const run = (cluster: string, command: string): Promise<unknown> =>
    host.sh(
      `setsid sh -c '${commandText({ cluster, place: { kind: 'host' }, terminal: false, mark: 'manta-0123456789ab', command }).replaceAll("'", "'\\''")}' </dev/null >/dev/null 2>&1 &
until [ -e /tmp/began ]; do sleep 0.02; done; rm /tmp/began`,
      { signal },
    );
  await run('other', 'touch /tmp/began; sleep 1000');
  assert.equal(await count(), 0);
  await run('mine', 'touch /tmp/began; sleep 1001');
  assert.equal(await count(), 1);
  // Nothing but a shell: its environment shows no mark.
  await run('mine', 'touch /tmp/began; while :; do read -t 1000 x </dev/ptmx; done');
  assert.equal(await count(), 2);
  await host.sh('kill $(pgrep -fx "sleep 1001")', { signal });
  await until('the session that ended is none any more', async () => (await count()) === 1);
});
