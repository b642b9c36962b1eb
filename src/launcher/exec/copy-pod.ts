import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { EventSink } from '../../base/events.ts';
import type { Host } from '../../base/host.ts';
import { readShell, shellProgram } from '../../base/shell/shell-file.ts';
import { shellQuoted } from '../../base/shell/shell-quote.ts';
import { withoutTrailing } from '../../base/trailing.ts';
import { bringupErrors } from '../../bringup/errors.ts';
import { launcherEvents } from '../events.ts';
import { type CopyPaths, copyDown, copyUp } from './rsync.ts';

const unpack = readShell(new URL('./unpack-pod.sh', import.meta.url));

export interface PodCopy {
  readonly host: Host;
  readonly direction: 'up' | 'down';
  readonly paths: CopyPaths;
  readonly events: EventSink;
}

/** Copies between this machine and a pod: by rsync, or by tar where the image has no rsync, as many have none. */
export async function copyPod({ host, direction, paths, events }: PodCopy, signal: AbortSignal): Promise<void> {
  const { code } = await host.sh('command -v rsync >/dev/null', { signal });
  if (code === 0) {
    const files = { mounts: [], exclude: [], filter: [] };
    const node = { cluster: host.name, host, place: { kind: 'host' } as const, files, events };
    return await (direction === 'up' ? copyUp : copyDown)(node, paths, signal);
  }
  const { source, target } = paths;
  events.emit(launcherEvents.execCopying, {
    host: host.name,
    what: `${source} to ${target} (with tar: it has no rsync)`,
  });
  await (direction === 'up' ? tarUp(host, paths, signal) : tarDown(host, paths, signal));
}

/** What tar packs, and what it is to be called: rsync's rule of the slash at the end. */
interface Packed {
  readonly folder: string;
  readonly name: string;
}

const isInside = (path: string): boolean => /(?:^|\/)\.?$/.test(path);
const packed = (path: string): Packed =>
  isInside(path) ? { folder: path, name: '.' } : { folder: dirname(path), name: basename(path) };

/** A path that another shell reads: `~/` is the home of the user there. */
const far = (path: string): string => {
  const below = /^~(?:\/+(.*))?$/s.exec(path);
  return below === null ? shellQuoted(path) : `"$HOME"/${shellQuoted(below[1] ?? '')}`;
};

async function tarUp(host: Host, { source, target }: CopyPaths, signal: AbortSignal): Promise<void> {
  if (!existsSync(source)) throw bringupErrors.SyncLocalMissing({ local: source, remote: target, typed: true });
  const from = packed(source);
  // A file is called as the target says; what is a folder, or ends with a slash, goes into it.
  const isRenamed = !isInside(target) && statSync(source).isFile();
  const tar = spawn('tar', ['-C', from.folder, '-czf', '-', '--', from.name], { stdio: ['ignore', 'pipe', 'pipe'] });
  const into = shellProgram(unpack, { target: withoutTrailing(target, '/') || '/', is_file: isRenamed });
  const child = host.open(into, { stdio: ['pipe', 'ignore', 'pipe'] });
  await joined(tar, child, { host: host.name, path: target }, signal);
}

async function tarDown(host: Host, { source, target }: CopyPaths, signal: AbortSignal): Promise<void> {
  const from = packed(source);
  const child = host.open(`tar -C ${far(from.folder)} -czf - -- ${shellQuoted(from.name)}`, {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  mkdirSync(target, { recursive: true });
  const tar = spawn('tar', ['-C', target, '-xzf', '-'], { stdio: ['pipe', 'ignore', 'pipe'] });
  await joined(child, tar, { host: host.name, path: source }, signal);
}

/** Until both have ended; the first that failed says why. */
async function joined(
  from: ChildProcess,
  to: ChildProcess,
  about: { readonly host: string; readonly path: string },
  signal: AbortSignal,
): Promise<void> {
  const end = (): void => [from, to].forEach((child) => void child.kill('SIGTERM'));
  signal.addEventListener('abort', end, { once: true });
  try {
    const ends = [from, to].map(outcome);
    await pipeline(from.stdout!, to.stdin!).catch(() => {});
    const [read, written] = await Promise.all(ends);
    signal.throwIfAborted();
    for (const { code, stderr } of [written!, read!])
      if (code !== 0)
        throw bringupErrors.SyncFailed({
          ...about,
          code,
          detail: stderr.trim().split('\n').at(-1) || `tar ended with ${code}`,
        });
  } finally {
    signal.removeEventListener('abort', end);
  }
}

function outcome(child: ChildProcess): Promise<{ code: number; stderr: string }> {
  let stderr = '';
  child.stderr?.on('data', (piece: Buffer) => {
    stderr = `${stderr}${piece.toString()}`.slice(-4_000);
  });
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: 127, stderr: error.message }));
    child.once('close', (code) => resolve({ code: code ?? 255, stderr }));
  });
}
