import { open, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import type { Environment } from '../../core/spec/env.ts';
import type { Io } from '../command.ts';
import { cliEvents } from '../events.ts';

/** More than a cluster file may have; enough to refuse it as too big. */
const MOST = 8 * 1024 * 1024;

/** A cluster file whose bytes were read, and not yet understood. */
export interface OpenedFile {
  /** As it was typed. */
  readonly file: string;
  /** Empty when it could not be opened. */
  readonly bytes: Uint8Array;
  /** Why it could not be opened. */
  readonly failed?: string;
  /** What `${env:NAME}` stands for in this file. */
  readonly env: Environment;
}

/** Opens a file, an http(s) address, or standard input for `-`. */
export async function openFile(file: string, io: Io): Promise<OpenedFile> {
  const web = isWebAddress(file);
  const path = resolve(io.cwd, file);
  let bytes: Uint8Array;
  try {
    bytes = file === '-' ? await readStart(io.stdin) : web ? await download(file, io) : await readBytes(path);
  } catch (error) {
    return { file, bytes: new Uint8Array(), failed: reasonOf(error), env: io.env };
  }
  return { file, bytes, env: await environmentFor(file === '-' || web ? io.cwd : dirname(path), bytes, io) };
}

/** The shell's variables first, then those of the `.env` beside the file. */
async function environmentFor(folder: string, bytes: Uint8Array, io: Io): Promise<Environment> {
  if (!Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes('${env:')) return io.env;
  try {
    const { parseDotEnv } = await import('../../core/spec/env.ts');
    const beside = parseDotEnv(await readFile(join(folder, '.env'), 'utf8'));
    const shell = Object.fromEntries(Object.entries(io.env).filter(([, value]) => value !== undefined));
    return { ...beside, ...shell };
  } catch {
    return io.env;
  }
}

export const isWebAddress = (file: string): boolean => /^https?:\/\//i.test(file);

/** As long as Ray waits for it. */
const patience = 5_000;

async function download(address: string, io: Io): Promise<Uint8Array> {
  const { protocol, hostname } = new URL(address);
  if (protocol === 'http:' && !['127.0.0.1', 'localhost', '[::1]'].includes(hostname))
    io.events.emit(cliEvents.plainDownload, { address });
  const late = AbortSignal.timeout(patience);
  try {
    const answer = await fetch(address, { signal: AbortSignal.any([late, io.signal]) });
    if (!answer.ok) throw new Error(`the server answered ${answer.status} ${answer.statusText}`.trimEnd());
    return await readStart(answer.body ?? []);
  } catch (error) {
    io.signal.throwIfAborted();
    if (late.aborted) throw new Error(`no response within ${patience / 1_000} s`, { cause: error });
    const { message, cause } = error as Error;
    throw cause instanceof Error ? new Error(`${message}: ${cause.message}`, { cause: error }) : error;
  }
}

async function readBytes(path: string): Promise<Uint8Array> {
  const handle = await open(path);
  try {
    return await readStart(handle.createReadStream({ end: MOST, autoClose: false }));
  } finally {
    await handle.close();
  }
}

async function readStart(stream: AsyncIterable<unknown> | Iterable<unknown>): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk as Uint8Array);
    chunks.push(bytes);
    length += bytes.length;
    if (length > MOST) break;
  }
  return Buffer.concat(chunks);
}

function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT') return 'no such file';
  if (code === 'EISDIR') return 'it is a directory, not a file';
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  return messageOf(error);
}
