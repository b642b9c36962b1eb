import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { rayErrors } from '../errors.ts';

/** Ray's certificates, in PEM; with them both sides show who they are. */
export interface GcsTls {
  readonly ca: Uint8Array;
  readonly cert: Uint8Array;
  readonly key: Uint8Array;
}

/**
 * The certificates of the GCS that has this port of this machine, as the environment says that it was started with, also
 * of one in a container; undefined where it runs without. Of one that is not there nothing is known, and those known before
 * count: what is meant for it is not told in clear to anyone who has the port. Throws when they cannot be read.
 */
export function tlsOfGcs(port: number, before?: GcsTls): GcsTls | undefined {
  const pid = gcsOn(port);
  if (pid === undefined) return before;
  const env = environmentOf(pid);
  if (!/^(?:1|true)$/i.test(env.get('RAY_USE_TLS') ?? '')) return undefined;
  const read = (variable: string): Uint8Array => {
    const path = env.get(variable) ?? '';
    try {
      return readFileSync(path.startsWith('/') ? `/proc/${pid}/root${path}` : join(`/proc/${pid}/cwd`, path));
    } catch (error) {
      throw rayErrors.TlsUnreadable({ variable, path, detail: (error as Error).message }, error);
    }
  };
  return { ca: read('RAY_TLS_CA_CERT'), cert: read('RAY_TLS_SERVER_CERT'), key: read('RAY_TLS_SERVER_KEY') };
}

/** Anybody may call a process so: one of this user's own counts first. */
function gcsOn(port: number): string | undefined {
  const word = `--gcs_server_port=${port}`;
  const found = names('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    const [program, ...words] = wordsOf(`/proc/${pid}/cmdline`);
    return program?.endsWith('gcs_server') === true && words.includes(word);
  });
  const isOwn = (pid: string): boolean =>
    statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === process.getuid?.();
  return found.find(isOwn) ?? found[0];
}

function environmentOf(pid: string): ReadonlyMap<string, string> {
  return new Map(
    wordsOf(`/proc/${pid}/environ`).map((word) => {
      const at = word.indexOf('=');
      return [word.slice(0, at), word.slice(at + 1)];
    }),
  );
}

/** Of a file of the system, which may be gone, or another user's. */
function wordsOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\0');
  } catch {
    return [];
  }
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
