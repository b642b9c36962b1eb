import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { namesIn } from '../../../base/files/json-file.ts';
import { isNoSecret, isPlace, isSecretName, looksRandom, redact, secretsInText } from '../../../base/redact.ts';
import type { StateFolder } from '../../../state/state-folder.ts';

/** What must not leave the machine: the tokens of this cluster, wherever they stand. */
export function knownSecrets(folder: StateFolder | undefined, more: readonly (string | undefined)[]): string[] {
  const own =
    folder === undefined ? [] : namesIn(folder.files.tokens).map((name) => textIn(join(folder.files.tokens, name)));
  return [...own, ...more].map((secret) => secret?.trim() ?? '').filter((secret) => secret.length >= 8);
}

function textIn(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** By which the journal names a launch: masked where it stands alone, it still joins what belongs together. */
const isLaunchToken = (key: string): boolean => key === 'token';

/** As `secretsInText`, of all texts in a value, and what stands under a secret's key or in env_vars. */
export function secretsInValue(value: unknown, key = ''): string[] {
  if (typeof value === 'string') {
    const own = isSecretName(key) && !isLaunchToken(key) && !isPlace(value) && looksRandom(value) ? [value] : [];
    return [...own, ...secretsInText(value, 'any')];
  }
  if (typeof value !== 'object' || value === null) return [];
  const inside = /^env_?vars$/i.test(key) ? () => 'secret' : (name: string) => (Array.isArray(value) ? key : name);
  return Object.entries(value).flatMap(([name, each]) => secretsInValue(each, inside(name)));
}

/** Text without known secrets and without what looks like one. */
export function cleanText(text: string, secrets: readonly string[]): string {
  let clean = redact(text);
  // One may be the beginning of another.
  for (const secret of secrets.toSorted((a, b) => b.length - a.length)) clean = clean.replaceAll(secret, '***');
  return clean;
}

/** A value with all that stands under a secret's name masked, and every value of `env_vars`. */
export function cleanValue(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return cleanText(value, secrets);
  if (Array.isArray(value)) return value.map((each) => cleanValue(each, secrets));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]): [string, unknown] => {
      if (/^env_?vars$/i.test(key) && typeof each === 'object' && each !== null)
        return [key, Object.fromEntries(Object.keys(each).map((name) => [name, '***']))];
      const masked = isSecretName(key) && ((typeof each === 'string' && !isNoSecret(each)) || typeof each === 'number');
      return [key, masked ? '***' : cleanValue(each, secrets)];
    }),
  );
}

/** A cluster file with the values of secrets masked line by line: one that cannot be read is worth showing most. */
export function cleanYaml(text: string, secrets: readonly string[]): string {
  const lines = text.split('\n').map((line) => {
    const [, head, key] = /^(\s*(?:- )?["']?([\w.-]+)["']?\s*:\s+)\S/.exec(line) ?? [];
    return head !== undefined && isSecretName(key ?? '') && !isNoSecret(line.slice(head.length).trim())
      ? `${head}***`
      : line;
  });
  return cleanText(lines.join('\n'), secrets);
}
