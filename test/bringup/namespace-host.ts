// needs: hosts

import type { ChildProcess } from 'node:child_process';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import type { Host } from '../../src/base/host.ts';
import { shellHost } from './local-host.ts';

/** Why this machine cannot have hosts of its own; undefined when it can. */
export function namespacesMissing(): string | undefined {
  if (process.platform !== 'linux') return 'processes of their own need Linux';
  try {
    execFileSync('unshare', ['-p', '-f', '--mount-proc', '-m', '-n', 'true'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'processes of their own (unshare) need root';
  }
}

export interface NamespaceHost extends Host {
  /** The same host for another user, whose home is /tmp. */
  as(uid: number): Host;
}

/** A host with processes, /tmp, shared memory and a loopback network of its own; gone with the test, and all in it. */
export async function namespaceHost(t: TestContext, path: string): Promise<NamespaceHost> {
  // A login shell sets its own path: as on any machine, `.bashrc` is what names the Python of the user.
  const setUp = `mount -t tmpfs none /tmp && mount -t tmpfs none /dev/shm && mkdir -p /tmp/home &&
    echo 'export PATH=${path}:$PATH' >/tmp/home/.bashrc && ip link set lo up && echo ready`;
  const child = spawn(
    'unshare',
    [
      '-p',
      '-f',
      '--mount-proc',
      '-m',
      '-n',
      '-i',
      '-u',
      '--kill-child',
      '--',
      'bash',
      '-c',
      `${setUp}; sleep infinity & wait`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  t.after(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  await once(child.stdout, 'data');
  const pid = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim());
  const env = { PATH: `${path}:/usr/sbin:/usr/bin:/sbin:/bin`, HOME: '/tmp/home', USER: 'root', SHELL: '/bin/bash' };
  const start = (): ChildProcess =>
    spawn('nsenter', ['-t', String(pid), '-a', 'sh', '-c', 'cd; exec sh -s'], { env, stdio: ['pipe', 'pipe', 'pipe'] });
  const startAs = (uid: number) => (): ChildProcess =>
    spawn(
      'nsenter',
      ['-t', String(pid), '-a', 'setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', 'sh', '-s'],
      {
        env: { ...env, HOME: '/tmp' },
        stdio: ['pipe', 'pipe', 'pipe'],
      },
    );
  return Object.assign(shellHost(`namespace-${pid}`, start), {
    as: (uid: number) => shellHost(`namespace-${pid}-${uid}`, startAs(uid)),
  });
}
