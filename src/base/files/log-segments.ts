import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { open, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Instant } from '../time/clock.ts';
import { syncAll } from './durable.ts';

/**
 * Output of one attempt on disk, addressed by absolute byte offset.
 *
 * `<first offset>.log` holds bytes, `<first offset>.idx` says when they came (`<offset> <instant>` a line, at most four a
 * second), `end` holds the final size once no byte will follow. Old segments are dropped whole and the others keep their
 * offsets, so bytes that are gone (rotated away, or refused by a full disk) are a visible gap and never shift what
 * follows. One writer; any number of readers in any process.
 */
export interface LogOptions {
  /** A segment is closed when it holds this many bytes. @default 4 MiB */
  readonly segmentBytes?: number;
  /** Oldest segments go when the rest still holds this much; at least one segment stays. @default 256 MiB */
  readonly maxBytes?: number;
  readonly now: () => Instant;
}

export interface LogWriter {
  /** Offset of the next byte. */
  readonly size: number;
  /** Bytes that a full disk or a failing one refused since the writer was opened. */
  readonly refused: number;
  /**
   * Append. Returns the offset behind the last byte. With `at` it is idempotent: bytes before `size` are skipped, bytes
   * beyond it leave a gap. Never throws for a full disk: the bytes become a gap and the caller goes on.
   */
  write(bytes: Uint8Array, at?: number): number;
  /** No byte will follow. */
  end(): void;
  /** Let go of the file without ending the log. */
  close(): void;
}

export interface LogSegment {
  readonly first: number;
  readonly size: number;
}

export interface LogExtent {
  /** Offset of the oldest byte that is still there. */
  readonly start: number;
  /** Offset behind the newest byte. */
  readonly size: number;
  /** No byte will follow. */
  readonly ended: boolean;
}

export interface LogPiece {
  /** Of the first byte given; larger than asked for when bytes are gone. */
  readonly offset: number;
  readonly bytes: Buffer;
  /** Offset to ask for next. */
  readonly next: number;
}

const indexInterval = 250;
const endFile = 'end';
const fileOf = (dir: string, first: number, kind: 'log' | 'idx'): string =>
  join(dir, `${String(first).padStart(16, '0')}.${kind}`);
const firstOf = (name: string): number | undefined =>
  /^\d{16}\.log$/.test(name) ? Number(name.slice(0, 16)) : undefined;
const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** Where the output of an attempt's setup goes: a log of its own inside that of the attempt. */
export const setupLogOf = (dir: string): string => join(dir, 'setup');

/** Opens the log in `dir` for writing, behind what is already there. */
export function openLogWriter(dir: string, options: LogOptions): LogWriter {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const segments = readdirSync(dir)
    .flatMap((name) => firstOf(name) ?? [])
    .sort((a, b) => a - b)
    .map((first) => ({ first, size: statSync(fileOf(dir, first, 'log')).size }));
  const last = segments.at(-1);
  const size = Math.max(last ? last.first + last.size : 0, readEndSync(dir) ?? 0);
  return new SegmentWriter(dir, options, segments, size);
}

interface OpenSegment {
  readonly first: number;
  size: number;
  readonly fd: number;
  readonly index: number;
}

class SegmentWriter implements LogWriter {
  readonly #dir: string;
  readonly #now: () => Instant;
  readonly #segmentBytes: number;
  readonly #maxBytes: number;
  readonly #segments: { first: number; size: number }[];
  #size: number;
  #current: OpenSegment | undefined;
  #indexedAt = Number.NEGATIVE_INFINITY;
  #refused = 0;

  constructor(dir: string, options: LogOptions, segments: { first: number; size: number }[], size: number) {
    this.#dir = dir;
    this.#now = options.now;
    this.#segmentBytes = options.segmentBytes ?? 4 << 20;
    this.#maxBytes = options.maxBytes ?? 256 << 20;
    this.#segments = segments;
    this.#size = size;
  }

  get size(): number {
    return this.#size;
  }

  get refused(): number {
    return this.#refused;
  }

  write(bytes: Uint8Array, at = this.#size): number {
    if (at > this.#size) this.#size = at;
    const fresh = bytes.subarray(Math.min(bytes.length, this.#size - at));
    const goal = this.#size + fresh.length;
    try {
      for (let from = 0; from < fresh.length; from = fresh.length - (goal - this.#size)) {
        const current = this.#current;
        const filled = current && current.first + current.size === this.#size ? current.size % this.#segmentBytes : 0;
        this.#put(fresh.subarray(from, from + this.#segmentBytes - filled));
      }
    } catch {
      this.#refused += goal - this.#size;
      this.#size = goal;
      this.close();
    }
    return this.#size;
  }

  end(): void {
    this.close();
    writeEnd(this.#dir, this.#size);
  }

  close(): void {
    if (!this.#current) return;
    closeSync(this.#current.fd);
    closeSync(this.#current.index);
    this.#current = undefined;
  }

  #put(bytes: Uint8Array): void {
    const current = this.#current;
    const goesOn = current && current.first + current.size === this.#size && current.size < this.#segmentBytes;
    const segment = goesOn ? current : this.#begin();
    const at = this.#now();
    if (Math.abs(at - this.#indexedAt) >= indexInterval) {
      writeSync(segment.index, `${this.#size} ${at}\n`);
      this.#indexedAt = at;
    }
    for (let done = 0; done < bytes.length; ) {
      const count = writeSync(segment.fd, bytes, done);
      done += count;
      segment.size += count;
      this.#size += count;
    }
  }

  #begin(): OpenSegment {
    this.close();
    const last = this.#segments.at(-1);
    const goesOn = last !== undefined && last.first + last.size === this.#size && last.size < this.#segmentBytes;
    const segment = goesOn ? last : { first: this.#size, size: 0 };
    const fd = openSync(fileOf(this.#dir, segment.first, 'log'), 'a', 0o600);
    const index = openSync(fileOf(this.#dir, segment.first, 'idx'), 'a', 0o600);
    if (!goesOn) {
      this.#segments.push(segment);
      this.#dropOldest();
    }
    this.#indexedAt = Number.NEGATIVE_INFINITY;
    this.#current = Object.assign(segment, { fd, index });
    return this.#current;
  }

  #dropOldest(): void {
    let kept = this.#segments.reduce((sum, segment) => sum + segment.size, 0);
    while (this.#segments.length > 1) {
      const oldest = this.#segments[0] as LogSegment;
      if (kept - oldest.size < this.#maxBytes - this.#segmentBytes) return;
      for (const kind of ['log', 'idx'] as const) remove(fileOf(this.#dir, oldest.first, kind));
      kept -= oldest.size;
      this.#segments.shift();
    }
  }
}

/** Marks a log whose writer is gone as ended where it stands; a log that has ended stays as it is. */
export async function endLog(dir: string): Promise<LogExtent> {
  const extent = await logExtent(dir);
  if (extent.ended) return extent;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  writeEnd(dir, extent.size);
  return { ...extent, ended: true };
}

/** What was written is on disk from here on. When each byte came is not: without it a reader begins earlier. */
export async function syncLog(dir: string): Promise<void> {
  const names = (await readdir(dir)).filter((name) => name === endFile || firstOf(name) !== undefined);
  await syncAll([dir, ...names.map((name) => join(dir, name))]);
}

/** Where the log begins and ends now. A folder that is not there is an empty log that has not ended. */
export async function logExtent(dir: string): Promise<LogExtent> {
  const end = await readEnd(dir);
  const segments = await logSegments(dir);
  const last = segments.at(-1);
  const size = Math.max(last ? last.first + last.size : 0, end ?? 0);
  return { start: segments[0]?.first ?? size, size, ended: end !== undefined };
}

/** The segments that are there, oldest first. */
export async function logSegments(dir: string): Promise<LogSegment[]> {
  const names = await readdir(dir).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  const firsts = names.flatMap((name) => firstOf(name) ?? []).sort((a, b) => a - b);
  const sizes = await Promise.all(
    firsts.map((first) =>
      stat(fileOf(dir, first, 'log')).then(
        (found) => ({ first, size: found.size }),
        () => undefined,
      ),
    ),
  );
  return sizes.filter((segment) => segment !== undefined);
}

/**
 * Up to `limit` bytes from `offset` on, never across a gap. Empty when nothing is there (yet); `next` then stays at
 * `offset`, or moves to the end of a log that ended with bytes missing.
 */
export async function readLog(dir: string, offset: number, limit: number): Promise<LogPiece> {
  for (;;) {
    // In this order: an end that is known before the segments are looked at leaves nothing to come.
    const end = await readEnd(dir);
    const segments = await logSegments(dir);
    const segment = segments.find((each) => each.first + each.size > offset);
    if (!segment) return { offset, bytes: Buffer.alloc(0), next: Math.max(offset, end ?? 0) };
    const from = Math.max(offset, segment.first);
    const bytes = await readSegment(dir, segment, from, limit);
    if (bytes) return { offset: from, bytes, next: from + bytes.length };
  }
}

/** Undefined when the segment was rotated away meanwhile. */
async function readSegment(dir: string, segment: LogSegment, from: number, limit: number): Promise<Buffer | undefined> {
  const file = await open(fileOf(dir, segment.first, 'log')).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (!file) return undefined;
  try {
    const wanted = Buffer.allocUnsafe(Math.min(limit, segment.first + segment.size - from));
    const { bytesRead } = await file.read(wanted, 0, wanted.length, from - segment.first);
    return wanted.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Offset of the newest indexed byte that came before `since`: reading from there misses nothing that came later. */
export async function offsetAt(dir: string, since: Instant): Promise<number> {
  const segments = await logSegments(dir);
  let found = segments[0]?.first ?? 0;
  for (const segment of segments) {
    const lines = await readFile(fileOf(dir, segment.first, 'idx'), 'latin1').catch(() => '');
    for (const line of lines.split('\n')) {
      const [offset, at] = line.split(' ').map(Number);
      if (offset === undefined || at === undefined || at >= since) continue;
      found = Math.max(found, offset);
    }
  }
  return found;
}

function writeEnd(dir: string, size: number): void {
  const draft = join(dir, `${endFile}.new`);
  writeFileSync(draft, String(size), { mode: 0o600 });
  renameSync(draft, join(dir, endFile));
}

function readEndSync(dir: string): number | undefined {
  const path = join(dir, endFile);
  return existsSync(path) ? sizeIn(readFileSync(path, 'latin1')) : undefined;
}

async function readEnd(dir: string): Promise<number | undefined> {
  return readFile(join(dir, endFile), 'latin1').then(sizeIn, (error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
}

/** A power cut may leave the file empty. */
const sizeIn = (text: string): number | undefined => (text === '' ? undefined : Number(text));

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}
