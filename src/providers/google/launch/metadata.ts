import { readShell, shellProgram } from '../../../base/shell/shell-file.ts';
import type { CloudClient } from '../../clouds.ts';
import type { PreparedGoogle } from '../prepared.ts';

const startup = readShell(new URL('./google-startup.sh', import.meta.url));

/**
 * Metadata of a machine: what the file says, the cluster's key beside the file's own, and what runs at every boot. Keys of the
 * project are left as they are.
 */
export function machineMetadata(
  given: ReadonlyMap<string, string>,
  login: ReturnType<CloudClient['login']>,
  bootProgram: string | undefined,
  prepared: PreparedGoogle,
): ReadonlyMap<string, string> {
  const all = new Map(given);
  if (prepared.osLogin === undefined) {
    const line = `${login.user}:${login.publicKey.trim()}`;
    all.set('ssh-keys', [all.get('ssh-keys'), line].filter(Boolean).join('\n'));
    if (!all.has('enable-oslogin')) all.set('enable-oslogin', 'FALSE');
  } else all.set('enable-oslogin', 'TRUE');
  if (bootProgram !== undefined) {
    const program = shellProgram(startup, {
      boot_program: bootProgram,
      file_script: all.get('startup-script') ?? '',
    });
    all.set('startup-script', `#!/bin/sh\n${program}`);
  }
  return all;
}
