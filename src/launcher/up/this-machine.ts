import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { EventSink } from '../../base/events.ts';
import { makeFolder, namesIn, readLiveJson } from '../../base/files/json-file.ts';
import { takeLock } from '../../base/files/lock.ts';
import { commandLineOf, type ProcessIdentity } from '../../base/process.ts';
import type { Clock, Duration } from '../../base/time/clock.ts';
import { version, versionAt } from '../../base/version.ts';
import { clientAt } from '../../client/http.ts';
import type { Endpoint } from '../../client/target.ts';
import { compareVersions } from '../../core/versions.ts';
import { readRecord } from '../../providers/process/record.ts';
import {
  type ClusterRecord,
  createCluster,
  type RayPython,
  readCluster,
  type ThisMachineRecord,
  writeCluster,
} from '../../state/cluster-record.ts';
import { lastWords } from '../../state/last-words.ts';
import { type GivenFile, loadSpec } from '../../state/load-spec.ts';
import { lastLogLine } from '../../state/mantad/daemon-log.ts';
import { beginUpgrade, failedUpgrade, upgradeOf } from '../../state/mantad/upgrade.ts';
import { owner } from '../../state/owner.ts';
import { mantadOf, type Serving, servingOf, supervisorOf } from '../../state/serving.ts';
import { clearRemains, refuseForeign, type StateFolder, stateFolder } from '../../state/state-folder.ts';
import { down, endDaemon } from '../down/this-machine.ts';
import { launcherErrors } from '../errors.ts';
import { launcherEvents } from '../events.ts';
import { keptProgram } from '../head/ship/runtime.ts';

export interface UpRequest {
  readonly home: string;
  /** Wins over the file's own name. */
  readonly name?: string;
  /** Absent: the built-in cluster. */
  readonly file?: GivenFile;
  readonly overrides: NonNullable<ClusterRecord['overrides']>;
  /** Wins over what the file says. Absent: that, or the one of the cluster that is known. */
  readonly engine?: ThisMachineRecord['engine'];
  /** Finds the Ray of a cluster that is to run one and has none yet. */
  readonly findRay?: () => Promise<RayPython>;
  readonly port?: number;
  /** When it ends by itself; null takes back what was said before. Absent: as it was. */
  readonly until?: number | null;
  readonly clock: Clock;
  readonly events: EventSink;
}

export interface UpResult {
  readonly folder: StateFolder;
  readonly serving: Serving;
  /** What had to be done: nothing, the new file applied to the running cluster, or a daemon started. */
  readonly done: 'nothing' | 'applied' | 'started';
  /** The version of the daemon that ran before, where this one took over from it. */
  readonly upgradedFrom?: string;
}

const startsWithin = 60_000;
/** A Ray has to start before its cluster runs. */
const rayStartsWithin = 240_000;
/** Longer than a new version is on trial. */
const upgradedWithin = 240_000;
/** A head that ended so often while it was waited for is not going to run. */
const mostHeadsLost = 3;

/** Brings the cluster of this machine to what the request says. A second `up` with the same request changes nothing. */
export async function up(request: UpRequest, signal: AbortSignal): Promise<UpResult> {
  const name = request.name ?? request.file?.spec.name ?? 'default';
  const folder = stateFolder(request.home, name);
  clearRemains(folder);
  refuseForeign(folder);
  const known = readCluster(folder);
  const wantedAtFirst = wantedOf(request, name, known, false);
  loadSpec(wantedAtFirst, request.file);
  if (known !== undefined && known.engine !== wantedAtFirst.engine)
    throw launcherErrors.VenvEngineFixed({ name, has: known.engine, wanted: wantedAtFirst.engine });
  const python = wantedAtFirst.engine === 'ray' ? await rayFor(ofThisMachine(known), request) : undefined;
  makeFolder(folder.path);
  const taken = takeLock(folder.files.commandLock);
  if ('holder' in taken) throw launcherErrors.Busy({ name, pid: taken.holder.pid });
  let started: ChildProcess | undefined;
  let wasThere = false;
  let upgrading = false;
  try {
    const before = await whenTurnedOff(folder, request, signal);
    wasThere = before !== undefined;
    if (before?.endingSince !== undefined) throw launcherErrors.HalfDown({ name });
    // A cluster that does not run begins a new life.
    const revived =
      before !== undefined &&
      supervisorOf(folder) === undefined &&
      mantadOf(folder) === undefined &&
      upgradeOf(folder) === undefined;
    const wanted = { ...wantedOf(request, name, before, !revived), ...(python && { python }) };
    const running = servingOf(folder);
    // One that dies again and again has served before.
    const last = running ?? (supervisorOf(folder) && readLiveJson<Serving>(folder.files.serving));
    const upgrade = last !== undefined && isUpgrade(last, name);
    upgrading = upgrade;
    if (upgrade) await endOldDaemon(folder, last, request);
    const same = before !== undefined && !revived && sameRequest(before, wanted) && before.until === wanted.until;
    if (before === undefined)
      createCluster(folder, { role: 'this-machine', ...wanted, createdAt: request.clock.now() });
    else if (!same) {
      const { ended: _ended, until: _until, config: _config, overrides: _overrides, ...kept } = before;
      writeCluster(folder, { ...kept, ...(revived && { createdAt: request.clock.now() }), ...wanted });
    }
    started = supervisorOf(folder) === undefined ? await startSupervisor(request.home, name) : undefined;
    if (running !== undefined && !upgrade) {
      if (request.port !== undefined && Number(new URL(running.url).port) !== request.port)
        request.events.emit(launcherEvents.portLater, { port: request.port, url: running.url });
      if (!same) await post(running.url, '/api/manta/v1/reload', await ownerToken(folder, request, signal), signal);
      if (wanted.engine === 'ray') await waitForServing(folder, started, rayStartsWithin, request, signal);
      return { folder, serving: running, done: same ? 'nothing' : 'applied' };
    }
    request.events.emit(launcherEvents.starting, { name }, { id: 'mantad', state: 'running' });
    const within = upgrade ? upgradedWithin : wanted.engine === 'ray' ? rayStartsWithin : startsWithin;
    const serving = await waitForServing(folder, started, within, request, signal);
    request.events.emit(launcherEvents.started, { name, url: serving.url }, { id: 'mantad', state: 'done' });
    if (upgrade) return { folder, serving, done: same ? 'nothing' : 'applied', upgradedFrom: last.version };
    return { folder, serving, done: 'started' };
  } catch (error) {
    taken.lock.release();
    if (signal.aborted && started !== undefined && !upgrading) await undo(folder, wasThere, request);
    throw error;
  } finally {
    taken.lock.release();
  }
}

/** What `up` would do to a cluster of this machine. */
export interface LocalPlan {
  readonly name: string;
  /** `make`: there is none of this name. `start`: it is known and does not run. `apply`: it runs otherwise. */
  readonly action: 'make' | 'start' | 'apply' | 'nothing';
  readonly upgrade?: { readonly from: string; readonly to: string };
}

/** Looks, and changes nothing. */
export function planHere(request: UpRequest): LocalPlan {
  const name = request.name ?? request.file?.spec.name ?? 'default';
  const folder = stateFolder(request.home, name);
  refuseForeign(folder);
  const known = readCluster(folder);
  const running = servingOf(folder);
  const wanted = wantedOf(request, name, known, running !== undefined);
  loadSpec(wanted, request.file);
  const here = ofThisMachine(known);
  if (here === undefined) return { name, action: 'make' };
  const same = sameRequest(here, wanted) && here.until === wanted.until;
  return {
    name,
    action: running === undefined ? 'start' : same ? 'nothing' : 'apply',
    ...(running !== undefined && isUpgrade(running, name) && { upgrade: { from: running.version, to: version } }),
  };
}

/** An earlier version gives way to this one; a later one stays. */
function isUpgrade({ version: head }: Serving, name: string): boolean {
  const order = compareVersions(head, version);
  if (order > 0) throw launcherErrors.HeadNewer({ name, head, client: version });
  return order < 0;
}

/** Jobs and nodes go on without the daemon; what it wrote is kept until the new one serves. */
async function endOldDaemon(folder: StateFolder, running: Serving, request: UpRequest): Promise<void> {
  const { clock, events } = request;
  events.emit(launcherEvents.upgrading, { name: folder.name, from: running.version, to: version });
  beginUpgrade(folder, {
    from: running.version,
    to: version,
    since: clock.now(),
    command: commandOf(supervisorOf(folder), running.version),
    record: readFileSync(folder.files.cluster, 'utf8'),
  });
  // Once begun it is gone through with: an interruption here would leave nobody in charge.
  await endDaemon(folder, clock, AbortSignal.timeout(startsWithin));
}

/** What starts that version again. Nothing where another one was installed in its place. */
function commandOf(supervisor: ProcessIdentity | undefined, from: string): readonly string[] {
  const command = supervisor === undefined ? [] : commandLineOf(supervisor.pid);
  const program = command.find((word) => word.endsWith('/supervisor.js') || word.endsWith('/supervisor.ts'));
  return program !== undefined && versionAt(dirname(program)) === from ? command : [];
}

/** What this command started and will not wait for is ended again; a cluster that was there before keeps its state. */
async function undo(folder: StateFolder, known: boolean, { clock, events }: UpRequest): Promise<void> {
  await down({ folder, keepState: known, clock, events }, AbortSignal.timeout(startsWithin));
}

/** Without a file a cluster that is known keeps its own; options win over what was given before. */
function wantedOf(request: UpRequest, name: string, before: ClusterRecord | undefined, lives: boolean): Wanted {
  const config = request.file?.config ?? before?.config;
  const overrides = { ...(request.file === undefined ? before?.overrides : {}), ...request.overrides };
  return {
    name,
    engine: request.engine ?? request.file?.spec.provider.manta.engine ?? before?.engine ?? 'embedded',
    ...(config && { config }),
    ...(Object.keys(overrides).length > 0 && { overrides }),
    ...(request.port !== undefined && { port: request.port }),
    ...untilOf(request.until, before, { now: request.clock.now(), lives }),
  };
}

/** The record, where the cluster runs here; throws for one whose head is elsewhere, which must not be forgotten. */
function ofThisMachine(record: ClusterRecord | undefined): ThisMachineRecord | undefined {
  if (record === undefined || record.role === 'this-machine') return record;
  const before = record.role === 'head' ? record.ray.address : (record.remote.address ?? 'a cloud');
  throw launcherErrors.HeadMoved({ name: record.name, before, now: 'this machine' });
}

/** The Ray that the cluster has, as long as it is there. */
async function rayFor(known: ThisMachineRecord | undefined, { findRay }: UpRequest): Promise<RayPython | undefined> {
  return known?.python !== undefined && existsSync(known.python.path) ? known.python : await findRay?.();
}

/**
 * What was said of the end of a cluster holds until it has come to that, or something else is said. One that lives though
 * that time has passed was extended.
 */
export function untilOf(
  given: number | null | undefined,
  before: Pick<ClusterRecord, 'until' | 'ended'> | undefined,
  { now, lives }: { readonly now: number; readonly lives: boolean },
): Pick<ClusterRecord, 'until'> {
  const said = before?.ended === undefined && (lives || (before?.until ?? 0) > now) ? before?.until : undefined;
  const until = given === undefined ? said : given;
  return until === undefined || until === null ? {} : { until };
}

/** The record of a cluster; one that turns itself off just now is waited for. */
async function whenTurnedOff(
  folder: StateFolder,
  { home, clock }: UpRequest,
  signal: AbortSignal,
): Promise<ThisMachineRecord | undefined> {
  const until = performance.now() + startsWithin;
  for (;;) {
    const record = ofThisMachine(readCluster(folder));
    const kept = supervisorOf(folder) !== undefined;
    if (record?.turningOff === undefined && !(record?.ended !== undefined && kept)) return record;
    if (performance.now() > until) throw launcherErrors.TurningOff({ name: folder.name });
    if (!kept) await startSupervisor(home, folder.name);
    await clock.sleep(250, signal);
  }
}

type Wanted = Pick<ThisMachineRecord, 'name' | 'engine' | 'config' | 'overrides' | 'port' | 'until'>;

const sameRequest = (a: Wanted, b: Wanted): boolean => {
  const essence = ({ config, overrides, engine }: Wanted): string =>
    JSON.stringify([config?.text, config?.env, overrides ?? {}, engine]);
  return essence(a) === essence(b) && (b.port === undefined || a.port === b.port);
};

async function startSupervisor(home: string, name: string): Promise<ChildProcess> {
  const supervisor = spawn(process.execPath, [await keptProgram('supervisor', home), home, name], {
    detached: true,
    stdio: 'ignore',
    cwd: '/',
  });
  supervisor.unref();
  return supervisor;
}

async function waitForServing(
  folder: StateFolder,
  supervisor: ChildProcess | undefined,
  within: Duration,
  { clock }: UpRequest,
  signal: AbortSignal,
): Promise<Serving> {
  const until = performance.now() + within;
  const began = clock.now();
  const hasGivenUp = (): boolean => supervisor?.exitCode !== null && supervisorOf(folder) === undefined;
  while (performance.now() < until) {
    const serving = servingOf(folder);
    const failed = failedUpgrade(folder);
    const isUndone = failed !== undefined && failed.at >= began;
    if (isUndone && serving?.version === failed.from)
      throw launcherErrors.UpgradeUndone({ name: folder.name, ...failed, log: folder.files.daemonLog });
    if (serving !== undefined && !isUndone && (await isReady(serving.url, signal))) return serving;
    if (serving === undefined && !isUndone && hasGivenUp()) break;
    if (headsLost(folder, began).length >= mostHeadsLost) break;
    await clock.sleep(50, signal);
  }
  throw launcherErrors.StartFailed({
    name: folder.name,
    log: folder.files.daemonLog,
    detail: lossOf(folder, headsLost(folder, began).at(-1)) ?? lastLogLine(folder),
  });
}

/** Heads that have started and ended since then, oldest first. */
function headsLost({ files }: StateFolder, since: number): readonly string[] {
  const ended = join(files.instances, '.ended');
  const records = namesIn(ended).flatMap((name) => readRecord(join(ended, name)) ?? []);
  const heads = records.filter(({ kind, launchedAt }) => kind === 'head' && launchedAt >= since);
  return heads.sort((a, b) => a.launchedAt - b.launchedAt).map(({ id }) => id);
}

function lossOf(folder: StateFolder, head: string | undefined): string | undefined {
  const words = head === undefined ? undefined : lastWords(folder, head);
  return words && `Ray's head ${head} exited: ${words.text}`;
}

/** One that was deleted is made again by mantad before long. */
async function ownerToken(folder: StateFolder, { clock }: UpRequest, signal: AbortSignal): Promise<string> {
  const file = join(folder.files.tokens, owner);
  for (let looks = 0; looks < 50 && !existsSync(file); looks++) await clock.sleep(200, signal);
  return readFileSync(file, 'utf8').trim();
}

const isReady = (url: string, signal: AbortSignal): Promise<boolean> =>
  statusOf('GET', '/readyz', { url }, signal).then(
    (status) => status === 200,
    () => false,
  );

async function post(url: string, path: string, token: string, signal: AbortSignal): Promise<void> {
  const status = await statusOf('POST', path, { url, token }, signal);
  if (status !== 200) throw launcherErrors.NotApplied({ url, status });
}

async function statusOf(method: string, path: string, place: Endpoint, signal: AbortSignal): Promise<number> {
  const http = clientAt(place, signal);
  return await http.statusOf(method, path, { silence: 30_000, repeatable: false }).finally(() => http.close());
}
