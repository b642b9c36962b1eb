import { execFileSync } from 'node:child_process';
import type { Stats } from 'node:fs';
import { closeSync, fstatSync, openSync, readdirSync, readFileSync, readlinkSync, readSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Duration } from './time/clock.ts';

/** A process told apart from a later one that got the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in the system's own words; compared, never read. */
  readonly started: string;
}

/** One process that runs now. Zombies are not in the table: they hold nothing. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Equal to `group` where the system does not tell. */
  readonly session: number;
  readonly started: string;
  /** Resident bytes, shared pages counted in full. */
  readonly resident: number;
  /** It hangs on a terminal: somebody's shell, or started from one. False where the system does not tell. */
  readonly terminal: boolean;
}

/**
 * Environment variable that every process of an attempt inherits. Its value is `:<word>:<word>:`, so a search for one
 * word cannot hit a longer one; a nested cluster appends to the value it was started with.
 */
export const markVariable = 'MANTA_MARK';

const linux = process.platform === 'linux';
const pageSize = 4096;

const bootId = ((): string => {
  try {
    return linux ? readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim() : '';
  } catch {
    return '';
  }
})();

/** The value of the mark for work of `words`, started by this process. */
export function markOf(...words: readonly string[]): string {
  return `${process.env[markVariable] ?? ''}:${words.join(':')}:`;
}

/** What tells this process apart, or undefined when none with that number runs. */
export function identify(pid: number): ProcessIdentity | undefined {
  const row = linux ? readStat(pid) : psRows(['-p', String(pid)])[0];
  return row && { pid, started: `${bootId}${row.started}` };
}

export function isAlive(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.started === identity.started;
}

/** The words that a process was started with. */
export function commandLineOf(pid: number): readonly string[] {
  if (linux) return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
  return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
    .trim()
    .split(' ');
}

/** Every process that runs now and that this user may see. */
export function processTable(): ProcessRow[] {
  if (!linux) return psRows(['-A']);
  const rows: ProcessRow[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    const row = Number.isInteger(pid) ? readStat(pid) : undefined;
    if (row) rows.push(row);
  }
  return rows;
}

/** The part of the table that started when `row` did or later; all of it where start times cannot be compared. */
export function startedSince(row: ProcessRow, rows: readonly ProcessRow[]): readonly ProcessRow[] {
  return linux ? rows.filter((each) => Number(each.started) >= Number(row.started)) : rows;
}

/** The marks of those processes that carry one. Processes that went meanwhile, or belong to others, carry none. */
export function marksOf(rows: readonly ProcessRow[]): Map<number, string> {
  const marks = new Map<number, string>();
  if (linux) {
    for (const { pid } of rows) {
      const mark = readMark(pid);
      if (mark !== undefined) marks.set(pid, mark);
    }
    return marks;
  }
  const wanted = new Set(rows.map((row) => row.pid));
  for (const line of ps(['-A', '-E', '-ww', '-o', 'pid=,command='])) {
    const found = /^\s*(\d+)\s.*\sMANTA_MARK=(\S+)/.exec(line);
    if (found?.[1] && found[2] && wanted.has(Number(found[1]))) marks.set(Number(found[1]), found[2]);
  }
  return marks;
}

/** Processes whose mark holds `word`, with all their descendants. */
export function findMarked(word: string): number[] {
  const rows = processTable();
  const marks = marksOf(rows);
  return withDescendants(
    rows,
    rows.filter((row) => marks.get(row.pid)?.includes(`:${word}:`)),
  );
}

/** Numbers of `roots` and of everything below them. */
export function withDescendants(rows: readonly ProcessRow[], roots: readonly ProcessRow[]): number[] {
  const children = new Map<number, number[]>();
  for (const row of rows) {
    const siblings = children.get(row.parent);
    if (siblings) siblings.push(row.pid);
    else children.set(row.parent, [row.pid]);
  }
  const found = new Set<number>();
  const open = roots.map((row) => row.pid);
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    if (found.has(pid)) continue;
    found.add(pid);
    open.push(...(children.get(pid) ?? []));
  }
  return [...found];
}

/** Other processes that hold the pipe open that `fd` of this process is an end of. Linux only; elsewhere none is found. */
export function holdersOfPipe(fd: number): number[] {
  if (!linux) return [];
  const pipe = fstatSync(fd);
  const holds = (pid: number): boolean =>
    pid !== process.pid &&
    openFiles(pid).some((file) => file.ino === pipe.ino && file.dev === pipe.dev && file.isFIFO());
  return processTable()
    .map((row) => row.pid)
    .filter(holds);
}

/**
 * Processes whose working folder is `folder` or inside it, but for those on a terminal: somebody may look around there.
 * Linux only; elsewhere none is found.
 */
export function processesIn(folder: string, rows: readonly ProcessRow[]): number[] {
  if (!linux) return [];
  return rows
    .filter((row) => !row.terminal)
    .map((row) => row.pid)
    .filter((pid) => {
      const there = linkOrNothing(`/proc/${pid}/cwd`);
      return there === folder || there.startsWith(`${folder}/`);
    });
}

/** Bytes that these processes hold, each shared page divided among those that share it where the system tells. */
export function proportionalMemory(pids: readonly number[]): number {
  const sizes = pids.map((pid) => {
    const text = linux ? readOrNothing(`/proc/${pid}/smaps_rollup`) : '';
    const found = /^Pss:\s+(\d+) kB/m.exec(text);
    if (found) return Number(found[1]) * 1024;
    return (linux ? readStat(pid) : psRows(['-p', String(pid)])[0])?.resident ?? 0;
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Sends a signal to a process, or to a group by its negative number. False when there is none. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/**
 * Ends everything that `find` finds and goes on finding: SIGTERM once to each, SIGKILL after `grace`, until nothing is
 * found. Returns what could not be ended within `giveUp` of the first SIGKILL (a process in an uninterruptible wait).
 */
export async function endProcesses(
  find: () => readonly number[] | Promise<readonly number[]>,
  grace: Duration,
  giveUp = 15_000,
): Promise<number[]> {
  const begin = performance.now();
  const asked = new Set<number>();
  let pause = 2;
  for (;;) {
    const found = await find();
    if (found.length === 0) return [];
    const waited = performance.now() - begin;
    if (waited > grace + giveUp) return [...found];
    for (const pid of found) {
      if (waited >= grace) sendSignal(pid, 'SIGKILL');
      else if (!asked.has(pid)) sendSignal(pid, 'SIGTERM');
      asked.add(pid);
    }
    await sleep(waited < grace ? Math.min(pause, Math.max(1, grace - waited)) : pause);
    pause = Math.min(pause * 2, 50);
  }
}

function readStat(pid: number): ProcessRow | undefined {
  const text = readOrNothing(`/proc/${pid}/stat`);
  // The name in parentheses may hold anything, parentheses too.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  if (text === '' || state === 'Z' || state === 'X') return undefined;
  return {
    pid,
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    terminal: fields[4] !== '0',
    started: fields[19] ?? '',
    resident: Number(fields[21]) * pageSize,
  };
}

function readMark(pid: number): string | undefined {
  const text = readOrNothing(`/proc/${pid}/environ`);
  const at = text.startsWith(`${markVariable}=`) ? 0 : text.indexOf(`\0${markVariable}=`) + 1;
  if (at === 0 && !text.startsWith(`${markVariable}=`)) return undefined;
  const from = at + markVariable.length + 1;
  const to = text.indexOf('\0', from);
  return text.slice(from, to === -1 ? undefined : to);
}

function openFiles(pid: number): Stats[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap(
      (fd) => statSync(`/proc/${pid}/fd/${fd}`, { throwIfNoEntry: false }) ?? [],
    );
  } catch {
    return [];
  }
}

function linkOrNothing(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

const buffer = Buffer.allocUnsafe(1 << 16);

/** The whole table is read in one go, hundreds of small files: one buffer and three calls each are what that may cost. */
function readOrNothing(path: string): string {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return '';
  }
  try {
    let text = '';
    for (;;) {
      const count = readSync(fd, buffer, 0, buffer.length, null);
      text += buffer.toString('latin1', 0, count);
      if (count < buffer.length) return text;
    }
  } catch {
    return '';
  } finally {
    closeSync(fd);
  }
}

function psRows(select: readonly string[]): ProcessRow[] {
  return ps([...select, '-o', 'pid=,ppid=,pgid=,rss=,stat=,lstart=']).flatMap((line) => {
    const [pid, parent, group, rss, state, ...started] = line.trim().split(/\s+/);
    if (!pid || state?.startsWith('Z')) return [];
    const numbers = { pid: Number(pid), parent: Number(parent), group: Number(group), session: Number(group) };
    return [{ ...numbers, terminal: false, started: started.join(' '), resident: Number(rss) * 1024 }];
  });
}

function ps(args: readonly string[]): string[] {
  try {
    return execFileSync('ps', args, { encoding: 'latin1', maxBuffer: 64 << 20 })
      .split('\n')
      .filter(Boolean);
  } catch {
    return [];
  }
}
