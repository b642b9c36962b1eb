import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Host } from '../../base/host.ts';
import { readShell, shellProgram } from '../../base/shell/shell-file.ts';
import { shellQuoted } from '../../base/shell/shell-quote.ts';
import { bringupErrors } from '../errors.ts';
import type { CommandPlace } from '../node/node.ts';
import { feedAt } from '../node/shell-text.ts';

const preparing = readShell(new URL('./carry-prepare.sh', import.meta.url));
const storing = readShell(new URL('./carry-store.sh', import.meta.url));

/** Files that are large, for nodes that find them at the same path: on the host, and in its container where it has one. */
export interface Cargo {
  /** On this machine. */
  readonly path: string;
  readonly bytes: number;
}

/** Folder of a cluster for what jobs bring along, on every node. Below `/tmp`, where only its owner can replace it. */
export const cargoFolder = (clusterId: string): string => `/tmp/manta-packages-${clusterId}`;

/** Removes it again; for the end of a cluster on a host. */
export const removeCargoText = (clusterId: string): string => `rm -rf ${shellQuoted(cargoFolder(clusterId))}\n`;

/**
 * Brings files to a node, whole or not at all; those that are there stay as they are, and all others in the folder go: the
 * name says what is in them. The folder is refused where it is another user's.
 */
export async function carryFiles(
  host: Host,
  clusterId: string,
  place: CommandPlace,
  files: readonly Cargo[],
  signal: AbortSignal,
): Promise<void> {
  const folder = cargoFolder(clusterId);
  const there = await prepare(host, folder, files, signal);
  for (const file of files) if (!there.has(basename(file.path))) await send(host, folder, file, signal);
  if (place.kind === 'host') return;
  for (const { path, bytes } of files) {
    const target = `${folder}/${basename(path)}`;
    // Looked for by size in there: a container that was created again has none of them.
    const text = shellProgram(storing, { folder, target, bytes, keep: true });
    const { code, stderr } = await host.sh(feedAt(place, target, text), { signal, within: Infinity });
    if (code !== 0) throw bringupErrors.NotCarried({ node: host.name, path: target, detail: lastLine(stderr) });
  }
}

/** Makes the folder, removes what is not wanted, and says which files are there whole. */
async function prepare(
  host: Host,
  folder: string,
  files: readonly Cargo[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const names = files.map(({ path }) => basename(path));
  const sizes = new Map(files.map(({ path, bytes }) => [basename(path), String(bytes)]));
  const { code, stdout, stderr } = await host.sh(shellProgram(preparing, { folder }, names), { signal });
  if (code !== 0) throw bringupErrors.NotCarried({ node: host.name, path: folder, detail: lastLine(stderr) });
  const lines = stdout.split('\n').map((line) => line.split(' '));
  return new Set(lines.flatMap(([size, name]) => (name !== undefined && sizes.get(name) === size ? [name] : [])));
}

async function send(host: Host, folder: string, { path, bytes }: Cargo, signal: AbortSignal): Promise<void> {
  const target = `${folder}/${basename(path)}`;
  const child = host.open(shellProgram(storing, { folder, target, bytes, keep: false }), {
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(-2_000)));
  const ended = new Promise<number>((resolve) => {
    child.once('error', () => resolve(1));
    child.once('close', (code) => resolve(code ?? 1));
  });
  try {
    if (child.stdin) await pipeline(createReadStream(path), child.stdin, { signal });
  } catch (error) {
    if (signal.aborted) child.kill();
    signal.throwIfAborted();
    said ||= (error as Error).message;
  }
  if ((await ended) !== 0) throw bringupErrors.NotCarried({ node: host.name, path: target, detail: lastLine(said) });
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';
