import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cgroupProblem } from './cgroups.ts';

/** Debian packages that the hosts are made of, and a program of each by which its presence is told. */
export const labPackages: readonly { readonly name: string; readonly program: string; readonly for: string }[] = [
  { name: 'iproute2', program: '/sbin/ip', for: 'hosts in namespaces' },
  { name: 'openssh-server', program: '/usr/sbin/sshd', for: 'hosts in namespaces' },
  { name: 'openssh-client', program: '/usr/bin/ssh', for: 'hosts in namespaces' },
  { name: 'rsync', program: '/usr/bin/rsync', for: 'hosts in namespaces' },
  { name: 'sudo', program: '/usr/bin/sudo', for: 'hosts in namespaces' },
  { name: 'tmux', program: '/usr/bin/tmux', for: 'hosts in namespaces' },
  { name: 'screen', program: '/usr/bin/screen', for: 'hosts in namespaces' },
  { name: 'cron', program: '/usr/sbin/cron', for: 'hosts in namespaces' },
  { name: 'python3', program: '/usr/bin/python3', for: 'Ray on hosts' },
  { name: 'procps', program: '/usr/bin/ps', for: 'hosts in namespaces' },
  { name: 'podman', program: '/usr/bin/podman', for: 'containers on hosts' },
  { name: 'runc', program: '/usr/sbin/runc', for: 'containers on hosts' },
  { name: 'containernetworking-plugins', program: '/usr/lib/cni/bridge', for: 'containers on hosts' },
  { name: 'iptables', program: '/usr/sbin/iptables', for: 'containers on hosts' },
  { name: 'docker-registry', program: '/usr/bin/docker-registry', for: 'images for hosts' },
];

const recipe =
  'run it in a privileged container of Debian: docker run --rm --privileged -v "$PWD":/src -w /src node:24-bookworm npm test';

/** Why there can be no lab here, with what to do about it; undefined when there can. */
export function labProblem(): string | undefined {
  const found = groundProblem();
  return found === undefined ? undefined : `the lab cannot run here: ${found}; ${recipe}`;
}

function groundProblem(): string | undefined {
  if (process.platform !== 'linux') return `hosts are Linux namespaces, and this is ${process.platform}`;
  if (process.getuid?.() !== 0) return 'making namespaces and mounts needs root';
  const missing = labPackages.filter(({ program }) => !existsSync(program)).map(({ name }) => name);
  if (missing.length > 0) return `missing: apt-get install --no-install-recommends ${missing.join(' ')}`;
  const tried = spawnSync('unshare', [...'--mount --uts --ipc --net --pid --cgroup --fork'.split(' '), 'true']);
  if (tried.status !== 0) return `unshare is refused (${tried.stderr.toString().trim().split('\n')[0]})`;
  return cgroupProblem();
}
