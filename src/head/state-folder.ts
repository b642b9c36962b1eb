import { chmodSync, existsSync, lstatSync, renameSync, rmSync } from 'node:fs';
import { homedir, hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { syncFolder } from '../base/durable.ts';
import { makeFolder, namesIn, readJson, readLiveJson, writeJson } from '../base/json-file.ts';
import type { ProcessIdentity } from '../base/process.ts';
import { isAlive } from '../base/process.ts';
import type { ReachedFrom } from '../bringup/reach.ts';
import { headErrors } from './errors.ts';

/** Format of the folder; a newer one is refused, an older one is migrated. */
const format = 1;

/** `cluster.json`: what the cluster is meant to be. Written by the commands, whole, never in place. */
export interface ClusterFile {
  readonly format: number;
  readonly name: string;
  readonly machine: string;
  readonly createdAt: number;
  readonly engine: 'embedded' | 'ray';
  /** The cluster file as given to `up`, and where it came from. Absent: the built-in spec. */
  readonly config?: {
    readonly path: string;
    readonly text: string;
    /** Values of the variables that the file names by `${env:NAME}`. */
    readonly env: Readonly<Record<string, string>>;
  };
  /** Limits given on the command line; they win over the file until the next `up` without them. */
  readonly overrides?: { readonly minWorkers?: number; readonly maxWorkers?: number };
  /** Asked for by `--port`; absent: 8265 or the next free one. */
  readonly port?: number;
  /** On the machine that commands are given on: where the head of a cluster of other machines is. */
  readonly remote?: {
    /** Absent while a cloud's head has none yet. */
    readonly address?: string;
    /** Of a cloud: the head's instance, by what the cluster is known there, and what the head was asked for with. */
    readonly instance?: string;
    readonly clusterId?: string;
    readonly launchToken?: string;
    /** When the cloud was last asked for the head. */
    readonly askedAt?: number;
  };
  /** On the head of a cluster of other machines: what its launcher found out. */
  readonly ray?: RayHead;
  /** Of a cluster of real Ray on this machine: the Python whose Ray it is. */
  readonly python?: RayPython;
  /** Given with `up --until` or `--for`: when the cluster ends by itself. */
  readonly until?: number;
  /** The cluster has begun to turn itself off; whoever finds it so completes it. */
  readonly turningOff?: { readonly since: number; readonly why: string };
  /** The cluster turned itself off. What it was is kept, for the next `up` and for those who ask. */
  readonly ended?: Ended;
  /** Set by `down` before anything is ended, so that a crash on the way is completed and not undone. */
  readonly endingSince?: number;
}

/** A Python that can import Ray. */
export interface RayPython {
  readonly path: string;
  /** Of Ray. */
  readonly version: string;
}

export interface Ended {
  readonly at: number;
  readonly why: string;
  /** Machines that did not answer, or on which something is left. */
  readonly left: readonly { readonly host: string; readonly why: string }[];
  /** The head's machine went too, with the queue and the journal on its disk. */
  readonly headGone?: boolean;
  /** It did not turn itself off: its head was found to be gone, at that time. */
  readonly lost?: {
    readonly instance: string;
    /** Workers that the cloud listed then; absent where it did not say. */
    readonly workers?: number;
  };
}

/** What mantad has to know of the Ray that it looks after, beyond the spec. */
export interface RayHead {
  /** Tells clusters of one name apart; fixed when the cluster is made. */
  readonly id: string;
  /** The head's own instance, as the provider names it. */
  readonly instance: string;
  /** As workers reach it. */
  readonly address: string;
  readonly gcsPort: number;
  readonly dashboardPort: number;
  readonly loginShells: boolean;
  readonly usageStats: boolean;
  /** Workers that run stay as they are, also where their commands changed, until the next `up` without `--no-restart`. */
  readonly leaveWorkers?: boolean;
  /** File mounts as they lie on the head's host, from where workers get them. */
  readonly mounts: readonly { readonly remote: string; readonly local: string; readonly directory: boolean }[];
  readonly versions?: { readonly ray: string; readonly python: string };
}

/** `mantad.json`: who serves the folder, and where. Written by mantad alone. */
export interface Serving {
  readonly mantad: ProcessIdentity;
  readonly url: string;
  /** A socket for this user alone that leads to the same; commands come in by it, through SSH. */
  readonly socket?: string;
  readonly version: string;
  readonly startedAt: number;
}

/** Where everything of one cluster is kept. `docs/state-folder.md` lists its contents. */
export interface StateFolder {
  readonly path: string;
  readonly name: string;
  readonly files: {
    readonly cluster: string;
    readonly serving: string;
    /** Held by the supervisor, and by mantad: at most one of each. */
    readonly supervisorLock: string;
    readonly mantadLock: string;
    /** Held by a command that changes the cluster. */
    readonly commandLock: string;
    readonly journal: string;
    readonly backups: string;
    readonly tokens: string;
    readonly packages: string;
    readonly logs: string;
    readonly instances: string;
    readonly daemonLog: string;
    /** Of a cluster of other machines: pinned host keys, one file a host. */
    readonly hosts: string;
    /** Where mantad itself listens, beside its port. */
    readonly mantadSocket: string;
    /** Who holds ports of this machine that lead to the cluster, and which; one file each. */
    readonly tunnels: string;
    /** Private key of the cluster, on its head. */
    readonly key: string;
    /** On the head of a cloud's cluster: until when lists may not show all that was launched. */
    readonly unseen: string;
    /** How long nothing has run, and until when the cluster is kept. */
    readonly turnOff: string;
    /** Of a cluster of real Ray on this machine: its ports and Ray's folder, and Ray's own token. */
    readonly ray: string;
    readonly rayToken: string;
    /** A mantad of another version takes over, what the one before it wrote, and how the last such try failed. */
    readonly upgrade: string;
    readonly beforeUpgrade: string;
    readonly failedUpgrade: string;
  };
}

/** Home of the state folders of heads, below the home of the user there; commands given there have their own. */
export const headHome = '.manta/head';

export function stateHome(env: Readonly<Record<string, string | undefined>>): string {
  return env['MANTA_HOME'] || join(homedir(), '.manta');
}

const clusterName = /^[a-z0-9][a-z0-9._-]{0,63}$/i;

export function stateFolder(home: string, name: string): StateFolder {
  if (!clusterName.test(name)) throw headErrors.ClusterName({ name });
  const path = join(home, 'clusters', name);
  return {
    path,
    name,
    files: {
      cluster: join(path, 'cluster.json'),
      serving: join(path, 'mantad.json'),
      supervisorLock: join(path, 'supervisor.lock'),
      mantadLock: join(path, 'mantad.lock'),
      commandLock: join(path, 'command.lock'),
      journal: join(path, 'journal.db'),
      backups: join(path, 'backups'),
      tokens: join(path, 'tokens'),
      packages: join(path, 'packages'),
      logs: join(path, 'logs'),
      instances: join(path, 'instances'),
      daemonLog: join(path, 'mantad.log'),
      hosts: join(path, 'hosts'),
      mantadSocket: join(path, 'mantad.sock'),
      tunnels: join(path, 'tunnels'),
      key: join(path, 'key'),
      unseen: join(path, 'unseen.json'),
      turnOff: join(path, 'turn-off.json'),
      ray: join(path, 'ray.json'),
      rayToken: join(path, 'ray-token'),
      upgrade: join(path, 'upgrade.json'),
      beforeUpgrade: join(path, 'before-upgrade'),
      failedUpgrade: join(path, 'upgrade-failed.json'),
    },
  };
}

/** The folder's record; undefined when there is none. Throws when the folder is not ours to use. */
export function readCluster(folder: StateFolder): ClusterFile | undefined {
  const record = readRecord(folder);
  if (record === undefined) return undefined;
  if (typeof record.format !== 'number' || typeof record.name !== 'string')
    throw headErrors.FolderForeign({ folder: folder.path, detail: 'cluster.json is not one of Manta' });
  if (record.format > format) throw headErrors.FolderNewer({ folder: folder.path, format: record.format });
  if (record.machine !== hostname())
    throw headErrors.FolderForeign({ folder: folder.path, detail: `it belongs to the machine '${record.machine}'` });
  const { uid } = lstatSync(folder.path);
  if (process.getuid && uid !== process.getuid())
    throw headErrors.FolderForeign({ folder: folder.path, detail: `it belongs to the user with id ${uid}` });
  return record;
}

/** A record that is no JSON is taken from its copy: a disk may have lost it, and without it nothing is known. */
function readRecord(folder: StateFolder): ClusterFile | undefined {
  try {
    return readJson<ClusterFile>(folder.files.cluster);
  } catch (error) {
    if (!(error instanceof SyntaxError))
      throw headErrors.FolderForeign({ folder: folder.path, detail: 'cluster.json cannot be read' });
    const copy = readLiveJson<ClusterFile>(copyOf(folder));
    if (copy === undefined) throw headErrors.RecordDamaged({ file: folder.files.cluster });
    return copy;
  }
}

const copyOf = (folder: StateFolder): string => join(folder.files.backups, 'cluster.json');

/** Puts a record in the place of the one before, and a copy beside it. */
export function writeCluster(folder: StateFolder, record: ClusterFile): void {
  writeJson(folder.files.cluster, record);
  keepCopy(folder, record);
}

/** For a record that was written here from another machine: its copy is made by whoever reads it first. */
export function keepCopy(folder: StateFolder, record: ClusterFile): void {
  makeFolder(folder.files.backups);
  writeJson(copyOf(folder), record);
}

/** Makes the folder, for this user only, and its record. */
export function createCluster(
  folder: StateFolder,
  record: Omit<ClusterFile, 'format' | 'machine' | 'name'>,
): ClusterFile {
  makeFolder(folder.path);
  chmodSync(folder.path, 0o700);
  for (const part of [
    folder.files.backups,
    folder.files.tokens,
    folder.files.packages,
    folder.files.logs,
    folder.files.instances,
  ])
    makeFolder(part);
  const whole: ClusterFile = { ...record, format, name: folder.name, machine: hostname() };
  writeCluster(folder, whole);
  return whole;
}

export function changeCluster(
  folder: StateFolder,
  change: (record: ClusterFile) => ClusterFile,
): ClusterFile | undefined {
  const record = readCluster(folder);
  if (record === undefined) return undefined;
  const next = change(record);
  writeCluster(folder, next);
  return next;
}

/** Everything Manta keeps in the folder, by name. */
const ownNames =
  /^(?:(?:cluster|mantad|standing|epoch|files|turn-off|ray|upgrade|upgrade-failed)\.json|ray-token|(?:supervisor|mantad|command)\.lock(?:\..*)?|journal\.db.*|mantad\.log(?:\..*)?|backups|tokens|packages|logs|instances|agents|archives|attempts|environments|before-upgrade(?:\.new)?|hosts|tunnels|[0-9a-f]{16}(?:\..*)?|credential|mantad\.sock|key(?:\.pub)?|\.\d+-\d+\.new)$/;

/** A folder without a record of ours that holds something else is somebody's: `down` would delete it. */
export function refuseForeign(folder: StateFolder): void {
  if (existsSync(folder.files.cluster)) return;
  const foreign = namesIn(folder.path).find((name) => !ownNames.test(name));
  if (foreign !== undefined)
    throw headErrors.FolderForeign({ folder: folder.path, detail: `it holds '${foreign}' and no cluster.json` });
}

/**
 * Deletes the folder and everything in it. It loses its name first, also on disk: what a crash leaves of it is no half cluster but
 * remains that the next command clears away.
 */
export function removeCluster(folder: StateFolder): void {
  renameSync(folder.path, `${remainsOf(folder)}${process.pid}`);
  syncFolder(dirname(folder.path));
  clearRemains(folder);
}

/** Deletes what an earlier removal left. */
export function clearRemains(folder: StateFolder): void {
  const parent = dirname(folder.path);
  for (const name of namesIn(parent))
    if (join(parent, name).startsWith(remainsOf(folder))) rmSync(join(parent, name), { recursive: true, force: true });
}

const remainsOf = (folder: StateFolder): string => join(dirname(folder.path), `.removed-${folder.name}~`);

/** The live mantad of the folder. */
export function servingOf(folder: StateFolder): Serving | undefined {
  const serving = readLiveJson<Serving>(folder.files.serving);
  return serving !== undefined && isAlive(serving.mantad) ? serving : undefined;
}

/** The live mantad, also while it starts and does not serve yet. */
export const mantadOf = (folder: StateFolder): ProcessIdentity | undefined => holderOf(folder.files.mantadLock);

/** The live supervisor, which brings mantad back. */
export const supervisorOf = (folder: StateFolder): ProcessIdentity | undefined => holderOf(folder.files.supervisorLock);

function holderOf(lock: string): ProcessIdentity | undefined {
  const holder = readLiveJson<ProcessIdentity>(lock);
  return holder !== undefined && isAlive(holder) ? holder : undefined;
}

/** Names of all clusters that are known here. A folder without a record is what a command left that only looked. */
export function clusterNames(home: string): string[] {
  const clusters = join(home, 'clusters');
  return namesIn(clusters).filter((name) => clusterName.test(name) && existsSync(join(clusters, name, 'cluster.json')));
}

/** How this machine reaches hosts of the cluster: by keys pinned, and sockets kept, in its folder. */
export const reachedFrom = ({ name, path, files }: StateFolder): ReachedFrom => ({
  cluster: name,
  pins: files.hosts,
  control: path,
});
