import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { silent } from '../../src/base/events.ts';
import { bringupErrors } from '../../src/bringup/errors.ts';
import { type NodeOrder, stepsFolder } from '../../src/bringup/node/node.ts';
import { prepareNode } from '../../src/bringup/node/prepare.ts';
import { runCommands } from '../../src/bringup/steps/commands.ts';
import { endSteps } from '../../src/bringup/steps/step.ts';
import { never as signal, until } from '../contract/waiting.ts';
import { localHost } from './local-host.ts';

const order: NodeOrder = {
  cluster: 'mine',
  instance: 'host-1',
  kind: 'worker',
  type: 'small',
  commands: { initialization: [], setup: [], start: [] },
  files: { mounts: [], exclude: [], filter: [] },
  headAddress: '10.0.0.1',
  loginShells: false,
  usageStats: false,
};

/** A host whose set-up runs anew from what is found there, as often as it is asked for. */
function bed(t: TestContext) {
  const home = mkdtempSync(join(tmpdir(), 'manta-commands-'));
  const host = localHost(home);
  t.after(async () => {
    await endSteps(host, stepsFolder(order.cluster), signal);
    rmSync(home, { recursive: true });
  });
  return {
    home,
    host,
    setUp: async (...commands: string[]): Promise<void> => {
      const { steps: known } = await prepareNode(host, order, { signal });
      const { cluster } = order;
      const list = { node: host.name, cluster, part: 'setup', nonce: 'n', commands, known } as const;
      await runCommands(host, { ...list, program: (command) => command }, silent, () => {}, signal);
    },
  };
}

const ended = (error: unknown): boolean => bringupErrors.StepLost.is(error) && error.data.why === 'ended';

test('a set-up that was ended on its way is run again from the command that was cut off', async (t) => {
  const { home, host, setUp } = bed(t);
  const [log, go] = [join(home, 'log'), join(home, 'go')];
  const commands = [`echo first >>${log}`, `echo second >>${log}; until [ -e ${go} ]; do sleep 0.05; done`];
  const cut = assert.rejects(setUp(...commands), ended);
  await until('the second command runs', () => existsSync(log) && readFileSync(log, 'utf8').includes('second'));
  await endSteps(host, stepsFolder(order.cluster), signal);
  await cut;
  writeFileSync(go, '');
  await setUp(...commands);
  assert.equal(readFileSync(log, 'utf8'), 'first\nsecond\nsecond\n');
  await setUp(...commands);
  assert.equal(readFileSync(log, 'utf8'), 'first\nsecond\nsecond\n');
});
