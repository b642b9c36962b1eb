import { closeSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { crypto } from '../crypto.ts';
import { makeFolder, writeDurably } from '../files/durable.ts';
import { withoutTrailing } from '../trailing.ts';
import { sshErrors } from './errors.ts';
import type { HostKeyPin } from './target.ts';

export interface PinnedKey {
  /** As ssh names it: `ssh-ed25519`, … */
  readonly type: string;
  /** As `ssh-keygen -l` shows it: `SHA256:…` */
  readonly fingerprint: string;
}

/** The keys by which the instance is known; none before the first connection. */
export const readPin = (pin: HostKeyPin): PinnedKey[] => keysIn(linesOf(pin.file), pin.alias);

export const isPinned = (pin: HostKeyPin): boolean =>
  linesOf(pin.file).some((line) => keyOf(line, pin.alias) !== undefined);

/** The same, of a file that lies elsewhere. */
export function keysIn(lines: readonly string[], alias: string): PinnedKey[] {
  // Two processes that connect for the first time at once write the same key twice.
  return [...new Set(lines)].flatMap((line) => {
    const found = keyOf(line, alias);
    if (found === undefined) return [];
    const { type, key } = found;
    const digest = crypto().createHash('sha256').update(Buffer.from(key, 'base64')).digest('base64');
    return [{ type, fingerprint: `SHA256:${withoutTrailing(digest, '=')}` }];
  });
}

function keyOf(line: string, alias: string): { readonly type: string; readonly key: string } | undefined {
  const [names, type, key] = line.split(' ');
  if (type === undefined || key === undefined || !names?.split(',').includes(alias)) return undefined;
  return { type, key };
}

/** Forgets the keys of the instance, which are returned: the one it shows next is taken and checked ever after. */
export function acceptPin(pin: HostKeyPin): PinnedKey[] {
  const forgotten = readPin(pin);
  if (forgotten.length === 0) return [];
  const kept = linesOf(pin.file).filter((line) => !line.split(' ')[0]?.split(',').includes(pin.alias));
  writeDurably(pin.file, kept.map((line) => `${line}\n`).join(''));
  return forgotten;
}

/** Without a file to keep the key in, ssh would take any key, every time. */
export function preparePin(pin: HostKeyPin): void {
  try {
    makeFolder(dirname(pin.file));
    closeSync(openSync(pin.file, 'a', 0o600));
  } catch (error) {
    throw sshErrors.PinFile({ file: pin.file, detail: (error as Error).message }, error);
  }
}

/** After a connection: a key that could not be written down would be taken again each time, and ssh goes on without a word. */
export function refuseUnkept(pin: HostKeyPin): void {
  if (readPin(pin).length === 0) throw sshErrors.PinFile({ file: pin.file, detail: 'it was not written' });
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw sshErrors.PinFile({ file, detail: (error as Error).message }, error);
  }
}
