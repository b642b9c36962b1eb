import { createReadStream, createWriteStream, type ReadStream } from 'node:fs';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { ZipFile as ZipWriter } from 'yazl';
import { moveDurably } from '../files/durable.ts';
import { archiveErrors } from './errors.ts';

export interface UnzipLimits {
  /** @default 200,000 */
  readonly entries?: number;
  /** Bytes of all files unpacked. @default 20 GiB */
  readonly bytes?: number;
  /** Bytes unpacked by byte packed, for archives that unpack to more than 100 MiB. @default 200 */
  readonly ratio?: number;
}

export interface FileToPack {
  /** Inside the archive, with forward slashes. */
  readonly name: string;
  /** Absent: an empty folder. */
  readonly path?: string;
  readonly mode: number;
}

/** A deflated zip of the files, the same bytes whenever the same files are given. */
export async function writeZip(files: readonly FileToPack[], target: string, signal?: AbortSignal): Promise<void> {
  const zip = new ZipWriter();
  // 1980-01-01 is the first date a zip can hold.
  const mtime = new Date(Date.UTC(1980, 0, 1));
  let reading: ReadStream | undefined;
  for (const file of files) {
    const { path } = file;
    if (path === undefined) zip.addEmptyDirectory(file.name, { mtime, mode: 0o40755 });
    else
      zip.addReadStreamLazy(
        file.name,
        { mtime, mode: 0o100000 | (file.mode & 0o777), compress: true, forceDosTimestamp: true },
        (give) => {
          reading = createReadStream(path).on('error', (error) => zip.emit('error', error));
          give(null, reading);
        },
      );
  }
  zip.end();
  const failed = new Promise<never>((_, reject) => zip.once('error', reject));
  const written = pipeline(zip.outputStream, createWriteStream(target, { mode: 0o600 }), { ...(signal && { signal }) });
  try {
    await Promise.race([written, failed]);
  } finally {
    // Of a zip that is broken off nobody reads it to its end.
    reading?.destroy();
  }
}

/**
 * Unpacks into `target`, which appears whole and on disk, or not at all. Entries cannot leave it, links are written as plain files,
 * and limits are held against the bytes that really come out. Execute bits are kept, other special bits are not.
 * `name` is what failures call the archive.
 */
export async function unzip(
  path: string,
  target: string,
  limits: UnzipLimits = {},
  name: string = basename(path),
): Promise<void> {
  const draft = `${target}.unpacking`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  let zip: ZipFile | undefined;
  try {
    zip = await openPromise(path, {
      lazyEntries: true,
      autoClose: false,
      validateEntrySizes: true,
      strictFileNames: true,
    });
    await unpackInto(zip, draft, limits, name);
    await moveDurably(draft, target);
  } catch (error) {
    throw unpackFailure(error, name);
  } finally {
    zip?.close();
    await rm(draft, { recursive: true, force: true });
  }
}

/** Entries that stand in each other's way are the archive's fault; a full or failing disk is not. */
const conflicts = new Set(['ENOTDIR', 'EEXIST', 'EISDIR', 'ENAMETOOLONG', 'EINVAL']);

export function unpackFailure(error: unknown, name: string): unknown {
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (code?.startsWith('MANTA_') || syscall !== undefined) return error;
  return archiveErrors.NotAnArchive({ path: name, detail: message }, error);
}

export function entryFailure(error: unknown, name: string, entry: string): unknown {
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (code?.startsWith('MANTA_')) return error;
  const shown = entry.slice(0, 200);
  if (syscall === undefined)
    return archiveErrors.NotAnArchive({ path: name, detail: `entry '${shown}': ${message}` }, error);
  if (!conflicts.has(code ?? '')) return error;
  const detail =
    code === 'ENAMETOOLONG' || code === 'EINVAL'
      ? 'its name is not a valid file name'
      : 'it conflicts with another entry';
  return archiveErrors.Unsafe({ path: name, entry: shown, detail }, error);
}

async function unpackInto(zip: ZipFile, folder: string, limits: UnzipLimits, name: string): Promise<void> {
  const { count, grow, placeOf } = withinLimits(limits, zip.fileSize, name);
  count(zip.entryCount);
  const made = new Set<string>();
  const unpack = async (entry: Entry): Promise<void> => {
    if (entry.isEncrypted())
      throw archiveErrors.Unsafe({ path: name, entry: entry.fileName, detail: 'it is encrypted' });
    const path = placeOf(entry.fileName, folder);
    const parent = entry.fileName.endsWith('/') ? path : dirname(path);
    if (!made.has(parent)) await mkdir(parent, { recursive: true, mode: 0o700 });
    made.add(parent);
    if (entry.fileName.endsWith('/')) return;
    const counter = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        try {
          grow(chunk.length);
          done(null, chunk);
        } catch (error) {
          done(error as Error);
        }
      },
    });
    await pipeline(await zip.openReadStreamPromise(entry), counter, createWriteStream(path, { mode: 0o600 }));
    const mode = (entry.externalFileAttributes >>> 16) & 0o777;
    await chmod(path, mode === 0 ? 0o644 : mode | 0o600);
  };
  for await (const entry of zip.eachEntry())
    await unpack(entry).catch((error: unknown) => {
      throw entryFailure(error, name, entry.fileName);
    });
}

/** What an archive of so many bytes may hold, and where its entries may lie; each throws where it may not. */
export function withinLimits(
  limits: UnzipLimits,
  packed: number,
  name: string,
): {
  readonly count: (entries: number) => void;
  readonly grow: (bytes: number) => void;
  readonly placeOf: (entry: string, folder: string) => string;
} {
  const most = { entries: limits.entries ?? 200_000, bytes: limits.bytes ?? 20 * 2 ** 30, ratio: limits.ratio ?? 200 };
  const tooLarge = (detail: string): Error => archiveErrors.TooLarge({ path: name, detail });
  let unpacked = 0;
  return {
    count(entries) {
      if (entries > most.entries) throw tooLarge(`it has more than ${most.entries} entries (${entries})`);
    },
    grow(bytes) {
      unpacked += bytes;
      if (unpacked > most.bytes) throw tooLarge(`it unpacks to more than ${most.bytes} bytes`);
      if (unpacked > 100 * 2 ** 20 && unpacked > most.ratio * packed)
        throw tooLarge(`it unpacks to more than ${most.ratio} times its size`);
    },
    placeOf(entry, folder) {
      const path = join(folder, entry);
      const leadsOut =
        entry.startsWith('/') ||
        entry.includes('\0') ||
        entry.includes('\\') ||
        entry.split('/').includes('..') ||
        /^[A-Za-z]:/.test(entry) ||
        !`${path}${sep}`.startsWith(`${folder}${sep}`);
      if (leadsOut) throw archiveErrors.Unsafe({ path: name, entry, detail: 'it points outside the folder' });
      return path.endsWith(sep) ? path.slice(0, -1) : path;
    },
  };
}
