import { statSync } from 'node:fs';
import { posix } from 'node:path';
import type { EventSink } from '../../base/events.ts';
import type { Host } from '../../base/host.ts';
import { shellQuoted } from '../../base/shell/shell-quote.ts';
import { withoutTrailing } from '../../base/trailing.ts';
import { bringupErrors } from '../../bringup/errors.ts';
import type { CommandPlace, NodeFiles } from '../../bringup/node/node.ts';
import { bashAt } from '../../bringup/node/shell-text.ts';
import { rsyncCommand, runRsync } from '../../bringup/sync/rsync.ts';
import { findStaging } from '../../bringup/sync/staging.ts';
import { stagedPath, syncFiles } from '../../bringup/sync/sync.ts';
import { launcherErrors } from '../errors.ts';
import { launcherEvents } from '../events.ts';

/** A node to copy to or from. */
export interface CopyNode {
  readonly cluster: string;
  readonly host: Host;
  readonly place: CommandPlace;
  /** File mounts of the cluster, as they lie on this machine. */
  readonly files: NodeFiles;
  readonly events: EventSink;
}

export interface CopyPaths {
  readonly source: string;
  readonly target: string;
}

/** Both paths or neither: with one of them nobody knows which side it is on. */
export function copyPaths(source: string | undefined, target: string | undefined): CopyPaths | undefined {
  if (source === undefined) return undefined;
  if (target === undefined) throw launcherErrors.ExecHalfPaths({ given: source });
  return { source, target };
}

/** Copies to the node, in its container where it has one; without paths all file mounts. */
export async function copyUp(node: CopyNode, paths: CopyPaths | undefined, signal: AbortSignal): Promise<void> {
  const { host, files, place, events } = node;
  if (paths === undefined) {
    const into = place.kind === 'container' ? { into: await findStaging(host, node.cluster, { signal }) } : {};
    tell(events, host, files.mounts.map(({ remote }) => remote).join(', ') || 'nothing (there are no file_mounts)');
    return await syncFiles(host, files, { signal, ...into });
  }
  const { source, target } = paths;
  if (statSync(source, { throwIfNoEntry: false }) === undefined)
    throw bringupErrors.SyncLocalMissing({ local: source, remote: target, typed: true });
  const far = await farPath(node, target, signal);
  await makeParent(host, far.place, far.path, signal);
  tell(events, host, `${source} to ${target}`);
  await runRsync(host, rsyncCommand(host, 'up', [source], far.path, { ...files, ...far }), target, signal);
}

/** Copies from the node; without paths what is at the file mounts, back to where they came from. */
export async function copyDown(node: CopyNode, paths: CopyPaths | undefined, signal: AbortSignal): Promise<void> {
  const { host, files, events } = node;
  const slash = (path: string): string => `${withoutTrailing(path, '/')}/`;
  const all = files.mounts.map(({ remote, local, directory }) =>
    directory ? { source: slash(remote), target: slash(local) } : { source: remote, target: local },
  );
  for (const { source, target } of paths === undefined ? all : [paths]) {
    const far = await farPath(node, source, signal);
    tell(events, host, `${source} to ${target}`);
    await runRsync(host, rsyncCommand(host, 'down', [far.path], target, { ...files, ...far }), source, signal);
  }
}

const tell = (events: EventSink, host: Host, what: string): void =>
  events.emit(launcherEvents.execCopying, { host: host.name, what });

interface FarPath {
  readonly path: string;
  readonly place: CommandPlace;
  readonly extra?: readonly string[];
}

/** What a container has mounted from its host is written on the host: the container sees it, and keeps nothing of it. */
async function farPath({ host, cluster, place, files }: CopyNode, path: string, signal: AbortSignal): Promise<FarPath> {
  if (place.kind === 'host') return { path, place };
  const bare = (word: string): string => withoutTrailing(word, '/');
  const mount = files.mounts.find(({ remote }) => bare(path) === bare(remote) || path.startsWith(`${bare(remote)}/`));
  if (mount === undefined) return { path, place };
  // A file that is mounted by itself is seen by its inode, which a new file would not have.
  const extra = mount.directory ? {} : { extra: ['--inplace'] };
  return { path: stagedPath(await findStaging(host, cluster, { signal }), path), place: { kind: 'host' }, ...extra };
}

async function makeParent(host: Host, place: CommandPlace, path: string, signal: AbortSignal): Promise<void> {
  const parent = posix.dirname(path);
  if (['.', '/', '~'].includes(parent)) return;
  const below = /^~\/+(.*)$/s.exec(parent)?.[1];
  const word = below === undefined ? shellQuoted(parent) : `"$HOME"/${shellQuoted(below)}`;
  const { code, stderr } = await host.sh(bashAt(place, `[ -d ${word} ] || mkdir -p -- ${word}`), { signal });
  if (code !== 0) throw bringupErrors.SyncDenied({ host: host.name, path: parent, detail: stderr.trim() });
}
