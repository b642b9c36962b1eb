import { open, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import type { ClusterSpec } from '../../core/spec/cluster.ts';
import { type Environment, parseDotEnv } from '../../core/spec/env.ts';
import { specErrors } from '../../core/spec/errors.ts';
import { fileProblems } from '../../core/spec/file-problems.ts';
import type { Problem } from '../../core/spec/problem.ts';
import { report } from '../../core/spec/problems.ts';
import { type ClusterFile, openCluster } from '../../core/spec/read.ts';
import type { Io } from '../command.ts';
import { cliEvents } from '../events.ts';

/** More than a cluster file may have; enough to refuse it as too big. */
const MOST = 8 * 1024 * 1024;

export interface LoadedFile extends ClusterFile {
  readonly file: string;
  /** Empty when the file could not be opened. */
  readonly bytes: Uint8Array;
  readonly opened: boolean;
  /** What `${env:NAME}` stands for in this file. */
  readonly env: Environment;
}

/**
 * Opens a file, an http(s) address, or standard input for `-`, and reads it as a cluster file. What fails is a problem of
 * the file.
 */
export async function loadFile(file: string, io: Io): Promise<LoadedFile> {
  const web = isWebAddress(file);
  const path = resolve(io.cwd, file);
  let bytes: Uint8Array;
  try {
    bytes = file === '-' ? await readStart(io.stdin) : web ? await download(file, io) : await readBytes(path);
  } catch (error) {
    const spot = { at: { line: 1, column: 1 }, path: [] };
    return {
      file,
      bytes: new Uint8Array(),
      opened: false,
      env: io.env,
      problems: [report(fileProblems.Unreadable, spot, { why: reasonOf(error) })],
    };
  }
  const env = await environmentFor(file === '-' || web ? io.cwd : dirname(path), bytes, io);
  return { file, bytes, opened: true, env, ...openCluster(file, bytes, env) };
}

/** The shell's variables first, then those of the `.env` beside the file. */
async function environmentFor(folder: string, bytes: Uint8Array, io: Io): Promise<Environment> {
  if (!Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes('${env:')) return io.env;
  try {
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
    if (late.aborted) throw new Error(`no answer within ${patience / 1_000} s`, { cause: error });
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
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EISDIR') return 'it is a directory';
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  return messageOf(error);
}

export const isError = (problem: Problem): boolean => problem.severity === 'error';

/** 2 when a file could not be opened, 1 when the answer is no for any file, else 0. */
export function exitCodeOf(files: readonly { readonly opened: boolean; readonly fine: boolean }[]): number {
  if (files.some((file) => !file.opened)) return 2;
  return files.every((file) => file.fine) ? 0 : 1;
}

/** The spec of a file for a command that works with it; throws when the file cannot be used as it is. */
export async function loadSpec(name: string, io: Io): Promise<ClusterSpec> {
  const { spec, problems } = await loadFile(name, io);
  const errors = problems.filter(isError);
  const [first] = errors;
  if (spec !== undefined && first === undefined) return spec;
  const where = first === undefined ? '' : `line ${first.at.line}: ${first.message}`;
  throw specErrors.Refused({ file: name, errors: errors.length, first: where, hint: first?.hint });
}
