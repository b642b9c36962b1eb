import { readLiveJson } from '../base/files/json-file.ts';
import { isAlive, type ProcessIdentity } from '../base/process.ts';
import type { StateFolder } from './state-folder.ts';

/** `mantad.json`: who serves the folder, and where. Written by mantad alone. */
export interface Serving {
  readonly mantad: ProcessIdentity;
  readonly url: string;
  /** A socket for this user alone that leads to the same; commands come in by it, through SSH. */
  readonly socket?: string;
  readonly version: string;
  readonly startedAt: number;
}

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
