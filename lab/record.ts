import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { CableState } from './cable.ts';
import { removeGroups, thawAll } from './cgroups.ts';
import type { Registry } from './images/registry.ts';
import type { HostOptions, LabOptions } from './options.ts';
import { endProcess, isAlive, type ProcessIdentity } from './processes.ts';

/** Where the labs of this machine are recorded, one folder each. */
const stateFolder = '/run/manta-lab';
const mostLabs = 200;

/** What is written down of a host, so that another process can use it. */
export interface HostRecord {
  readonly name: string;
  readonly pid1?: ProcessIdentity;
  readonly cable: CableState;
}

export interface LabRecord {
  /** Third number of the lab's network. */
  readonly id: number;
  /** Tells it from an earlier lab of that number. */
  readonly token: string;
  /** The pid namespace that the numbers of processes below belong to. */
  readonly pids: string;
  /** Whose lab it is: it ends with that process. Absent for a lab that is up and stays until it is taken down. */
  readonly owner?: ProcessIdentity;
  readonly keeper?: ProcessIdentity;
  readonly registry?: Registry;
  readonly options: LabOptions;
  readonly hosts: readonly HostRecord[];
  /** Those beyond `options`, by their numbers. */
  readonly added?: readonly AddedHost[];
}

export interface AddedHost {
  readonly number: number;
  readonly has: HostOptions;
}

export const pidNamespace = (): string => readlinkSync('/proc/self/ns/pid');

/** Name of its cgroups. */
export const groupOf = ({ id, token }: Pick<LabRecord, 'id' | 'token'>): string => `${id}-${token}`;

/** Written by a lab's first process itself, so that it is known however early its maker dies. */
export const keeperFile = (folder: string): string => join(folder, 'keeper');

export function readKeeper(folder: string): ProcessIdentity | undefined {
  try {
    const fields = readFileSync(keeperFile(folder), 'utf8').split(' ');
    return { pid: Number(fields[0]), start: fields[21]! };
  } catch {
    return undefined;
  }
}

export const folderOf = (id: number): string => join(stateFolder, String(id));

/** Takes the lowest free number; the record is there from the first moment the folder is. */
export function claimNumber(make: (id: number) => LabRecord): LabRecord {
  mkdirSync(stateFolder, { recursive: true, mode: 0o700 });
  for (let id = 0; id < mostLabs; id++) {
    const draft = mkdtempSync(join(stateFolder, 'new-'));
    const record = make(id);
    writeFileSync(join(draft, 'record.json'), JSON.stringify(record));
    try {
      renameSync(draft, folderOf(id));
      return record;
    } catch (error) {
      rmSync(draft, { recursive: true });
      if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
  throw new Error(
    `${mostLabs} labs are up already: 'manta-lab ls' lists them, 'manta-lab down' ends those of dead processes`,
  );
}

export function writeRecord(record: LabRecord): void {
  const folder = folderOf(record.id);
  const draft = join(folder, `record-${process.pid}.json`);
  writeFileSync(draft, JSON.stringify(record));
  renameSync(draft, join(folder, 'record.json'));
}

export function readRecords(): readonly LabRecord[] {
  return listState()
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readRecord(join(stateFolder, name)) ?? [])
    .sort((a, b) => a.id - b.id);
}

/**
 * Neither its owner nor, where it has none, its first process is there any more. Of a lab made in another pid namespace
 * nobody here can tell.
 */
export function isLeft(record: LabRecord): boolean {
  if (record.pids !== pidNamespace()) return false;
  return !isAlive(record.owner ?? record.keeper!);
}

/** Ends what dead processes left. Labs of live ones are not touched. Returns the numbers of those removed. */
export async function sweep(): Promise<readonly number[]> {
  for (const name of listState().filter((each) => each.startsWith('old-'))) await removeFolder(join(stateFolder, name));
  for (const name of listState().filter((each) => each.startsWith('new-'))) removeDraft(join(stateFolder, name));
  const left = readRecords().filter(isLeft);
  for (const record of left) await removeLab(record);
  return left.map(({ id }) => id);
}

/**
 * Ends every process of a lab, which gives back its mounts and networks, and removes its record. Safe to do twice and
 * from two processes: the folder is moved aside first, so that its number can be taken again at once.
 */
export async function removeLab(record: LabRecord): Promise<void> {
  const aside = join(stateFolder, `old-${groupOf(record)}`);
  try {
    if (readRecord(folderOf(record.id))?.token === record.token) renameSync(folderOf(record.id), aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  await removeFolder(aside);
}

async function removeFolder(folder: string): Promise<void> {
  const record = readRecord(folder);
  if (record !== undefined) {
    thawAll(groupOf(record));
    const keeper = readKeeper(folder);
    if (keeper !== undefined) await endProcess(keeper);
    await removeGroups(groupOf(record));
  }
  rmSync(folder, { recursive: true, force: true });
}

/** Somebody who was ended between making a draft and putting it in its place; nobody takes minutes for that. */
function removeDraft(folder: string): void {
  const made = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  if (Date.now() - made > 300_000) rmSync(folder, { recursive: true, force: true });
}

function readRecord(folder: string): LabRecord | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, 'record.json'), 'utf8')) as LabRecord;
  } catch {
    return undefined;
  }
}

function listState(): readonly string[] {
  try {
    return readdirSync(stateFolder);
  } catch {
    return [];
  }
}
