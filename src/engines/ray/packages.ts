import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type FileToPack, writeZip } from '../../base/archive.ts';
import { makeFolder } from '../../base/json-file.ts';
import { rayErrors } from './errors.ts';
import { type RayHttp, textOf } from './http.ts';

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

/** Folders and wheels of jobs on their way to Ray: nodes fetch them from its store by their URI. */
export class RayPackages {
  readonly #options: PackagesOptions;
  readonly #http: RayHttp;
  /** A prepared folder does not change, so its name is found once. */
  readonly #names = new Map<string, Promise<string>>();
  readonly #underWay = new Map<string, Promise<string>>();

  constructor(options: PackagesOptions, http: RayHttp) {
    this.#options = options;
    this.#http = http;
  }

  /** The URI under which Ray's nodes find the content of a folder. */
  async folder(path: string, signal: AbortSignal): Promise<string> {
    let naming = this.#names.get(path);
    if (!naming) {
      naming = nameOf(path);
      this.#names.set(path, naming);
      naming.catch(() => this.#names.delete(path));
    }
    const name = await naming;
    return this.#once(name, async () => {
      if (await this.#isThere(name, signal)) return `gcs://${name}`;
      const shipped = await this.#options.shippedArchive?.(name, signal);
      if (shipped !== undefined) return uriOf(shipped);
      const draft = join(makeFolder(this.#options.folder), `${name}.${process.pid}.new`);
      try {
        await writeZip(await filesOf(path), draft);
        const { size } = await stat(draft);
        if (size <= this.#options.uploadLimit) return await this.#upload(name, draft, size, signal);
        // Of an archive on a node's disk Ray drops a single folder at the top: it is given one to drop.
        await writeZip(await filesOf(path, 'folder/'), draft);
        return await this.#ship(name, draft, signal);
      } finally {
        await rm(draft, { force: true });
      }
    });
  }

  /** The URI of a wheel, which keeps its file name: pip reads it. */
  async wheel(path: string, signal: AbortSignal): Promise<string> {
    const name = basename(path);
    const { size } = await stat(path);
    return this.#once(name, async () => {
      if (await this.#isThere(name, signal)) return `gcs://${name}`;
      if (size > this.#options.uploadLimit) return this.#ship(name, path, signal);
      return this.#upload(name, path, size, signal);
    });
  }

  async #once(name: string, work: () => Promise<string>): Promise<string> {
    const known = this.#underWay.get(name);
    if (known) return known;
    const made = work().finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, made);
    return made;
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
    throw rayErrors.Refused({ call: `PUT ${pathOf(name)}`, detail: `${answer.status} ${textOf(answer)}` });
  }

  async #ship(name: string, path: string, signal: AbortSignal): Promise<string> {
    const bytes = (await stat(path)).size;
    const { shipArchive: ship, uploadLimit: limit } = this.#options;
    if (!ship) throw rayErrors.PackageTooLarge({ name, size: mib(bytes), limit: mib(limit) });
    return uriOf(await ship({ path, name, bytes }, signal));
  }
}

const uriOf = (path: string): string => `file://${encodeURI(path)}`;

const pathOf = (name: string): string => `/api/packages/gcs/${encodeURIComponent(name)}`;

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
