import { readFileSync } from 'node:fs';
import type { ContainerFiles } from './boot.ts';

/** Ports of the registries, at the address of the switch: one for everybody, one that asks for a login. */
export const registryPort = 5000;
export const lockedRegistryPort = 5001;

/**
 * Settings of the container engine on a host. Its storage stands on the host's own disk, which is no overlay, so that
 * the kernel's overlay works there.
 */
export function containerFiles(gateway: string): ContainerFiles {
  return {
    // Engines ask for limits above this machine's own and then fail; these are the highest that may be asked for. A
    // limit on processes, which Docker has not, fails where the new kind of cgroup has no controllers to give.
    containers: `[containers]
default_ulimits = ["nofile=${limit('Max open files')}", "nproc=${limit('Max processes')}"]
pids_limit = 0
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
`,
    storage: `[storage]
driver = "overlay"
graphroot = "/var/lib/containers/storage"
runroot = "/run/containers/storage"
`,
    registries: [registryPort, lockedRegistryPort]
      .map((port) => `[[registry]]\nlocation = "${gateway}:${port}"\ninsecure = true\n`)
      .join(''),
  };
}

/** More than this no program asks for, and conmon has no more of it to give. */
const most = { 'Max open files': 1_048_576, 'Max processes': 32_768 };

function limit(name: keyof typeof most): string {
  const hard = new RegExp(`^${name}\\s+\\S+\\s+(\\d+)`, 'm').exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  const value = Math.min(Number(hard ?? most[name]), most[name]);
  return `${value}:${value}`;
}
