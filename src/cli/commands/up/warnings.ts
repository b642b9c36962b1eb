import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { ClusterSpec } from '../../../core/spec/cluster.ts';
import { ownHosts } from '../../../core/spec/local.ts';
import { launcherEvents } from '../../../launcher/events.ts';
import type { RemoteCluster } from '../../../launcher/reach/remote-cluster.ts';
import type { Io } from '../../command.ts';

/** More of them hide what `up` does; `manta config check` has them all. */
const mostShown = 8;

/** Tells what in the file does not mean what its writer may believe, such as keys of an earlier Ray. */
export function warnOfFile({ file: { config, warnings }, spec }: RemoteCluster, io: Pick<Io, 'events'>): void {
  for (const { at, message } of warnings.slice(0, mostShown))
    io.events.emit(launcherEvents.fileWarning, { file: config.path, line: at.line, message });
  const more = warnings.length - mostShown;
  if (more > 0) io.events.emit(launcherEvents.moreWarnings, { file: config.path, more });
  for (const key of missingKeys(spec)) io.events.emit(launcherEvents.keyMissing, { key });
}

/** A key that is on its user's agent alone is not a mistake; a name that was mistyped looks the same. */
function missingKeys(spec: ClusterSpec): ReadonlySet<string> {
  const { head, pools } = ownHosts(spec);
  const hosts = [...(head === undefined ? [] : [head]), ...pools.flatMap((pool) => pool.hosts)];
  const keys = [spec.auth.privateKey, ...hosts.map(({ key }) => key)].filter((key) => key !== undefined);
  return new Set(keys.filter((key) => !existsSync(resolve(key.replace(/^~(?=\/|$)/, homedir())))));
}
