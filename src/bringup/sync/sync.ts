import { realpathSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { saysDiskFull } from '../../base/files/disk-full.ts';
import type { Host } from '../../base/host.ts';
import { readShell, shellProgram } from '../../base/shell/shell-file.ts';
import { withoutTrailing } from '../../base/trailing.ts';
import { bringupErrors } from '../errors.ts';
import type { NodeFiles } from '../node/node.ts';
import { rsyncCommand, runRsync } from './rsync.ts';

const program = readShell(new URL('./make-folders.sh', import.meta.url));

type Mount = NodeFiles['mounts'][number];

export interface SyncOptions {
  readonly signal: AbortSignal;
  /** Folder on the host under which the remote paths are laid out, from where a container has them mounted. */
  readonly into?: string;
  readonly onProgress?: (progress: SyncProgress) => void;
}

export interface SyncProgress {
  /** Mounts that are there, of all. */
  readonly done: number;
  readonly total: number;
}

/** How many rsync run at once: they share one connection. */
const together = 3;

/** Where a remote path is laid out under a folder, as Ray does it: `~` is then a name like any other. */
export function stagedPath(into: string, remote: string): string {
  return `${withoutTrailing(into, '/')}/${remote.replace(/^\/+/, '')}`;
}

/**
 * Copies the files of a node to its host. Everything is looked for on this side before anything is touched on the
 * other. What has not changed costs one rsync a mount; file mounts that go into one folder under their own names share
 * one.
 */
export async function syncFiles(host: Host, files: NodeFiles, options: SyncOptions): Promise<void> {
  if (files.mounts.length === 0) return;
  for (const { local, remote } of files.mounts)
    if (statSync(local, { throwIfNoEntry: false }) === undefined)
      throw bringupErrors.SyncLocalMissing({ local, remote });
  const copies = copiesOf(files.mounts, options.into);
  await prepareFolders(host, copies, options.signal);

  let done = 0;
  const waiting = [...copies];
  const { signal } = options;
  const work = async (): Promise<void> => {
    for (let copy = waiting.shift(); copy; copy = waiting.shift()) {
      // A container sees a file that is mounted by itself by its inode, which a new file would not have.
      const extra = options.into !== undefined && !copy.directory ? ['--inplace'] : [];
      const command = rsyncCommand(host, 'up', copy.sources, copy.target, { ...files, extra });
      await runRsync(host, command, copy.target, signal);
      done += copy.mounts;
      options.onProgress?.({ done, total: files.mounts.length });
    }
  };
  const results = await Promise.allSettled(Array.from({ length: together }, work));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason as Error;
}

/** One rsync. */
interface Copy {
  readonly sources: readonly string[];
  readonly target: string;
  /** Folder that has to be there first. */
  readonly parent: string;
  readonly mounts: number;
  readonly directory: boolean;
}

function copiesOf(mounts: readonly Mount[], into: string | undefined): Copy[] {
  const place = (remote: string): string => (into === undefined ? remote : stagedPath(into, remote));
  const copies: Copy[] = [];
  const shared = new Map<string, string[]>();
  for (const mount of mounts) {
    const target = place(mount.remote);
    const bare = withoutTrailing(target, '/') || '/';
    const parent = dirname(bare);
    if (mount.directory) {
      copies.push({
        sources: [`${withoutTrailing(mount.local, '/')}/`],
        target: `${bare}/`,
        parent,
        mounts: 1,
        directory: true,
      });
      continue;
    }
    // A link is mounted for what it leads to.
    const local = realpathSync(mount.local);
    if (basename(local) === basename(bare) && !target.endsWith('/')) {
      const group = shared.get(parent);
      if (group) group.push(local);
      else shared.set(parent, [local]);
    } else
      copies.push({
        sources: [local],
        target,
        parent: target.endsWith('/') ? bare : parent,
        mounts: 1,
        directory: false,
      });
  }
  for (const [parent, sources] of shared)
    copies.push({
      sources,
      target: parent === '/' ? '/' : `${parent}/`,
      parent,
      mounts: sources.length,
      directory: false,
    });
  return copies;
}

/** One round trip: the folders above all targets, and whether rsync is there. */
async function prepareFolders(host: Host, copies: readonly Copy[], signal: AbortSignal): Promise<void> {
  const parents = [...new Set(copies.map((copy) => copy.parent))];
  const result = await host.sh(shellProgram(program, {}, parents), { signal });
  if (result.code === 0) return;
  if (result.code === 127) throw bringupErrors.SyncNoRsyncThere({ host: host.name });
  const detail = result.stderr.trim().replace(/^mkdir: /, '');
  const path = quotedIn(detail) ?? parents.join(', ');
  if (saysDiskFull(detail)) throw bringupErrors.SyncNoSpace({ host: host.name, path });
  throw bringupErrors.SyncDenied({ host: host.name, path, detail: detail.split(': ').at(-1) ?? detail });
}

/** What stands between the first quote and the last of the first line that has two. */
function quotedIn(text: string): string | undefined {
  for (const line of text.split('\n')) {
    const begin = line.search(/['‘"]/) + 1;
    const end = Math.max(...["'", '’', '"'].map((quote) => line.lastIndexOf(quote)));
    if (begin > 0 && end > begin) return line.slice(begin, end);
  }
  return undefined;
}
