import { chmodSync, lstatSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { makeFolder, readJson, readLiveJson, writeJson } from '../base/files/json-file.ts';
import type { Market } from '../core/instance.ts';
import type { HeadIdentity, PreparedCloud } from '../providers/clouds.ts';
import { checkRecord } from './check-record.ts';
import { stateErrors } from './errors.ts';
import { firstFolders, type StateFolder, stateNames } from './state-folder.ts';

/** Format of the record; a newer one is refused. */
export const recordFormat = 1;

/**
 * `cluster.json`: what the cluster is meant to be. Written by the commands, whole, never in place. What it holds beyond that
 * depends on what this machine is to the cluster.
 */
export type ClusterRecord = ThisMachineRecord | LaptopRecord | HeadRecord;
export type ClusterRole = ClusterRecord['role'];

/** On the machine that the whole cluster runs on. */
export interface ThisMachineRecord extends SharedRecord {
  readonly role: 'this-machine';
  readonly engine: 'embedded' | 'ray';
  /** Asked for by `--port`; absent: 8265 or the next free one. */
  readonly port?: number;
  /** Of real Ray: the Python whose Ray it is. */
  readonly python?: RayPython;
  /** In the head's pod of a RayCluster: which one that is. */
  readonly kube?: { readonly namespace: string; readonly name: string };
}

/** On the machine that commands are given on: where the head of a cluster of other machines is. */
export interface LaptopRecord extends SharedRecord {
  readonly role: 'laptop';
  readonly engine: 'ray';
  readonly remote: RemoteHead;
}

/** On the head of a cluster of other machines: what its launcher found out. Written by the laptop, and read by mantad. */
export interface HeadRecord extends SharedRecord {
  readonly role: 'head';
  readonly engine: 'ray';
  readonly ray: RayHead;
}

interface SharedRecord {
  readonly format: number;
  readonly name: string;
  readonly machine: string;
  readonly createdAt: number;
  /** The cluster file as given to `up`, and where it came from. Absent: the built-in spec. */
  readonly config?: {
    readonly path: string;
    readonly text: string;
    /** Values of the variables that the file names by `${env:NAME}`. */
    readonly env: Readonly<Record<string, string>>;
  };
  /** Limits given on the command line; they win over the file until the next `up` without them. */
  readonly overrides?: { readonly minWorkers?: number; readonly maxWorkers?: number };
  /** Given with `up --until` or `--for`: when the cluster ends by itself. */
  readonly until?: number;
  /** The cluster has begun to turn itself off; anyone who finds it so completes it. */
  readonly turningOff?: { readonly since: number; readonly why: string };
  /** The cluster turned itself off. What it was is kept, for the next `up` and for those who ask. */
  readonly ended?: Ended;
  /** Set by `down` before anything is ended, so that a crash on the way is completed and not undone. */
  readonly endingSince?: number;
}

export interface RemoteHead {
  /** As this machine reaches it. Absent while a cloud's head has none yet. */
  readonly address?: string;
  /** Of a cloud: as workers reach it. Absent: the same. */
  readonly inside?: string;
  /** Of a cloud: the zone of the head's instance. */
  readonly zone?: string;
  /** Of a cloud: the head's instance, by what the cluster is known there, and what the head was asked for with. */
  readonly instance?: string;
  readonly clusterId?: string;
  readonly launchToken?: string;
  /** When the cloud was last asked for the head. */
  readonly askedAt?: number;
  /** For which offer: a token is bound to it. */
  readonly asked?: { readonly zone?: string; readonly market: Market };
  /** What was found or made for the cluster in its cloud. */
  readonly prepared?: PreparedCloud;
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
  /** Of a cloud: as what mantad asks it. @default file */
  readonly identity?: HeadIdentity['kind'];
  /** Of a cloud: what was found or made for the cluster there. */
  readonly prepared?: PreparedCloud;
}

/** The folder's record; undefined when there is none. Throws when the folder is not ours to use. */
export function readCluster(folder: StateFolder): ClusterRecord | undefined {
  const value = readValue(folder);
  if (value === undefined) return undefined;
  const foreign = (detail: string): Error => stateErrors.FolderForeign({ folder: folder.path, detail });
  const { format, name, machine } = (value ?? {}) as Partial<ClusterRecord>;
  if (typeof format !== 'number' || typeof name !== 'string')
    throw foreign('its cluster.json was not written by Manta');
  if (format > recordFormat) throw stateErrors.FolderNewer({ folder: folder.path, format });
  if (machine !== hostname()) throw foreign(`it belongs to the machine '${machine}'`);
  const checked = checkRecord(value);
  if ('problem' in checked) throw foreign(`its cluster.json was not written by Manta: ${checked.problem}`);
  const { uid } = lstatSync(folder.path);
  if (process.getuid && uid !== process.getuid()) throw foreign(`it belongs to the user with id ${uid}`);
  return checked.record;
}

/** As `readCluster`, without a look at whose folder it is; undefined also where the record cannot be used. */
export function peekCluster({ files }: StateFolder): ClusterRecord | undefined {
  try {
    return recordIn(readJson(files.cluster));
  } catch {
    return undefined;
  }
}

/** The record of a cluster of other machines that commands are given to from here. */
export function readLaptopRecord(folder: StateFolder): LaptopRecord | undefined {
  const record = readCluster(folder);
  return record?.role === 'laptop' ? record : undefined;
}

/** The record in a text that a head's machine gave; undefined for any other text. */
export function headRecordIn(text: string): HeadRecord | undefined {
  try {
    const record = recordIn(JSON.parse(text));
    return record?.role === 'head' ? record : undefined;
  } catch {
    return undefined;
  }
}

function recordIn(value: unknown): ClusterRecord | undefined {
  const checked = checkRecord(value);
  return 'record' in checked ? checked.record : undefined;
}

/** A record that is not JSON is taken from its copy: a disk may have lost it, and without it nothing is known. */
function readValue(folder: StateFolder): unknown {
  try {
    return readJson<unknown>(folder.files.cluster);
  } catch (error) {
    if (!(error instanceof SyntaxError))
      throw stateErrors.FolderForeign({ folder: folder.path, detail: 'cluster.json cannot be read' });
    const copy = readLiveJson<unknown>(copyOf(folder));
    if (copy === undefined) throw stateErrors.RecordDamaged({ file: folder.files.cluster });
    return copy;
  }
}

const copyOf = (folder: StateFolder): string => join(folder.files.backups, stateNames.cluster);

/** Puts a record in the place of the one before, and a copy beside it. */
export function writeCluster(folder: StateFolder, record: ClusterRecord): void {
  writeJson(folder.files.cluster, record);
  keepCopy(folder, record);
}

/** For a record that was written here from another machine: its copy is made by the first that reads it. */
export function keepCopy(folder: StateFolder, record: ClusterRecord): void {
  makeFolder(folder.files.backups);
  writeJson(copyOf(folder), record);
}

/** Puts back the text of a record, just as another version wrote it. */
export function restoreCluster(folder: StateFolder, text: string): void {
  const value: unknown = JSON.parse(text);
  writeJson(folder.files.cluster, value);
  makeFolder(folder.files.backups);
  writeJson(copyOf(folder), value);
}

type Unmade<Each> = Each extends ClusterRecord ? Omit<Each, 'format' | 'machine' | 'name'> : never;

/** Makes the folder, for this user only, and its record. */
export function createCluster(folder: StateFolder, record: Unmade<ClusterRecord>): ClusterRecord {
  makeFolder(folder.path);
  chmodSync(folder.path, 0o700);
  for (const part of firstFolders(folder)) makeFolder(part);
  const whole: ClusterRecord = { ...record, format: recordFormat, name: folder.name, machine: hostname() };
  writeCluster(folder, whole);
  return whole;
}

export function changeCluster(
  folder: StateFolder,
  change: (record: ClusterRecord) => ClusterRecord,
): ClusterRecord | undefined {
  const record = readCluster(folder);
  if (record === undefined) return undefined;
  const next = change(record);
  writeCluster(folder, next);
  return next;
}

/** The record of a cluster whose head is on another machine from now on, wherever it was. */
export function withRemoteHead(record: ClusterRecord, remote: RemoteHead): LaptopRecord {
  switch (record.role) {
    case 'laptop':
      return { ...record, remote };
    case 'this-machine': {
      const { port: _port, python: _python, kube: _kube, ...kept } = record;
      return { ...kept, role: 'laptop', engine: 'ray', remote };
    }
    case 'head': {
      const { ray: _ray, ...kept } = record;
      return { ...kept, role: 'laptop', remote };
    }
  }
}
