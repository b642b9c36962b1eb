import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, resolve } from 'node:path';
import { MantaError } from '../../base/errors.ts';
import type { NodeFiles } from '../../bringup/node/node.ts';
import type { ClusterSpec } from '../../core/spec/cluster.ts';
import { launcherErrors } from '../errors.ts';

/**
 * The file mounts as they lie on this machine. A relative path counts from the folder that the command was given in, as
 * with Ray, or from that of the cluster file. What is missing is found before anything is touched.
 */
export function localFiles({ files }: ClusterSpec, file: string, cwd: string): NodeFiles {
  return {
    mounts: files.mounts.map((mount) => {
      const found = findMount(mount, file, cwd);
      if (found instanceof MantaError) throw found;
      return found;
    }),
    exclude: files.exclude,
    filter: files.filter,
  };
}

/** What a plan says of mounts whose source is missing: a cluster can be planned before its files are here. */
export const missingMounts = ({ files }: ClusterSpec, file: string, cwd: string): readonly string[] =>
  files.mounts
    .map((mount) => findMount(mount, file, cwd))
    .flatMap((found) => (found instanceof MantaError ? [found.message] : []));

function findMount(
  { remote, local }: ClusterSpec['files']['mounts'][number],
  file: string,
  cwd: string,
): NodeFiles['mounts'][number] | MantaError {
  const home = local.replace(/^~(?=\/|$)/, homedir());
  const places = isAbsolute(home) ? [home] : [resolve(cwd, home), resolve(dirname(file), home)];
  for (const place of places) {
    const found = statSync(place, { throwIfNoEntry: false });
    if (found !== undefined) return { remote, local: place, directory: found.isDirectory() };
  }
  return launcherErrors.MountMissing({ remote, local, looked: places });
}
