import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cgroupProblem } from './cgroups.ts';

interface Package {
  /** Of Debian. */
  readonly name: string;
  /** A program of it, by which its presence is told. */
  readonly program: string;
}

/** What hosts are made of. */
export const hostPackages: readonly Package[] = [
  { name: 'iproute2', program: '/sbin/ip' },
  { name: 'openssh-server', program: '/usr/sbin/sshd' },
  { name: 'openssh-client', program: '/usr/bin/ssh' },
  { name: 'rsync', program: '/usr/bin/rsync' },
  { name: 'sudo', program: '/usr/bin/sudo' },
  { name: 'tmux', program: '/usr/bin/tmux' },
  { name: 'screen', program: '/usr/bin/screen' },
  { name: 'cron', program: '/usr/sbin/cron' },
  { name: 'python3', program: '/usr/bin/python3' },
  { name: 'procps', program: '/usr/bin/ps' },
];

/** What hosts with a container engine have beyond that. */
export const podmanPackages: readonly Package[] = [
  { name: 'podman', program: '/usr/bin/podman' },
  { name: 'runc', program: '/usr/sbin/runc' },
  { name: 'containernetworking-plugins', program: '/usr/lib/cni/bridge' },
  { name: 'iptables', program: '/usr/sbin/iptables' },
  { name: 'docker-registry', program: '/usr/bin/docker-registry' },
];

/** What hosts that are nodes of Kubernetes have beyond that. */
export const kubePackages: readonly Package[] = [{ name: 'containerd', program: '/usr/bin/containerd' }];

const recipe =
  'run it in a privileged container of Debian: docker run --rm --privileged -v "$PWD":/src -w /src node:24-bookworm npm run test:lab';

/** Why there can be no lab here, of hosts alone or with an engine on them, with what to do about it; undefined when there can. */
export function labProblem(engine?: 'podman' | 'kube'): string | undefined {
  const more = engine === undefined ? [] : engine === 'kube' ? [...podmanPackages, ...kubePackages] : podmanPackages;
  const found = machineProblem([...hostPackages, ...more]);
  return found === undefined ? undefined : `the lab cannot run here: ${found}; ${recipe}`;
}

function machineProblem(packages: readonly Package[]): string | undefined {
  if (process.platform !== 'linux') return `hosts are Linux namespaces, and this is ${process.platform}`;
  if (process.getuid?.() !== 0) return 'making namespaces and mounts needs root';
  const missing = packages.filter(({ program }) => !existsSync(program)).map(({ name }) => name);
  if (missing.length > 0) return `missing: apt-get install --no-install-recommends ${missing.join(' ')}`;
  const tried = spawnSync('unshare', [...'--mount --uts --ipc --net --pid --cgroup --fork'.split(' '), 'true']);
  if (tried.status !== 0) return `unshare is refused (${tried.stderr.toString().trim().split('\n')[0]})`;
  return cgroupProblem();
}
