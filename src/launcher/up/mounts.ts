import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, resolve } from 'node:path';
import type { NodeFiles } from '../../bringup/node/node.ts';
import type { ClusterSpec } from '../../core/spec/cluster.ts';
import { launcherErrors } from '../errors.ts';

/**
 * The file mounts as they lie on this machine. A relative path counts from the folder that the command was given in, as
 * with Ray, or from that of the cluster file. What is missing is found before anything is touched.
 */
export function localFiles({ files }: ClusterSpec, file: string, cwd: string): NodeFiles {
  return {
    mounts: files.mounts.map(({ remote, local }) => {
      const home = local.replace(/^~(?=\/|$)/, homedir());
      const places = isAbsolute(home) ? [home] : [resolve(cwd, home), resolve(dirname(file), home)];
      for (const place of places) {
        const found = statSync(place, { throwIfNoEntry: false });
        if (found !== undefined) return { remote, local: place, directory: found.isDirectory() };
      }
      throw launcherErrors.MountMissing({ remote, local, looked: places });
    }),
    exclude: files.exclude,
    filter: files.filter,
  };
}
