// needs: sshd

/** The ways to machines without public addresses that docs/aws.md shows, with a stand-in for the program that each calls. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sshArguments } from '../../src/base/ssh/arguments.ts';
import { targetOf } from '../../src/bringup/node/reach.ts';
import { createCluster } from '../../src/state/cluster-record.ts';
import { knownHosts } from '../../src/state/known-hosts.ts';
import { loadSpec } from '../../src/state/load-spec.ts';
import { reachedFrom, stateFolder } from '../../src/state/state-folder.ts';

const page = readFileSync(new URL('../../docs/aws.md', import.meta.url), 'utf8');
const shown = [...page.matchAll(/^ {2}ssh_proxy_command: (.*)$/gm)].map(([, command = '']) => command);

/** What `program` is called with when ssh goes to the head of a cluster whose file has this line. */
function wordsOf(t: TestContext, line: string, program: string): readonly string[] {
  const home = mkdtempSync(join(tmpdir(), 'manta-proxy-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const folder = stateFolder(home, 'sky');
  const remote = { address: '10.0.0.7', inside: '10.0.0.7', instance: 'i-0abc', zone: 'eu-west-1b', clusterId: 'c-1' };
  createCluster(folder, { role: 'laptop', createdAt: 0, engine: 'ray', remote });
  const text = `cluster_name: sky
provider: {type: aws, region: eu-west-1, use_internal_ips: true}
auth:
  ssh_user: ubuntu
  ssh_proxy_command: ${line}
`;
  const spec = loadSpec({ name: 'sky', config: { path: 'sky.yaml', text, env: {} } });
  const { head } = knownHosts(spec, folder);
  assert.ok(head);
  const words = join(home, 'words');
  const standIn = join(home, program);
  writeFileSync(standIn, `#!/bin/sh\nprintf '%s\\n' "$@" > ${words}\n`);
  chmodSync(standIn, 0o755);
  const target = targetOf(head, reachedFrom(folder));
  const ssh = spawnSync('/usr/bin/ssh', [...sshArguments(target, { alone: true }), target.address, 'true'], {
    env: { PATH: `${home}${delimiter}/usr/bin:/bin`, HOME: home },
    encoding: 'utf8',
  });
  assert.ok(existsSync(words), ssh.stderr);
  return readFileSync(words, 'utf8').trim().split('\n');
}

test('Session Manager is asked for the instance, in its region', (t) => {
  const line = shown.find((each) => each.startsWith('aws ssm '));
  assert.ok(line);
  assert.deepEqual(wordsOf(t, line, 'aws'), [
    ...['ssm', 'start-session', '--target', 'i-0abc', '--region', 'eu-west-1'],
    ...['--document-name', 'AWS-StartSSHSession', '--parameters', 'portNumber=22'],
  ]);
});

test('a bastion is asked for the address inside the network', (t) => {
  const line = shown.find((each) => each.startsWith('ssh '));
  assert.ok(line);
  assert.deepEqual(wordsOf(t, line, 'ssh'), ['-W', '10.0.0.7:22', 'ubuntu@bastion.example.com']);
});
