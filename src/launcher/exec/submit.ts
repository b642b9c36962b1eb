import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import type { Host } from '../../base/host.ts';
import { newMark } from '../../base/shell/host-program.ts';
import { readShell, shellProgram } from '../../base/shell/shell-file.ts';
import { shellQuoted } from '../../base/shell/shell-quote.ts';
import type { CommandPlace } from '../../bringup/node/node.ts';
import { launcherErrors } from '../errors.ts';

const copying = readShell(new URL('./copy-script.sh', import.meta.url));

export interface Script {
  /** Path on this machine. */
  readonly path: string;
  /** Each is one word of the script's, whatever is in it. */
  readonly words: readonly string[];
  /** Shell text behind the script, as Ray's `--args` is. */
  readonly text?: string;
}

/** Shell text that runs the script where `copyScript` has put it. */
export function scriptCommand({ path, words, text }: Script): string {
  return ['python', `~/${shellQuoted(basename(path))}`, ...words.map(shellQuoted), ...(text ? [text] : [])].join(' ');
}

/** Puts the script into the home of the user at the place. */
export async function copyScript(host: Host, place: CommandPlace, path: string, signal: AbortSignal): Promise<void> {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isFile()) throw launcherErrors.ExecNoScript({ script: path });
  const bytes = readFileSync(path);
  const mode = found.mode & 0o777;
  const name = basename(path);
  if (place.kind === 'host') return await host.put(`~/${name}`, bytes, mode, { signal });
  const inside = shellProgram(copying, {
    name,
    mode: mode.toString(8),
    bytes: bytes.length,
    fresh: `.${newMark()}.new`,
  });
  await host.connect({ signal, within: 30_000 });
  const child = host.open(`${place.engine} exec -i ${shellQuoted(place.name)} sh -c ${shellQuoted(inside)}`, {
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 255));
  });
  child.stdin!.on('error', () => {});
  child.stdin!.end(bytes);
  const [code, said] = await Promise.all([ended, textOf(child.stderr!)]);
  signal.throwIfAborted();
  if (code !== 0)
    throw launcherErrors.ExecNotCopied({ script: path, where: `${place.name} on ${host.name}`, detail: said.trim() });
}
