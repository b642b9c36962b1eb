import {
  appendFileSync,
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import type { StateFolder } from '../state-folder.ts';

/** A log that has grown to this becomes an old one. */
const largestLog = 16 * 1024 * 1024;
/** Old ones that are kept, the newest as `mantad.log.1`. */
const oldLogs = 3;
/** After a rotation that failed, so much more is written before the next. */
const patience = 1024 * 1024;

/** Opens the log for a process that is about to be started with it. */
export function openDaemonLog(file: string, largest = largestLog): number {
  if (existsSync(file) && statSync(file).size >= largest) {
    shift(file);
    renameSync(file, `${file}.1`);
  }
  return openSync(file, 'a', 0o600);
}

/**
 * The log of a running process, which is its standard error too: what the runtime says when it falls over belongs there.
 * A descriptor cannot be led to another file from here, so that the file is copied and then emptied; nothing is written
 * by this process between the two, and what is written by others before the emptying is copied as well.
 */
export class DaemonLog {
  readonly #file: string;
  readonly #fd: number;
  readonly #largest: number;
  #rotateAt: number;

  constructor(file: string, fd: number, largest = largestLog) {
    this.#file = file;
    this.#fd = fd;
    this.#largest = largest;
    this.#rotateAt = largest;
  }

  write(line: string): void {
    try {
      if (fstatSync(this.#fd).size >= this.#rotateAt) this.#rotate();
      writeSync(this.#fd, `${line}\n`);
    } catch {
      // A full disk takes no log either, and is not a reason to fall over.
    }
  }

  #rotate(): void {
    const draft = `${this.#file}.new`;
    try {
      // A disk that is full may have room without it.
      rmSync(`${this.#file}.${oldLogs}`, { force: true });
      copyFileSync(this.#file, draft);
      shift(this.#file);
      appendRest(this.#file, draft);
      renameSync(draft, `${this.#file}.1`);
      ftruncateSync(this.#fd);
      this.#rotateAt = this.#largest;
    } catch {
      rmSync(draft, { force: true, recursive: true });
      this.#rotateAt = fstatSync(this.#fd).size + patience;
    }
  }
}

const isNoStack = /^(?!\s*at )/;

/** The last line that belongs to no stack of calls: what the daemon said before it ended. */
export function lastLogLine({ files }: StateFolder): string {
  try {
    const lines = readFileSync(files.daemonLog, 'utf8').trim().split('\n');
    return lines.findLast((line) => isNoStack.test(line)) ?? 'no output';
  } catch {
    return 'no output';
  }
}

/** Makes room for a new `.1`. */
function shift(file: string): void {
  rmSync(`${file}.${oldLogs}`, { force: true });
  for (let number = oldLogs - 1; number >= 1; number--)
    if (existsSync(`${file}.${number}`)) renameSync(`${file}.${number}`, `${file}.${number + 1}`);
}

/** What came while it was copied. */
function appendRest(from: string, to: string): void {
  const file = openSync(from, 'r');
  try {
    const bytes = Buffer.alloc(64 * 1024);
    for (let at = statSync(to).size, count = 1; count > 0; at += count) {
      count = readSync(file, bytes, 0, bytes.length, at);
      appendFileSync(to, bytes.subarray(0, count));
    }
  } finally {
    closeSync(file);
  }
}
