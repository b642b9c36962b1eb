import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { chmod, mkdir, open, rm, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { moveDurably } from '../files/durable.ts';
import { entryFailure, type UnzipLimits, unpackFailure, withinLimits } from './archive.ts';
import { archiveErrors } from './errors.ts';

/** How a tar archive is packed, by the ending of its name. */
export type TarPacking = 'gzip' | 'xz';

/**
 * Unpacks into `target`, which appears whole or not at all, as `unzip` does and within the same limits. Links, devices and
 * pipes are left out, as Ray leaves them out: nothing but folders and plain files is ever made, so no name leads elsewhere.
 */
export async function untar(
  path: string,
  target: string,
  packing: TarPacking,
  limits: UnzipLimits = {},
  name: string = basename(path),
): Promise<void> {
  const draft = `${target}.unpacking`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  try {
    const unpacker = new Unpacker(draft, name, withinLimits(limits, (await stat(path)).size, name));
    await unpacked(path, packing, unpacker);
    await moveDurably(draft, target);
  } catch (error) {
    throw unpackFailure(error, name);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Feeds the archive's bytes to the reader as fast as it takes them. */
async function unpacked(path: string, packing: TarPacking, unpacker: Unpacker): Promise<void> {
  const read = async (bytes: AsyncIterable<Buffer>): Promise<void> => {
    for await (const piece of bytes) await unpacker.take(piece);
    unpacker.end();
  };
  try {
    if (packing === 'gzip') await pipeline(createReadStream(path), createGunzip(), read);
    else await pipeline(unxz(path), read);
  } finally {
    await unpacker.close();
  }
}

/** Memory that a decoder may take; `xz -9` needs 65 MiB. */
const xzMemory = '256MiB';

/** By the `xz` of this machine, since Node has none. */
function unxz(path: string): Readable {
  const child = spawn('xz', ['--decompress', '--stdout', `--memlimit-decompress=${xzMemory}`, '--', path], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (bytes: Buffer) => (said = `${said}${bytes.toString()}`.slice(0, 500)));
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'ENOENT' ? archiveErrors.NoXz({ path: basename(path) }, error) : error),
    );
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(said.trim() || `xz ended with ${code}`))));
  });
  ended.catch(() => {});
  // What xz could not read shows in how it ends, not in what it wrote.
  const checked = new Transform({
    transform: (bytes: Buffer, _encoding, done) => done(null, bytes),
    flush: (done) => void ended.then(() => done(), done),
  });
  child.stdout.pipe(checked);
  ended.catch((error: Error) => checked.destroy(error));
  checked.once('close', () => child.kill('SIGKILL'));
  return checked;
}

const block = 512;
/** Longest extended header that is read: names, not content. */
const longestHeader = 1 << 20;

type Entry =
  | { readonly kind: 'file'; readonly name: string; readonly mode: number }
  | { readonly kind: 'header'; readonly type: string }
  | { readonly kind: 'nothing' };

/** Reads a tar archive piece by piece: ustar, with the long names of GNU and of POSIX. */
class Unpacker {
  readonly #folder: string;
  readonly #archive: string;
  readonly #limits: ReturnType<typeof withinLimits>;
  readonly #made = new Set<string>();
  #held: Buffer = Buffer.alloc(0);
  #entry: Entry = { kind: 'nothing' };
  #file: Awaited<ReturnType<typeof open>> | undefined;
  /** Bytes of the entry, and of what fills its last block, that are still to come. */
  #left = 0;
  #padding = 0;
  #header: Buffer[] = [];
  /** What the next entry is called and how long it is, by the headers before it. */
  #longName: string | undefined;
  #longSize: number | undefined;
  #over = false;
  #entries = 0;

  constructor(folder: string, archive: string, limits: ReturnType<typeof withinLimits>) {
    this.#folder = folder;
    this.#archive = archive;
    this.#limits = limits;
  }

  async take(piece: Buffer): Promise<void> {
    // Also what follows the end counts: it had to be unpacked.
    this.#limits.grow(piece.length);
    if (this.#over) return;
    let rest = this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]);
    while (!this.#over && rest.length > 0) {
      if (this.#left > 0) {
        const part = rest.subarray(0, this.#left);
        await this.#content(part);
        this.#left -= part.length;
        rest = rest.subarray(part.length);
        if (this.#left === 0) await this.#finish();
      } else if (this.#padding > 0) {
        const part = Math.min(this.#padding, rest.length);
        this.#padding -= part;
        rest = rest.subarray(part);
      } else if (rest.length >= block) {
        await this.#begin(rest.subarray(0, block));
        rest = rest.subarray(block);
      } else break;
    }
    this.#held = this.#over ? Buffer.alloc(0) : Buffer.from(rest);
  }

  end(): void {
    if (this.#over) return;
    if (this.#left > 0 || this.#padding > 0 || this.#held.length > 0)
      throw new Error('it ends in the middle of an entry');
    if (this.#entries === 0) throw new Error('it is empty');
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  async #begin(head: Buffer): Promise<void> {
    if (head.every((byte) => byte === 0)) {
      this.#over = true;
      return;
    }
    checkSum(head);
    this.#limits.count(++this.#entries);
    const type = String.fromCharCode(head[156] ?? 0);
    const isHeader = type === 'x' || type === 'g' || type === 'L' || type === 'K';
    const size = isHeader ? numberAt(head, 124, 12) : (this.#longSize ?? numberAt(head, 124, 12));
    this.#left = size;
    this.#padding = (block - (size % block)) % block;
    if (isHeader) {
      if (size > longestHeader) throw new Error(`a header of ${size} bytes`);
      this.#entry = { kind: 'header', type };
    } else {
      const name = this.#longName ?? nameIn(head);
      this.#longName = undefined;
      this.#longSize = undefined;
      await this.#open(type, name, numberAt(head, 100, 8)).catch((error: unknown) => {
        throw entryFailure(error, this.#archive, name);
      });
    }
    if (size === 0) await this.#finish();
  }

  async #open(type: string, name: string, mode: number): Promise<void> {
    this.#entry = { kind: 'nothing' };
    if (type === 'S') throw new Error('sparse files are not supported');
    // Before POSIX a folder was a file whose name ends so.
    const isFolder = type === '5' || ((type === '0' || type === '\0') && name.endsWith('/'));
    if (!isFolder && !['0', '\0', '7'].includes(type)) return;
    const parts = name.split('/').filter((part, at) => part !== '.' && (part !== '' || at === 0));
    if (parts.join('') === '') return;
    const path = this.#limits.placeOf(parts.join('/'), this.#folder);
    const parent = isFolder ? path : dirname(path);
    if (!this.#made.has(parent)) await mkdir(parent, { recursive: true, mode: 0o700 });
    this.#made.add(parent);
    if (isFolder) return;
    this.#file = await open(path, 'w', 0o600);
    this.#entry = { kind: 'file', name: path, mode };
  }

  async #content(bytes: Buffer): Promise<void> {
    if (this.#entry.kind === 'header') this.#header.push(Buffer.from(bytes));
    else if (this.#file) await this.#file.writeFile(bytes);
  }

  async #finish(): Promise<void> {
    const entry = this.#entry;
    this.#entry = { kind: 'nothing' };
    if (entry.kind === 'file') {
      await this.close();
      const mode = entry.mode & 0o777;
      await chmod(entry.name, mode === 0 ? 0o644 : mode | 0o600);
    } else if (entry.kind === 'header') {
      const content = Buffer.concat(this.#header);
      this.#header = [];
      this.#learn(entry.type, content);
    }
  }

  #learn(type: string, content: Buffer): void {
    if (type === 'L') this.#longName = textOf(content);
    if (type !== 'x') return;
    const { path, size } = extendedHeader(content);
    if (path !== undefined) this.#longName = path;
    if (size !== undefined) this.#longSize = size;
  }
}

const textOf = (bytes: Buffer): string => {
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end === -1 ? bytes.length : end);
};

function nameIn(head: Buffer): string {
  const name = textOf(head.subarray(0, 100));
  const prefix = head.toString('latin1', 257, 263) === 'ustar\0' ? textOf(head.subarray(345, 500)) : '';
  return prefix === '' ? name : `${prefix}/${name}`;
}

/** Octal digits; of large numbers the bytes themselves, marked by the highest bit. */
function numberAt(head: Buffer, at: number, length: number): number {
  const bytes = head.subarray(at, at + length);
  if ((bytes[0] ?? 0) & 0x80) {
    let number = (bytes[0] ?? 0) & 0x7f;
    for (const byte of bytes.subarray(1)) number = number * 256 + byte;
    return wholeNumber(number);
  }
  const text = textOf(bytes).trim();
  if (!/^[0-7]*$/.test(text)) throw new Error('an invalid number');
  return wholeNumber(text === '' ? 0 : Number.parseInt(text, 8));
}

function wholeNumber(number: number): number {
  if (!Number.isSafeInteger(number) || number < 0) throw new Error('a number out of range');
  return number;
}

function checkSum(head: Buffer): void {
  let sum = 0;
  for (const [at, byte] of head.entries()) sum += at >= 148 && at < 156 ? 0x20 : byte;
  if (sum !== numberAt(head, 148, 8)) throw new Error('a header with a wrong checksum');
}

/** `LENGTH KEY=VALUE\n`, again and again; the length is that of the whole. */
function extendedHeader(content: Buffer): { path?: string; size?: number } {
  const found: { path?: string; size?: number } = {};
  for (let at = 0; at < content.length && content[at] !== 0; ) {
    const space = content.indexOf(0x20, at);
    const length = space === -1 ? Number.NaN : Number(content.toString('latin1', at, space));
    if (!Number.isInteger(length) || length <= space - at + 1 || at + length > content.length)
      throw new Error('an invalid extended header');
    const equals = content.indexOf(0x3d, space);
    if (equals === -1 || equals >= at + length) throw new Error('an invalid extended header');
    const key = content.toString('utf8', space + 1, equals);
    const value = content.toString('utf8', equals + 1, at + length - 1);
    if (key === 'path') found.path = value;
    if (key === 'size') found.size = wholeNumber(Number(value));
    if (key.startsWith('GNU.sparse')) throw new Error('sparse files are not supported');
    at += length;
  }
  return found;
}
