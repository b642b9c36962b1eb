import type { Host, RunOptions } from '../../base/host.ts';
import { readShell, shellCommand } from '../../base/shell/shell-file.ts';
import { bringupErrors } from '../errors.ts';
import { type NodeOrder, nodeFolder } from '../node/node.ts';

const program = readShell(new URL('./staging.sh', import.meta.url));
const removal = readShell(new URL('./remove-staging.sh', import.meta.url));

/** Ray's own, which scripts search for. */
const shared = '/tmp/ray_tmp_mount';
const privateFolder = (cluster: string): string => `${nodeFolder(cluster)}/mounts`;

/** Folder on a host under which the file mounts of a container are laid out, unless somebody else could change it there. */
export const usualStaging = (cluster: string): string => `${shared}/${cluster}`;

/** As its host has said. */
export const stagingOf = ({ cluster, staging }: Pick<NodeOrder, 'cluster' | 'staging'>): string =>
  staging ?? usualStaging(cluster);

/** Sh command that makes the folder and says `staging PATH`. */
export const stagingText = (cluster: string): string =>
  shellCommand(program, { shared, cluster, private: privateFolder(cluster) });

export const stagingIn = (stdout: string): string | undefined => /^staging (\/.*)$/m.exec(stdout)?.[1];

/** Where the file mounts of the cluster's containers lie on this host. */
export async function findStaging(host: Host, cluster: string, options: RunOptions): Promise<string> {
  const { stdout, stderr } = await host.sh(stagingText(cluster), options);
  const found = stagingIn(stdout);
  if (found !== undefined) return found;
  const detail = stderr.trim().split('\n').at(-1) ?? '';
  throw bringupErrors.NoFolder({ node: host.name, folder: usualStaging(cluster), detail });
}

/** Sh command that removes the folder, and says so when it is left. In a container some of it may have got another owner. */
export const removeStagingText = (cluster: string): string =>
  shellCommand(removal, {}, [usualStaging(cluster), privateFolder(cluster)]);
