import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { namesIn } from '../base/files/json-file.ts';
import type { StateFolder } from '../state/state-folder.ts';
import { clientErrors } from './errors.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The token by Ray's rules: RAY_AUTH_TOKEN, then the file that RAY_AUTH_TOKEN_PATH names, which must be readable;
 * `fallback`: the file that Ray keeps in the home folder.
 */
export function tokenFromEnvironment(env: Env, which: 'given' | 'fallback' = 'given'): string | undefined {
  if (which === 'fallback') return readToken(join(env['HOME'] ?? homedir(), '.ray', 'auth_token'), false);
  const token = env['RAY_AUTH_TOKEN']?.trim();
  if (token) return token;
  const path = env['RAY_AUTH_TOKEN_PATH'];
  return path ? readToken(path, true) : undefined;
}

/** The token of a user in the folder of a cluster of this machine; without a name that of the user who made it. */
export function localToken(folder: StateFolder, user?: string): string | undefined {
  const { tokens } = folder.files;
  if (user !== undefined) return readToken(join(tokens, user), false);
  const names = namesIn(tokens)
    .filter((name) => !name.startsWith('.'))
    .sort();
  const own = names.find((name) => name === 'owner') ?? names[0];
  return own === undefined ? undefined : readToken(join(tokens, own), true);
}

function readToken(path: string, required: boolean): string | undefined {
  try {
    const token = readFileSync(path, 'utf8').split('\n')[0]?.trim();
    if (token) return token;
    if (required) throw clientErrors.NoToken({ file: path, problem: 'it is empty' });
    return undefined;
  } catch (error) {
    if (clientErrors.NoToken.is(error)) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (!required && (code === 'ENOENT' || code === 'ENOTDIR')) return undefined;
    throw clientErrors.NoToken({ file: path, problem: code === 'ENOENT' ? 'no such file' : message }, error);
  }
}
