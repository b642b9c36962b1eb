/**
 * One node of a Ray on one machine: starts it, stays with it, ends everything of it. Started by the process provider:
 * `node raylet.js <state home> <cluster> <Python> <bytes of the object store> <instance folder>`.
 */
import { spawn } from 'node:child_process';
import { rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createJson, namesIn, writeJson } from '../../base/files/json-file.ts';
import { listens } from '../../base/network/listens.ts';
import {
  endProcesses,
  findMarked,
  identify,
  type ProcessIdentity,
  processTable,
  sendSignal,
  withDescendants,
} from '../../base/process.ts';
import { Lease } from '../../engines/embedded/agent/lease.ts';
import { Lifeline } from '../../engines/embedded/agent/lifeline.ts';
import { type ProcessRecord, processFile, readRecord } from '../../providers/process/record.ts';
import { type RayletEnd, rayletEndFile } from '../../state/raylet-end.ts';
import { headOf, loopback, type RayletPlace, readPlace, writeHead } from '../../state/raylet-place.ts';
import { mantadOf } from '../../state/serving.ts';
import { type StateFolder, stateFolder } from '../../state/state-folder.ts';
import { rayletCommand, rayletEnvironment } from './raylet-start.ts';

const lookEvery = 1_000;
/** Ray's own end takes a second or two; below the grace that the provider gives an agent. */
const endGrace = 6_000;

const [home, name, python, objectStore, instanceFolder] = process.argv.slice(2);
if (instanceFolder === undefined) throw new Error('usage: raylet <home> <cluster> <Python> <bytes> <instance folder>');
await main(stateFolder(home as string, name as string), instanceFolder);

async function main(folder: StateFolder, at: string): Promise<void> {
  const record = readRecord(at);
  const self = identify(process.pid);
  const place = readPlace(folder);
  if (!record || !self || !place || !createJson(processFile(at), self)) return;
  const { bootDelay, hang, vanishAfter, preemptAfter } = record.faults;
  const vanish = Math.min(vanishAfter ?? Infinity, preemptAfter ?? Infinity);
  if (vanish !== Infinity) setTimeout(() => process.kill(process.pid, 'SIGKILL'), vanish).unref();

  const ended = new AbortController();
  const end = (why: string): void => ended.abort(why);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => end('stopped on request'));
  process.on('SIGHUP', () => {});
  const lease = new Lease(record.lease, () => end('mantad has been gone for longer than the lease'));
  const watch = setInterval(() => {
    if (mantadOf(folder) !== undefined) lease.renew();
    if (readPlace(folder)?.gcsPort !== place.gcsPort) end('the ports of the cluster have changed');
  }, lookEvery);

  const delay = hang ? 0x7fff_ffff : (bootDelay ?? 0);
  if (delay > 0) await sleep(delay, undefined, { signal: ended.signal }).catch(() => {});
  await live(folder, place, record, self, ended);
  lease.end();
  clearInterval(watch);
}

/** From the start of the node to its end, whichever comes first: Ray's or the one that was ordered. */
async function live(
  folder: StateFolder,
  place: RayletPlace,
  record: ProcessRecord,
  self: ProcessIdentity,
  ended: AbortController,
): Promise<void> {
  const { signal } = ended;
  if (record.kind === 'head') {
    dropOldSessions(place);
    writeHead(place, { agent: self, instance: record.id });
  } else await withHead(place, ended);
  if (signal.aborted) return;

  const order = {
    place,
    record,
    python: python as string,
    tokenFile: folder.files.rayToken,
    objectStore: Number(objectStore),
    env: process.env,
  };
  const [program, ...words] = rayletCommand(order);
  const ray = spawn(program, words, {
    env: rayletEnvironment(order),
    cwd: folder.path,
    // A session of its own: by it everything is found that Ray starts, also what has lost its mark with its title.
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  ray.on('error', (error) => {
    noteEnd('ray');
    say(`Ray could not be started: ${error.message}`);
    resolve();
  });
  ray.on('exit', (code, by) => {
    noteEnd('ray');
    say(`Ray exited (${by ?? code})`);
    resolve();
  });
  const session = ray.pid;
  const lifeline = new Lifeline(record.id, process.env);
  if (session !== undefined) lifeline.add(session);
  signal.addEventListener('abort', () => {
    noteEnd('node');
    say(`stopping: ${String(signal.reason)}`);
    if (session !== undefined) sendSignal(session, 'SIGTERM');
  });
  await Promise.race([gone, aborted(signal).then(() => Promise.race([gone, sleep(endGrace)]))]);
  const left = await endProcesses(() => allOf(record.id, session), 0);
  if (left.length > 0) return say(`processes ${left.join(', ')} do not exit`);
  lifeline.end();
}

/** Waits until the head's GCS takes connections, and ends the node with the head that it belongs to. */
async function withHead(place: RayletPlace, ended: AbortController): Promise<void> {
  const { signal } = ended;
  let head = headOf(place);
  while (!signal.aborted && (head === undefined || !(await listens(loopback, place.gcsPort)))) {
    await sleep(100, undefined, { signal }).catch(() => {});
    head = headOf(place);
  }
  const watch = setInterval(() => {
    if (headOf(place)?.instance !== head?.instance) ended.abort('its head is gone');
  }, lookEvery);
  watch.unref();
}

function allOf(instance: string, session: number | undefined): number[] {
  const rows = processTable();
  const inSession = rows.filter((row) => row.session === session);
  return [...new Set([...withDescendants(rows, inSession), ...findMarked(instance)])];
}

/** Sessions of heads that are gone, but for the last one, whose logs may still be wanted. */
function dropOldSessions({ temp }: RayletPlace): void {
  const sessions = namesIn(temp).filter((each) => /^session_\d/.test(each));
  for (const each of sessions.sort().slice(0, -1)) rmSync(join(temp, each), { recursive: true, force: true });
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** Ray may notice first that its head is gone: an end of the node's own choice counts, whichever comes first. */
function noteEnd(by: RayletEnd['by']): void {
  const file = rayletEndFile(instanceFolder as string);
  try {
    if (by === 'node') writeJson(file, { by } satisfies RayletEnd);
    else createJson(file, { by } satisfies RayletEnd);
  } catch {
    // Without its folder, or on a full disk, the node must end all the same.
  }
}

/** Into the log of the instance. */
function say(line: string): void {
  writeSync(2, `${new Date().toISOString()} ${line}\n`);
}
