import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolder } from '../../base/files/json-file.ts';
import { embeddedErrors } from './errors.ts';
import { engineNames } from './names.ts';

/** The smallest limit on the length of a socket's path, less the closing zero. */
const longestSocketPath = 103;

/** Named like Ray's node ids, so that status texts look alike. */
export const nodeId = (instance: string): string => createHash('sha256').update(instance).digest('hex').slice(0, 56);

/** Where an agent's socket is: beside its record, or in a short private folder when that path is too long for a socket. */
export function socketPath(engineFolder: string, instance: string): string {
  const near = join(engineFolder, engineNames.agents, `${instance}.sock`);
  if (Buffer.byteLength(near) <= longestSocketPath) return near;
  const name = createHash('sha256').update(near).digest('hex').slice(0, 24);
  return join(privateFolder(), `${name}.sock`);
}

function privateFolder(): string {
  const owner = process.getuid?.() ?? 0;
  const base = Buffer.byteLength(tmpdir()) > 40 ? '/tmp' : tmpdir();
  const folder = makeFolder(join(base, `manta-${owner}`));
  const found = lstatSync(folder);
  // Anybody can make a folder there first; what is not ours alone is not used.
  if (!found.isDirectory() || found.uid !== owner || (found.mode & 0o077) !== 0)
    throw embeddedErrors.Protocol({ problem: `'${folder}' is not a private folder of this user` });
  return folder;
}

/** Command that starts an agent for an engine on `engineFolder`; the process provider adds the instance's folder. */
export function agentCommand(engineFolder: string, entry?: string): [string, ...string[]] {
  const main = entry ?? fileURLToPath(new URL('./agent/main.ts', import.meta.url));
  return [process.execPath, main, engineFolder];
}
