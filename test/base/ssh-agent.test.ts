// needs: sshd
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sshArguments } from '../../src/base/ssh/arguments.ts';
import { targetOf } from '../../src/bringup/node/reach.ts';

interface Case {
  readonly name: string;
  readonly forwardAgent?: boolean;
  /** The cluster's own key: it is the head that connects. */
  readonly key?: string;
}

/** What ssh makes of the arguments for a host, with this text as the user's configuration. */
function asker(t: TestContext, config: string) {
  const folder = mkdtempSync(join(tmpdir(), 'manta-agent-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'config');
  writeFileSync(file, config);
  return ({ key, ...host }: Case): { readonly forwards: string | undefined; readonly words: readonly string[] } => {
    const from = { cluster: 'c1', pins: join(folder, 'pins'), control: folder, ...(key && { key }) };
    const words = sshArguments({ ...targetOf({ address: host.name, ...host }, from), config: file });
    const { stdout } = spawnSync('ssh', ['-G', ...words, '--', host.name], { encoding: 'utf8' });
    return { forwards: /^forwardagent (.*)$/m.exec(stdout)?.[1], words };
  };
}

test('the agent of the user goes to no host by itself, whatever the configuration of the system says', (t) => {
  for (const config of ['', 'Host other\n  ForwardAgent yes\n']) {
    const { forwards, words } = asker(t, config)({ name: '192.0.2.1' });
    assert.equal(forwards, 'no');
    assert.ok(words.includes('ForwardAgent=no'));
  }
});

test("the agent goes where the user's SSH configuration or the cluster file asks for it", (t) => {
  const ask = asker(t, 'Host 192.0.2.*\n  ForwardAgent yes\n');
  assert.equal(ask({ name: '192.0.2.1' }).forwards, 'yes');
  assert.equal(ask({ name: '198.51.100.1' }).forwards, 'no');
  assert.equal(ask({ name: '198.51.100.1', forwardAgent: true }).forwards, 'yes');
  assert.equal(
    ask({ name: '198.51.100.1', forwardAgent: true, key: '/key' }).forwards,
    'no',
    'a head has none to give',
  );
});
