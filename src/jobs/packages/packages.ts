import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream, existsSync, linkSync, rmSync, statSync } from 'node:fs';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import type { request } from 'node:https';
import { join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type UnzipLimits, unzip } from '../../base/archive/archive.ts';
import { untar } from '../../base/archive/tar.ts';
import { makeFolder, syncAll, syncFolder } from '../../base/files/durable.ts';
import type { Database } from '../../base/sqlite/sqlite.ts';
import type { Clock, Duration } from '../../base/time/clock.ts';
import { jobErrors } from '../errors.ts';
import { type DownloadLimits, download } from './downloads.ts';
import { endingOf, wheelName } from './formats.ts';

export interface PackageLimits extends UnzipLimits, DownloadLimits {
  /** Of all packages kept; those that no live job needs give way, least recently used first. @default 20 GiB */
  readonly keepBytes?: number;
  /** A package that no live job needs goes after this long. @default 24 h */
  readonly keepFor?: Duration;
}

interface Row {
  readonly owner: string;
  readonly name: string;
  readonly sha256: string;
  readonly size: number;
  readonly used_at: number;
}

export interface PackageStoreOptions {
  readonly database: Database;
  readonly folder: string;
  readonly clock: Clock;
  readonly limits?: PackageLimits;
  /** Asks the server of an https archive. @default that of node:https */
  readonly request?: typeof request;
}

/**
 * Working directories and modules on the head: `blobs/<sha256>` as sent, `unpacked/<sha256>/` ready for use. Content is
 * stored once, no matter who sends it; names belong to their owner, because a name says nothing about what is in the package.
 */
export class PackageStore {
  readonly #options: PackageStoreOptions;
  readonly #limits: PackageLimits & { readonly uploadBytes: number };
  readonly #underWay = new Map<string, Promise<string>>();

  constructor(options: PackageStoreOptions) {
    this.#options = options;
    this.#limits = { ...options.limits, uploadBytes: options.limits?.uploadBytes ?? 10 * 2 ** 30 };
  }

  /** Whether the owner has sent a package of this name; it is kept for a while from then on. */
  async has(owner: string, name: string): Promise<boolean> {
    checkName(name);
    const row = this.#find(owner, name);
    if (!row || !existsSync(this.#blob(row.sha256))) return false;
    await this.#touch(owner, name);
    return true;
  }

  async put(owner: string, name: string, body: Readable): Promise<{ readonly sha256: string; readonly size: number }> {
    checkName(name);
    const stored = await this.#receive(body);
    await this.#insert(owner, name, stored.sha256, stored.size);
    return stored;
  }

  /** Folder with the unpacked content of an archive, or the path of a `.whl`. */
  async open(owner: string, uri: string, signal: AbortSignal): Promise<string> {
    if (uri.startsWith('https://')) return this.#openRemote(owner, uri, signal);
    const name = uri.replace(/^gcs:\/\//, '');
    checkName(name);
    const row = this.#find(owner, name);
    if (!row || !existsSync(this.#blob(row.sha256))) throw jobErrors.PackageMissing({ uri });
    await this.#touch(owner, name);
    return this.#ready(row.sha256, name);
  }

  /** Whether `open` has nothing to download and nothing to unpack. */
  isReady(owner: string, uri: string): boolean {
    if (!uri.startsWith('gcs://')) return false;
    const name = packageName(uri);
    const row = this.#find(owner, name);
    return row !== undefined && existsSync(this.#blob(row.sha256)) && existsSync(this.#pathOf(row.sha256, name));
  }

  /** Drops what no job needs and what the limits do not allow. `needed` are `<owner>/<name>`. */
  sweep(needed: ReadonlySet<string>): Promise<void> {
    return sweep(this.#options, needed, this.#underWay);
  }

  async #openRemote(owner: string, uri: string, signal: AbortSignal): Promise<string> {
    const { clock, request } = this.#options;
    const downloads = { clock, limits: this.#limits, ...(request && { request }) };
    const { sha256, size } = await download(uri, (body) => this.#receive(body), downloads, signal);
    // Each content that an address had is a package of its own: a job may still use the one before.
    const name = `${packageName(uri)}_${sha256}${endingOf(new URL(uri).pathname) ?? '.zip'}`;
    await this.#insert(owner, name, sha256, size);
    const path = await this.#ready(sha256, wheelName(uri) ?? (new URL(uri).pathname.split('/').at(-1) || name));
    return path.endsWith('.whl') ? path : topOf(path);
  }

  #blob(sha256: string): string {
    return join(this.#options.folder, 'blobs', sha256);
  }

  #pathOf(sha256: string, name: string): string {
    const { folder } = this.#options;
    return name.endsWith('.whl') ? join(folder, 'wheels', sha256, name) : join(folder, 'unpacked', sha256);
  }

  #receive(body: Readable): Promise<{ sha256: string; size: number }> {
    return receive(body, this.#options.folder, this.#limits.uploadBytes, (sha256) => this.#blob(sha256));
  }

  #find(owner: string, name: string): Row | undefined {
    const { database } = this.#options;
    return database.prepare('SELECT * FROM packages WHERE owner = ? AND name = ?').get(owner, name) as Row | undefined;
  }

  #touch(owner: string, name: string): Promise<unknown> {
    const { database, clock } = this.#options;
    return database.write(() =>
      database.prepare('UPDATE packages SET used_at = ? WHERE owner = ? AND name = ?').run(clock.now(), owner, name),
    );
  }

  #insert(owner: string, name: string, sha256: string, size: number): Promise<unknown> {
    const { database, clock } = this.#options;
    return database.write(() =>
      database
        .prepare(
          'INSERT INTO packages (owner, name, sha256, size, used_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (owner, name) DO UPDATE SET sha256 = excluded.sha256, size = excluded.size, used_at = excluded.used_at',
        )
        .run(owner, name, sha256, size, clock.now()),
    );
  }

  #ready(sha256: string, name: string): Promise<string> {
    return this.#once(name.endsWith('.whl') ? `${sha256} ${name}` : sha256, async () => {
      if (name.endsWith('.whl')) return this.#wheel(sha256, name);
      const target = this.#pathOf(sha256, name);
      if (!existsSync(target)) {
        makeFolder(join(this.#options.folder, 'unpacked'));
        await unpack(this.#blob(sha256), target, this.#options.limits ?? {}, name);
      }
      return target;
    });
  }

  /** Unpacks a content only once at a time, for all who ask. */
  #once(key: string, work: () => Promise<string>): Promise<string> {
    const running = this.#underWay.get(key);
    if (running) return running;
    const promise = work().finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, promise);
    return promise;
  }

  /** Pip reads the name: the same content under it, which a crash cannot cut short as it can a copy. */
  #wheel(sha256: string, name: string): string {
    const place = makeFolder(join(this.#options.folder, 'wheels', sha256));
    const target = this.#pathOf(sha256, name);
    const blob = this.#blob(sha256);
    if (statSync(target, { throwIfNoEntry: false })?.size === statSync(blob).size) return target;
    rmSync(target, { force: true });
    linkSync(blob, target);
    syncFolder(place);
    return target;
  }
}

/** The name under which a URI is kept; for an https archive without the part that tells its contents apart. */
export function packageName(uri: string): string {
  if (uri.startsWith('gcs://')) return uri.slice('gcs://'.length);
  return `_url_${createHash('sha256').update(uri).digest('hex').slice(0, 32)}`;
}

async function unpack(path: string, target: string, limits: UnzipLimits, name: string): Promise<void> {
  const ending = endingOf(name);
  if (ending === '.zip') await unzip(path, target, limits, name);
  else await untar(path, target, ending === '.tar.xz' ? 'xz' : 'gzip', limits, name);
}

/** Names become parts of URLs and file names. */
function checkName(name: string): void {
  if (!/^[A-Za-z0-9_][A-Za-z0-9._+-]{0,200}$/.test(name) || name.includes('..') || endingOf(name) === undefined)
    throw jobErrors.PackageName({ name });
}

/** Streams to disk, hashing on the way; the content appears under its hash once it is whole. */
async function receive(
  body: Readable,
  folder: string,
  limit: number,
  blob: (sha256: string) => string,
): Promise<{ sha256: string; size: number }> {
  const blobs = makeFolder(join(folder, 'blobs'));
  const draft = join(blobs, `${randomUUID()}.part`);
  const hash = createHash('sha256');
  let size = 0;
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      hash.update(chunk);
      if (size > limit) done(jobErrors.PackageTooLarge({ limit }));
      else done(null, chunk);
    },
  });
  try {
    await pipeline(body, counter, createWriteStream(draft, { mode: 0o600, flush: true }));
    const sha256 = hash.digest('hex');
    await rename(draft, blob(sha256));
    await syncAll([blobs]);
    return { sha256, size };
  } finally {
    await rm(draft, { force: true });
  }
}

/** A remote archive with a single folder at its top means that folder, as in Ray. */
async function topOf(folder: string): Promise<string> {
  const entries = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.name !== '__MACOSX');
  const only = entries.length === 1 ? entries[0] : undefined;
  return only?.isDirectory() ? join(folder, only.name) : folder;
}

async function sweep(
  options: PackageStoreOptions,
  needed: ReadonlySet<string>,
  underWay: ReadonlyMap<string, unknown>,
): Promise<void> {
  const { database, folder, clock } = options;
  const keepFor = options.limits?.keepFor ?? 86_400_000;
  const keepBytes = options.limits?.keepBytes ?? 20 * 2 ** 30;
  const rows = database.prepare('SELECT * FROM packages ORDER BY used_at').all() as unknown as Row[];
  let total = rows.reduce((sum, row) => sum + row.size, 0);
  const gone: Row[] = [];
  for (const row of rows) {
    const plain = row.name.slice(0, -(endingOf(row.name) ?? '').length).replace(/_[0-9a-f]{64}$/, '');
    if (needed.has(`${row.owner}/${row.name}`) || needed.has(`${row.owner}/${plain}`)) continue;
    if (clock.now() - row.used_at <= keepFor && total <= keepBytes) continue;
    gone.push(row);
    total -= row.size;
  }
  if (gone.length > 0) {
    await database.write(() => {
      for (const row of gone)
        database
          .prepare('DELETE FROM packages WHERE owner = ? AND name = ? AND used_at = ?')
          .run(row.owner, row.name, row.used_at);
    });
  }
  if (underWay.size > 0) return;
  const kept = new Set(
    (database.prepare('SELECT DISTINCT sha256 FROM packages').all() as { sha256: string }[]).map((row) => row.sha256),
  );
  for (const part of ['blobs', 'unpacked', 'wheels']) {
    for (const name of await readdir(join(folder, part)).catch(() => [])) {
      if (kept.has(name)) continue;
      const found = await stat(join(folder, part, name)).catch(() => undefined);
      const young =
        found && Math.abs(Date.now() - found.mtimeMs) < settleTime && !gone.some((row) => row.sha256 === name);
      if (!young) await rm(join(folder, part, name), { recursive: true, force: true });
    }
  }
}

/** Uploads and unpackings leave files that no row names for less than this. */
const settleTime = 86_400_000;
