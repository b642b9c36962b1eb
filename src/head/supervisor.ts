/**
 * Keeps mantad alive: starts it, starts it again when it dies, ends it when told to. Small on purpose: it holds no
 * state but the back-off, so there is nothing in it to get wrong. `node supervisor.js <state folder's home> <name>`.
 */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, renameSync, statSync } from 'node:fs';
import { entryFile } from '../base/entry.ts';
import { takeLock } from '../base/lock.ts';
import { stateFolder } from './state-folder.ts';

const shortestWait = 200;
const longestWait = 30_000;
/** A mantad that lived this long starts the back-off anew. */
const settledAfter = 60_000;
const largestLog = 16 * 1024 * 1024;

const [home, name] = process.argv.slice(2);
if (home === undefined || name === undefined) throw new Error('usage: supervisor <home> <cluster>');
const folder = stateFolder(home, name);
const taken = takeLock(folder.files.supervisorLock);
if ('holder' in taken) process.exit(0);
const { lock } = taken;

let wait = shortestWait;
let child: ChildProcess | undefined;
let timer: NodeJS.Timeout | undefined;
let ending = false;

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, end);
process.on('SIGHUP', () => {});
start();

function start(): void {
  timer = undefined;
  if (!existsSync(folder.files.cluster)) return finish();
  const startedAt = performance.now();
  const log = openLog();
  child = spawn(process.execPath, [...process.execArgv, entryFile('mantad'), home as string, name as string], {
    stdio: ['ignore', log, log],
    cwd: folder.path,
  });
  closeSync(log);
  child.on('error', () => later(startedAt));
  child.on('exit', (code) => {
    child = undefined;
    // 0: told to end. Everything else is a crash.
    if (ending || code === 0) finish();
    else later(startedAt);
  });
}

function later(startedAt: number): void {
  wait = performance.now() - startedAt > settledAfter ? shortestWait : Math.min(wait * 2, longestWait);
  timer = setTimeout(start, wait);
}

function end(): void {
  ending = true;
  clearTimeout(timer);
  if (child === undefined) finish();
  else child.kill('SIGTERM');
}

function finish(): void {
  lock.release();
  process.exit(0);
}

function openLog(): number {
  const file = folder.files.daemonLog;
  if (existsSync(file) && statSync(file).size > largestLog) renameSync(file, `${file}.1`);
  return openSync(file, 'a', 0o600);
}
