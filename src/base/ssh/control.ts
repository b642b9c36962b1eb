import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { crypto } from '../crypto.ts';
import { makeFolder } from '../files/json-file.ts';
import { identify } from '../process.ts';
import { sshErrors } from './errors.ts';
import type { SshTarget } from './target.ts';

/** The smallest limit on a socket's path, less the closing zero and what ssh appends while it makes the socket. */
const longestControlPath = 103 - '.0123456789abcdef'.length;

/** Where the socket of the target's master connection is. Other ways to the same machine have another one. */
export function controlPath(target: SshTarget): string {
  const name = target.socket ?? socketName(target);
  const near = join(target.control, name);
  if (Buffer.byteLength(near) <= longestControlPath) {
    makeFolder(target.control);
    return join(refuseShared(target.control), name);
  }
  return join(privateFolder(), name);
}

/**
 * Where the local end of a tunnel is, beside the socket of the master, in whose bounds it stays. Each has a path of its own:
 * ssh gives the same path to all who ask for it, and takes it from all when one is done. None comes again: ssh may still hold
 * the one of a process that was killed.
 */
export function tunnelPath(control: string): string {
  clearTunnels(control);
  return `${control}.${process.pid}-${crypto().randomBytes(3).toString('hex')}`;
}

/** Removes what processes left that were killed. */
function clearTunnels(control: string): void {
  const folder = dirname(control);
  for (const name of readdirSync(folder)) {
    const pid = name.startsWith(`${basename(control)}.`) && /\.(\d+)-[0-9a-f]+$/.exec(name)?.[1];
    if (pid && identify(Number(pid)) === undefined) rmSync(join(folder, name), { force: true });
  }
}

/** Names the way to the target, and no other. */
export const socketName = (target: SshTarget): string =>
  crypto().createHash('sha256').update(routeTo(target)).digest('hex').slice(0, 16);

function routeTo(target: SshTarget): string {
  const { address, user, port, key, proxyCommand, jump, pin, config } = target;
  return JSON.stringify([address, user, port, key, proxyCommand, pin.file, pin.alias, config, jump && routeTo(jump)]);
}

/** A short folder that only this user can enter. */
export function privateFolder(): string {
  const base = Buffer.byteLength(tmpdir()) > 40 ? '/tmp' : tmpdir();
  return refuseShared(makeFolder(join(base, `manta-${process.getuid?.() ?? 0}`)));
}

/** Anyone who can put a socket there can pose as the host: what is not ours alone is not used. */
function refuseShared(folder: string): string {
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== (process.getuid?.() ?? 0) || (found.mode & 0o077) !== 0)
    throw sshErrors.ControlFolder({ folder });
  return folder;
}
