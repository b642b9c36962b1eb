/** The head daemon of one cluster. Started by the supervisor: `node mantad.js <state home> <cluster> [<port that it holds>]`. */
import { rmSync } from 'node:fs';
import { MantaError } from '../base/errors.ts';
import { readLiveJson, writeLiveJson } from '../base/files/json-file.ts';
import { takeLock } from '../base/files/lock.ts';
import { identify, type ProcessIdentity } from '../base/process.ts';
import { databaseErrors } from '../base/sqlite/errors.ts';
import { wallClock } from '../base/time/wall-clock.ts';
import { version } from '../base/version.ts';
import { readCluster } from '../state/cluster-record.ts';
import { stateErrors } from '../state/errors.ts';
import { DaemonLog } from '../state/mantad/daemon-log.ts';
import { settleUpgrade, upgradeOf } from '../state/mantad/upgrade.ts';
import type { Serving } from '../state/serving.ts';
import { stateFolder } from '../state/state-folder.ts';
import { headErrors } from './errors.ts';
import { headEvents } from './events.ts';
import { type Head, openHead } from './head.ts';
import { keepOwner } from './owner.ts';
import { type ServeOrder, type ListeningServer as ServingServer, serve } from './server/server.ts';

const [home, name, ...held] = process.argv.slice(2);
if (home === undefined || name === undefined) throw new Error('usage: mantad <home> <cluster>');

const folder = stateFolder(home, name);
let onTrial = upgradeOf(folder) !== undefined;
/** Nothing is launched, started or ended by a version that may not stay. */
const settled = Promise.withResolvers<void>();
/** The supervisor has led standard error there. */
const daemonLog = new DaemonLog(folder.files.daemonLog, 2);
const { head, serving, isRayHead, releaseOwner } = await start(name).catch((error: unknown) => {
  const words = error instanceof MantaError ? error.message : (error as Error).stack;
  // `up` shows the last line of the log when nothing serves in the end.
  log(`mantad could not start: ${words}`);
  process.exit(1);
});
head.events.emit(headEvents.started, {
  version,
  pid: process.pid,
  url: serving.url,
  adopted: (await head.engine.state(AbortSignal.timeout(10_000)).catch(() => undefined))?.nodes.length ?? 0,
});
// Clusters of one machine stand side by side, each on the next port; on a head, Ray's clients know one port alone.
if (isRayHead && serving.taken !== undefined)
  head.events.emit(headEvents.portTaken, { port: serving.taken, url: serving.url });

let ending = false;
process.on('uncaughtException', survive);
process.on('unhandledRejection', survive);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void end(signal));
process.on('SIGHUP', () => {
  try {
    head.reload();
  } catch (error) {
    // A file that cannot be used changes nothing: the cluster goes on with the one it has.
    log(`the cluster file was not applied: ${(error as Error).message}`);
  }
});

head.due
  .then(async (why) => {
    if (ending) return;
    await head.turnOff(why);
    await end(`the cluster shut itself down: ${why}`);
  })
  .catch((error: unknown) => {
    // The next one goes on with it.
    log(`the cluster could not be shut down: ${(error as Error).stack ?? String(error)}`);
    process.exit(1);
  });

async function start(cluster: string): Promise<{
  readonly head: Head;
  readonly serving: ServingServer;
  readonly isRayHead: boolean;
  readonly releaseOwner: () => void;
}> {
  const record = readCluster(folder);
  if (record === undefined) throw stateErrors.NotRunning({ name: cluster });
  const taken = takeLock(folder.files.mantadLock);
  if ('holder' in taken) throw headErrors.AlreadyServed({ folder: folder.path, pid: taken.holder.pid });
  const head = await openHead(folder, wallClock, process.env, log, settled.promise);
  const releaseOwner = await keepOwner(
    head.users,
    head.events,
    folder.files.tokens,
    process.env['MANTA_OWNER_TOKEN_FILE'],
  );
  const isRayHead = record.role === 'head';
  // Clients know the port: one that comes back after a crash takes its old one.
  const before = readLiveJson<Serving>(folder.files.serving);
  const heldPort = held.find((word) => word.startsWith('four='))?.slice('four='.length);
  const serving = await serve(head, {
    ...(record.role === 'this-machine' && record.port !== undefined && { port: record.port }),
    ...(before !== undefined && !isRayHead && { lastPort: Number(new URL(before.url).port) }),
    ...(heldPort !== undefined && { heldPort: Number(heldPort), heldSix: held.includes('six') }),
    heldNear: held.includes('near'),
    ...('kube' in record && serviceOf(record.kube?.namespace)),
    beforeChange: settle,
  });
  writeLiveJson(folder.files.serving, {
    mantad: identify(process.pid) as ProcessIdentity,
    url: serving.url,
    ...(serving.socket !== undefined && { socket: serving.socket }),
    version,
    startedAt: head.startedAt,
  } satisfies Serving);
  settle();
  return { head, serving, isRayHead, releaseOwner };
}

/** In a head's pod with a Service in front of it: the names that clients in the cluster know it by. */
function serviceOf(namespace = 'default'): Pick<ServeOrder, 'also'> {
  const { MANTA_SERVICE: service, MANTA_POD_IP: address } = process.env;
  if (!service || !address) return {};
  const names = ['', `.${namespace}`, `.${namespace}.svc`, `.${namespace}.svc.cluster.local`];
  return { also: { address, hosts: names.map((end) => `${service}${end}`) } };
}

/** This version stays: once it serves, and before anything that it says could be lost with it. */
function settle(): void {
  if (onTrial) settleUpgrade(folder);
  onTrial = false;
  settled.resolve();
}

function log(line: string): void {
  daemonLog.write(`${new Date().toISOString()} ${line}`);
}

/** What nobody caught ends mantad, but for a full disk: it could not start again there, and what runs needs it. */
function survive(error: unknown): void {
  log(error instanceof Error ? (error.stack ?? error.message) : String(error));
  const { code } = (error ?? {}) as { code?: unknown };
  if (code !== 'ENOSPC' && code !== 'EDQUOT' && !databaseErrors.DiskFull.is(error)) process.exit(1);
}

async function end(why: string): Promise<void> {
  if (ending) return;
  ending = true;
  head.events.emit(headEvents.ending, { why });
  rmSync(folder.files.serving, { force: true });
  await serving.close();
  releaseOwner();
  await head.close();
  process.exit(0);
}
