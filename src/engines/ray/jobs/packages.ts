import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type FileToPack, writeZip } from '../../../base/archive/archive.ts';
import { makeFolder } from '../../../base/files/json-file.ts';
import { orAborted } from '../../../base/time/deadline.ts';
import { rayErrors } from '../errors.ts';
import { type RayHttp, refused } from './http.ts';
import type { RayJobBody } from './submission.ts';

/**
 * Brings an archive to the same path on every node, also on those that come later, and returns that path. The same name
 * again means the same content.
 */
export type ShipArchive = (
  archive: { readonly path: string; readonly name: string; readonly bytes: number },
  signal: AbortSignal,
) => Promise<string>;

/** Where an archive of this name is, on every node; undefined when it was never shipped, or is not kept any more. */
export type ShippedArchive = (name: string, signal: AbortSignal) => Promise<string | undefined>;

export interface PackagesOptions {
  readonly dashboard: string;
  /** For archives while they are made. */
  readonly folder: string;
  readonly shipArchive?: ShipArchive;
  readonly shippedArchive?: ShippedArchive;
  /** Bytes of an archive that goes through Ray itself. */
  readonly uploadLimit: number;
}

/** A package that is being brought to Ray, for all that asked for it. */
interface Making {
  readonly made: Promise<string>;
  readonly ending: AbortController;
  wanted: number;
}

/** Folders and wheels of jobs on their way to Ray: nodes fetch them from its store by their URI. */
export class RayPackages {
  readonly #options: PackagesOptions;
  readonly #http: RayHttp;
  /** What was prepared does not change, so its name is found once. */
  readonly #names = new Map<string, Promise<string>>();
  readonly #underWay = new Map<string, Making>();
  #drafts = 0;

  constructor(options: PackagesOptions, http: RayHttp) {
    this.#options = options;
    this.#http = http;
  }

  /** The URI under which Ray's nodes find the content of a folder. */
  async folder(path: string, signal: AbortSignal): Promise<string> {
    const name = await this.#nameFor(path, nameOf, signal);
    return this.#once(name, signal, async (during) => {
      if (await this.#isThere(name, during)) return `gcs://${name}`;
      const shipped = await this.#options.shippedArchive?.(name, during);
      if (shipped !== undefined) return uriOf(shipped);
      const draft = join(makeFolder(this.#options.folder), `${name}.${process.pid}-${++this.#drafts}.new`);
      try {
        await writeZip(await filesOf(path), draft, during);
        const { size } = await stat(draft);
        if (size <= this.#options.uploadLimit) return await this.#upload(name, draft, size, during);
        // Of an archive on a node's disk Ray drops a single folder at the top: it is given one to drop.
        await writeZip(await filesOf(path, 'folder/'), draft, during);
        return await this.#ship(name, draft, during);
      } finally {
        await rm(draft, { force: true });
      }
    });
  }

  /** The URI of a wheel, whose file name pip reads. */
  async wheel(path: string, signal: AbortSignal): Promise<string> {
    const name = await this.#nameFor(path, wheelNameOf, signal);
    const { size } = await stat(path);
    return this.#once(name, signal, async (during) => {
      if (await this.#isThere(name, during)) return `gcs://${name}`;
      if (size > this.#options.uploadLimit) return this.#ship(name, path, during);
      return this.#upload(name, path, size, during);
    });
  }

  async #nameFor(path: string, find: (path: string) => Promise<string>, signal: AbortSignal): Promise<string> {
    let naming = this.#names.get(path);
    if (!naming) {
      naming = find(path);
      this.#names.set(path, naming);
      naming.catch(() => this.#names.delete(path));
    }
    return await orAborted(naming, signal);
  }

  /** One making for all who want it, which is broken off when the last of them has gone. */
  async #once(name: string, signal: AbortSignal, work: (during: AbortSignal) => Promise<string>): Promise<string> {
    const making = this.#underWay.get(name) ?? this.#begin(name, work);
    making.wanted += 1;
    try {
      return await orAborted(making.made, signal);
    } finally {
      making.wanted -= 1;
      if (making.wanted === 0 && this.#underWay.get(name) === making) {
        this.#underWay.delete(name);
        making.ending.abort();
      }
    }
  }

  #begin(name: string, work: (during: AbortSignal) => Promise<string>): Making {
    const ending = new AbortController();
    const made = work(ending.signal);
    const making = { made, ending, wanted: 0 };
    this.#underWay.set(name, making);
    const over = (): void => {
      if (this.#underWay.get(name) === making) this.#underWay.delete(name);
    };
    made.then(over, over);
    return making;
  }

  /** Asking also keeps Ray from dropping it before the job that needs it has begun. */
  async #isThere(name: string, signal: AbortSignal): Promise<boolean> {
    const { status } = await this.#http.ask(this.#options.dashboard, { path: pathOf(name) }, signal);
    return status === 200;
  }

  async #upload(name: string, path: string, size: number, signal: AbortSignal): Promise<string> {
    const answer = await this.#http.ask(
      this.#options.dashboard,
      {
        method: 'PUT',
        path: pathOf(name),
        headers: { 'content-length': String(size) },
        stream: () => createReadStream(path),
        timeout: 120_000,
      },
      signal,
    );
    if (answer.status === 200) return `gcs://${name}`;
    throw refused(`PUT ${pathOf(name)}`, answer);
  }

  async #ship(name: string, path: string, signal: AbortSignal): Promise<string> {
    const bytes = (await stat(path)).size;
    const { shipArchive: ship, uploadLimit: limit } = this.#options;
    if (!ship) throw rayErrors.PackageTooLarge({ name, size: mib(bytes), limit: mib(limit) });
    return uriOf(await ship({ path, name, bytes }, signal));
  }
}

const onDisk = 'file://';
const uriOf = (path: string): string => `${onDisk}${encodeURI(path)}`;

/** Names of the archives on disk that an environment names. */
export const archivesOf = (environment: RayJobBody['runtime_env']): readonly string[] =>
  [environment['working_dir'], environment['py_modules']]
    .flat()
    .flatMap((uri) => (typeof uri === 'string' && uri.startsWith(onDisk) ? [basename(uri)] : []));

const pathOf = (name: string): string => `/api/packages/gcs/${encodeURIComponent(name)}`;

/**
 * By its content too, in the build tag, which pip takes as it is: Ray's store and its nodes trust names, and would give the
 * wheel that somebody else has under this name, or an older one. Names that are none of a wheel are left for pip to refuse.
 */
async function wheelNameOf(path: string): Promise<string> {
  const name = basename(path);
  const parts = name.slice(0, -'.whl'.length).split('-');
  if (parts.length !== 5 && parts.length !== 6) return name;
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  const build = [...parts.slice(2, -3), `0${hash.digest('hex').slice(0, 32)}`].join('_');
  return `${[...parts.slice(0, 2), build, ...parts.slice(-3)].join('-')}.whl`;
}

/** Named by its content: Ray itself keeps 64 bits of a hash that is not safe, and trusts the name. */
async function nameOf(folder: string): Promise<string> {
  const hash = createHash('sha256');
  for (const file of await filesOf(folder)) {
    hash.update(`${file.name}\0${file.mode}\0`);
    if (file.path === undefined) continue;
    hash.update(`${(await stat(file.path)).size}\0`);
    for await (const bytes of createReadStream(file.path) as AsyncIterable<Buffer>) hash.update(bytes);
  }
  return `_ray_pkg_${hash.digest('hex').slice(0, 40)}.zip`;
}

async function filesOf(root: string, prefix = ''): Promise<FileToPack[]> {
  const files: FileToPack[] = [];
  const visit = async (folder: string, name: string): Promise<void> => {
    const entries = (await readdir(folder)).sort();
    if (entries.length === 0 && name !== '') files.push({ name, mode: 0o755 });
    for (const entry of entries) {
      const path = join(folder, entry);
      const found = await stat(path).catch(() => undefined);
      if (found?.isDirectory()) await visit(path, `${name}${entry}/`);
      else if (found?.isFile()) files.push({ name: `${name}${entry}`, path, mode: found.mode & 0o777 });
    }
  };
  await visit(root, prefix);
  return files;
}

const mib = (bytes: number): string => `${Math.ceil(bytes / (1 << 20))} MiB`;
