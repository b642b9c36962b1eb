import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncAll } from '../../base/files/durable.ts';
import { watchFolder } from '../../base/files/folder-watch.ts';
import {
  endLog,
  type LogExtent,
  type LogPiece,
  logExtent,
  logSegments,
  offsetAt,
  openLogWriter,
  readLog,
  setupLogOf,
  syncLog,
} from '../../base/files/log-segments.ts';
import type { Instant } from '../../base/time/clock.ts';
import { type GrepLimits, grepLog } from './log-grep.ts';

/** Output of every attempt, kept by the head: `<root>/<job>/<attempt number>/`. */
export interface LogStore {
  /** Where the output of an attempt goes; handed to the engine. */
  folder(job: string, attempt: number): string;
  extent(job: string, attempt: number): Promise<LogExtent>;
  read(job: string, attempt: number, offset: number, limit: number): Promise<LogPiece>;
  /** The last `lines` lines, and no more than `limit` bytes of them. */
  tail(job: string, attempt: number, lines: number, limit: number): Promise<LogPiece>;
  /** Lines that contain `text`, from an offset on; `next` says where to go on. */
  grep(job: string, attempt: number, text: string, offset: number, limits: GrepLimits): Promise<LogPiece>;
  /** Where output that came after an instant begins. */
  offsetAt(job: string, attempt: number, since: Instant): Promise<number>;
  /**
   * Bytes from `offset` on as they come. Ends exactly behind the last byte, once no byte will follow; never before.
   * A piece whose offset is larger than the end of the one before it follows a gap.
   */
  follow(job: string, attempt: number, offset: number, signal: AbortSignal): AsyncGenerator<LogPiece>;
  /** No byte will follow: the attempt is over, however it ended. All of it is on disk from here on. */
  end(job: string, attempt: number): Promise<void>;
  /** Words of the head itself, where no engine wrote. */
  note(job: string, attempt: number, text: string): void;
  remove(job: string): Promise<void>;
  /**
   * Drops the bytes of logs that have ended, oldest first, until all logs together fit, and the folders of jobs that
   * are not known any more. Looks at every folder, so it does nothing when asked again within ten minutes. Returns the
   * bytes dropped.
   */
  retain(maxBytes: number, known: () => Iterable<string>): Promise<number>;
}

const pieceBytes = 64 << 10;
const retainEvery = 600_000;

export function openLogStore(root: string, now: () => Instant): LogStore {
  const folder = (job: string, attempt: number): string => join(root, folderName(job), String(attempt));
  let retainedAt = Number.NEGATIVE_INFINITY;
  return {
    folder,
    extent: (job, attempt) => logExtent(folder(job, attempt)),
    read: (job, attempt, offset, limit) => readLog(folder(job, attempt), offset, limit),
    tail: (job, attempt, lines, limit) => tailOf(folder(job, attempt), lines, limit),
    grep: (job, attempt, text, offset, limits) => grepLog(folder(job, attempt), text, offset, limits),
    offsetAt: (job, attempt, since) => offsetAt(folder(job, attempt), since),
    follow: (job, attempt, offset, signal) => follow(folder(job, attempt), offset, signal),
    async end(job, attempt) {
      const path = folder(job, attempt);
      await endLog(path);
      await syncLog(path)
        .then(() => syncAll([dirname(path), root]))
        .catch((error: NodeJS.ErrnoException) => {
          // Its job was deleted meanwhile, or its oldest bytes had to go.
          if (error.code !== 'ENOENT') throw error;
        });
    },
    note(job, attempt, text) {
      const writer = openLogWriter(folder(job, attempt), { now });
      writer.write(Buffer.from(text));
      writer.close();
    },
    remove: (job) => rm(join(root, folderName(job)), { recursive: true, force: true }),
    async retain(maxBytes, known) {
      const at = now();
      if (Math.abs(at - retainedAt) < retainEvery) return 0;
      retainedAt = at;
      await removeStrays(root, known);
      return retain(root, maxBytes);
    },
  };
}

/** A name that stays apart from others on file systems that ignore case, and cannot leave the folder. */
export function folderName(job: string): string {
  if (/^[a-z0-9_][a-z0-9._-]{0,99}$/.test(job)) return job;
  return `${job.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 80)}~${createHash('sha256').update(job).digest('hex').slice(0, 12)}`;
}

async function* follow(dir: string, from: number, signal: AbortSignal): AsyncGenerator<LogPiece> {
  const watch = watchFolder(dir);
  try {
    for (let offset = from; !signal.aborted; ) {
      const seen = watch.changes;
      const { ended } = await logExtent(dir);
      const piece = await readLog(dir, offset, pieceBytes);
      offset = piece.next;
      if (piece.bytes.length > 0) yield piece;
      else if (ended) return;
      else await watch.next(seen, signal);
    }
  } finally {
    watch.close();
  }
}

async function tailOf(dir: string, lines: number, limit: number): Promise<LogPiece> {
  const { start, size } = await logExtent(dir);
  const pieces: Buffer[] = [];
  let begin = size;
  let found = 0;
  while (begin > start && found <= lines && size - begin < limit) {
    const from = Math.max(start, begin - pieceBytes, size - limit);
    const piece = await readWhole(dir, from, begin);
    pieces.unshift(piece.bytes);
    found += count(piece.bytes, 10);
    if (piece.offset > from) {
      begin = piece.offset;
      break;
    }
    begin = from;
  }
  const all = Buffer.concat(pieces);
  const cut = startOfLastLines(all, lines);
  return { offset: size - all.length + cut, bytes: all.subarray(cut), next: size };
}

/** Bytes of a stretch without its gaps: what lies behind the last gap in it. */
async function readWhole(dir: string, from: number, to: number): Promise<{ offset: number; bytes: Buffer }> {
  let offset = from;
  let pieces: Buffer[] = [];
  for (let at = from; at < to; ) {
    const piece = await readLog(dir, at, to - at);
    if (piece.bytes.length === 0) break;
    if (piece.offset > at) {
      pieces = [];
      offset = piece.offset;
    }
    pieces.push(piece.bytes.subarray(0, Math.max(0, to - piece.offset)));
    at = piece.next;
  }
  return { offset, bytes: Buffer.concat(pieces) };
}

function startOfLastLines(bytes: Buffer, lines: number): number {
  let at = bytes.length;
  if (at > 0 && bytes[at - 1] === 10) at -= 1;
  for (let left = lines; left > 0; left--) {
    const newline = at === 0 ? -1 : bytes.lastIndexOf(10, at - 1);
    if (newline < 0) return 0;
    at = newline;
  }
  return at + 1;
}

const count = (bytes: Buffer, byte: number): number => {
  let found = 0;
  for (let at = bytes.indexOf(byte); at >= 0; at = bytes.indexOf(byte, at + 1)) found += 1;
  return found;
};

/** What a crash between the two halves of a deletion left. Names are read first: a job is known before it has a folder. */
async function removeStrays(root: string, known: () => Iterable<string>): Promise<void> {
  const names = await readdir(root).catch(() => []);
  const kept = new Set([...known()].map(folderName));
  for (const name of names) if (!kept.has(name)) await rm(join(root, name), { recursive: true, force: true });
}

interface EndedLog {
  readonly dir: string;
  readonly size: number;
  readonly at: Instant;
}

async function retain(root: string, maxBytes: number): Promise<number> {
  const ended: EndedLog[] = [];
  let total = 0;
  for (const job of await readdir(root).catch(() => [])) {
    for (const attempt of await readdir(join(root, job)).catch(() => [])) {
      const dir = join(root, job, attempt);
      const size = (await logSegments(dir)).reduce((sum, segment) => sum + segment.size, 0);
      const marker = await stat(join(dir, 'end')).catch(() => undefined);
      total += size;
      if (marker && size > 0) ended.push({ dir, size, at: marker.mtimeMs });
    }
  }
  let dropped = 0;
  for (const log of ended.sort((a, b) => a.at - b.at)) {
    if (total - dropped <= maxBytes) break;
    await dropBytes(log.dir);
    dropped += log.size;
  }
  return dropped;
}

/** The end marker stays: what is gone is then a gap with a known size. */
async function dropBytes(dir: string): Promise<void> {
  for (const name of readdirSync(dir)) if (/\.(?:log|idx)$/.test(name)) await rm(join(dir, name), { force: true });
  await rm(setupLogOf(dir), { recursive: true, force: true });
}
