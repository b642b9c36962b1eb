/**
 * Keeps mantad alive: starts it, starts it again when it dies, ends it when told to. Small on purpose: it holds no
 * state but the back-off and mantad's listening sockets, which it never accepts on: while mantad is started again nobody
 * else can take the port, and clients wait instead of being refused. `node supervisor.js <state folder's home> <name>`.
 */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { closeSync, writeSync } from 'node:fs';
import { entryFile } from '../base/entry.ts';
import { readLiveJson } from '../base/files/json-file.ts';
import { takeLock } from '../base/files/lock.ts';
import { readCluster } from '../state/cluster-record.ts';
import { lastLogLine, openDaemonLog } from '../state/mantad/daemon-log.ts';
import { hasCopy, keepOldFormat, restoreOldFormat, type Upgrade, upgradeOf } from '../state/mantad/upgrade.ts';
import { mantadOf, type Serving } from '../state/serving.ts';
import { stateFolder } from '../state/state-folder.ts';
import type { HeldSocket, HoldMessage } from './server/listen.ts';

const shortestWait = 200;
/** For one that died before it served: trying again at once would only use up the machine. */
const longestWait = 30_000;
/** For one that served: jobs wait for it, and it has shown that it can start. */
const longestWaitOfServed = 1_000;
/** For one that died before it served, where an earlier one did: it was killed, most likely, and commands wait for it. */
const longestWaitOnceServed = 4_000;
/** One that has never served is given up after this many tries: anyone who started the cluster is told why. */
const firstTries = 3;
/** A mantad of another version that does not serve so long after the old one was told to end never will. */
const trialLasts = 180_000;
/** However late it is started, it has this long. */
const shortestTrial = 20_000;
/** A mantad that lived this long resets the backoff. */
const settledAfter = 60_000;
/** V8 lets short-lived objects take up to 96 MB before it looks; a third of mantad's memory under load was that. */
const smallNewSpace = '--max-semi-space-size=8';
/** How often one that another supervisor started is looked after. */
const lookEvery = 500;

const [home, name] = process.argv.slice(2);
if (home === undefined || name === undefined) throw new Error('usage: supervisor <home> <cluster>');
const folder = stateFolder(home, name);
const taken = takeLock(folder.files.supervisorLock);
if ('holder' in taken) process.exit(0);
const { lock } = taken;

let wait = shortestWait;
let tries = 0;
let everServed = false;
let child: ChildProcess | undefined;
let timer: NodeJS.Timeout | undefined;
let ending = false;
let held: { readonly port: number; readonly four: HeldSocket; six?: HeldSocket } | undefined;
let near: HeldSocket | undefined;

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, end);
process.on('SIGHUP', () => {});
start();

function start(): void {
  timer = undefined;
  if (isEnding()) return finish();
  if (mantadOf(folder) !== undefined) {
    // One that is still ending for this version says nothing of it.
    everServed ||= upgradeOf(folder) === undefined;
    timer = setTimeout(start, lookEvery);
    return;
  }
  const upgrade = upgradeOf(folder);
  if (upgrade?.undone !== undefined) return void comeBack(upgrade, upgrade.undone);
  if (upgrade !== undefined && !hasCopy(folder, upgrade)) {
    const failed = (error: Error): void => void comeBack(upgrade, `its state could not be copied: ${error.message}`);
    return void keepOldFormat(folder, upgrade).then(start, failed);
  }
  const startedAt = performance.now();
  const log = openDaemonLog(folder.files.daemonLog);
  child = spawn(
    process.execPath,
    [
      ...process.execArgv,
      smallNewSpace,
      entryFile('mantad'),
      home as string,
      name as string,
      ...(held ? [`four=${held.port}`] : []),
      ...(held?.six ? ['six'] : []),
      ...(near ? ['near'] : []),
    ],
    {
      stdio: ['ignore', log, log, held?.four.fd ?? 'ignore', held?.six?.fd ?? 'ignore', near?.fd ?? 'ignore', 'ipc'],
      cwd: folder.path,
    },
  );
  closeSync(log);
  if (upgrade !== undefined) watchTrial(child, upgrade);
  child.on('message', (message, socket) => {
    if (socket !== undefined) hold(message as HoldMessage, socket as unknown as HeldSocket);
  });
  child.on('error', () => later(startedAt, false));
  const { pid } = child;
  child.on('exit', (code) => {
    child = undefined;
    // 0: told to end. Everything else is a crash.
    if (ending || code === 0) finish();
    else later(startedAt, readServing()?.mantad.pid === pid);
  });
}

/** The one at 127.0.0.1 is told first. */
function hold(what: HoldMessage, socket: HeldSocket): void {
  if (ending) return socket.close();
  if (what.hold === 'near') {
    near?.close();
    near = socket;
    return;
  }
  const { hold: port, family } = what;
  if (family === 6) {
    held?.six?.close();
    if (held?.port === port) held.six = socket;
    else socket.close();
    return;
  }
  held?.four.close();
  held?.six?.close();
  held = { port, four: socket };
}

function later(startedAt: number, served: boolean): void {
  everServed ||= served;
  tries += 1;
  const upgrade = upgradeOf(folder);
  if (!everServed && (tries >= firstTries || (upgrade !== undefined && trialLeft(upgrade) <= 0)))
    return upgrade === undefined ? finish() : void comeBack(upgrade, lastLogLine(folder));
  const settled = performance.now() - startedAt > settledAfter;
  const longest = served ? longestWaitOfServed : everServed ? longestWaitOnceServed : longestWait;
  wait = settled ? shortestWait : Math.min(wait * 2, longest);
  timer = setTimeout(start, wait);
}

function trialLeft({ since }: Upgrade): number {
  return Math.min(trialLasts, since + trialLasts - Date.now());
}

/** One that hangs on its way is as good as one that dies. */
function watchTrial(trial: ChildProcess, upgrade: Upgrade): void {
  const timeout = setTimeout(
    () => {
      if (upgradeOf(folder) === undefined) return;
      tries = firstTries;
      trial.kill('SIGKILL');
    },
    Math.max(shortestTrial, trialLeft(upgrade)),
  );
  trial.on('exit', () => clearTimeout(timeout));
}

/** The version before serves again, from what it wrote itself. Where its program is gone, all stays for the next `up`. */
async function comeBack(upgrade: Upgrade, why: string): Promise<void> {
  const [program, ...args] = upgrade.command;
  if (program === undefined) return finish();
  try {
    await restoreOldFormat(folder, upgrade, why);
  } catch (error) {
    // A full disk, most likely. It is tried again, and nothing else is started meanwhile.
    say(`mantad ${upgrade.from} could not be restored: ${(error as Error).message}`);
    timer = setTimeout(start, longestWait);
    return;
  }
  letGo();
  lock.release();
  const old = spawn(program, args, { detached: true, stdio: 'ignore', cwd: '/' });
  old.on('spawn', () => process.exit(0));
  old.on('error', (error) => {
    say(`mantad ${upgrade.from} could not be started again: ${error.message}`);
    process.exit(1);
  });
  old.unref();
}

function say(line: string): void {
  const log = openDaemonLog(folder.files.daemonLog);
  writeSync(log, `${new Date().toISOString()} ${line}\n`);
  closeSync(log);
}

/** The cluster is gone or has ended, or a `down` is on its way: nothing may be started any more. */
function isEnding(): boolean {
  try {
    const cluster = readCluster(folder);
    return cluster === undefined || cluster.endingSince !== undefined || cluster.ended !== undefined;
  } catch {
    return false;
  }
}

const readServing = (): Serving | undefined => readLiveJson<Serving>(folder.files.serving);

function end(): void {
  ending = true;
  clearTimeout(timer);
  // Anyone who comes from here on is refused, and knows that nobody has read anything.
  letGo();
  if (child === undefined) finish();
  else child.kill('SIGTERM');
}

function letGo(): void {
  for (const socket of [held?.four, held?.six, near]) socket?.close();
  held = undefined;
  near = undefined;
}

function finish(): void {
  lock.release();
  process.exit(0);
}
