import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Host } from '../base/host.ts';
import { shellQuoted } from '../base/shell-quote.ts';
import { bringupErrors } from './errors.ts';
import type { Place } from './node.ts';
import { feedAt } from './shell-text.ts';

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
  place: Place,
  files: readonly Cargo[],
  signal: AbortSignal,
): Promise<void> {
  const folder = cargoFolder(clusterId);
  const there = await prepare(host, folder, files, signal);
  for (const file of files) if (!there.has(basename(file.path))) await send(host, folder, file, signal);
  if (place.kind === 'host') return;
  for (const { path, bytes } of files) {
    const target = `${folder}/${basename(path)}`;
    // Looked for by size in there: a container that was made anew has none of them.
    const text = `[ "$(stat -c %s ${shellQuoted(target)} 2>/dev/null)" = ${bytes} ] || { ${storeText(folder, target, bytes)}; }`;
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
  const keep = names.length === 0 ? '' : `${names.map(shellQuoted).join(' | ')}) ;;\n    `;
  const { code, stdout, stderr } = await host.sh(
    `umask 077; mkdir -p ${shellQuoted(folder)} && cd ${shellQuoted(folder)} || exit 1
if [ -L ${shellQuoted(folder)} ] || [ ! -O . ]; then echo 'it belongs to another user' >&2; exit 1; fi
find . -name '*.new' -mmin +60 -exec rm -f {} +
for f in *; do
  case $f in
    ${keep}*.new) ;;
    *) rm -f "./$f" ;;
  esac
done
for f in *; do [ ! -f "$f" ] || echo "$(stat -c %s "./$f") $f"; done
`,
    { signal },
  );
  if (code !== 0) throw bringupErrors.NotCarried({ node: host.name, path: folder, detail: lastLine(stderr) });
  const lines = stdout.split('\n').map((line) => line.split(' '));
  return new Set(lines.flatMap(([size, name]) => (name !== undefined && sizes.get(name) === size ? [name] : [])));
}

async function send(host: Host, folder: string, { path, bytes }: Cargo, signal: AbortSignal): Promise<void> {
  const target = `${folder}/${basename(path)}`;
  const child = host.open(storeText(folder, target, bytes), { stdio: ['pipe', 'ignore', 'pipe'] });
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

/** Standard input becomes the file, when all of it has come. */
const storeText = (folder: string, target: string, bytes: number): string =>
  `umask 077; mkdir -p ${shellQuoted(folder)} && t=${shellQuoted(target)}.$$.new && trap 'rm -f "$t"' EXIT && cat >"$t" && ` +
  `{ [ "$(stat -c %s "$t")" = ${bytes} ] || { echo 'it came in part' >&2; false; }; } && sync -- "$t" && mv -f "$t" ${shellQuoted(target)}`;

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';
