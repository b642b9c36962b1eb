import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, namesIn, readLiveJson, writeLiveJson } from '../base/files/json-file.ts';
import { identify, isAlive, type ProcessIdentity } from '../base/process.ts';
import { clusterNames, type StateFolder, stateFolder } from '../state/state-folder.ts';

/** `tunnels/<pid>.json`: a port of this machine that leads to mantad, and the process of Manta that holds it. */
interface TunnelRecord {
  readonly holder: ProcessIdentity;
  readonly port: number;
}

/** Says that this process holds the port for the cluster, for as long as it lives or until what is returned is called. */
export function recordTunnel(folder: StateFolder, port: number): () => void {
  const holder = identify(process.pid);
  if (holder === undefined) return () => {};
  for (const { file, record } of records(folder)) if (!isHeld(record)) rmSync(file, { force: true });
  const file = join(makeFolder(folder.files.tunnels), `${process.pid}.json`);
  writeLiveJson(file, { holder, port } satisfies TunnelRecord);
  return () => rmSync(file, { force: true });
}

/**
 * The cluster that this port leads to, where a living process of Manta says so and the port is this user's: a token must
 * not go to anyone who took the port after a tunnel was gone.
 */
export function tunnelOn(port: number, home: string): StateFolder | undefined {
  for (const name of clusterNames(home)) {
    const folder = stateFolder(home, name);
    if (held(folder).some((record) => record.port === port) && isOwnPort(port)) return folder;
  }
  return undefined;
}

/** A port that leads to the cluster, while a living process of Manta holds one. */
export const tunnelOf = (folder: StateFolder): number | undefined =>
  held(folder).find(({ port }) => isOwnPort(port))?.port;

const isHeld = (record: TunnelRecord | undefined): record is TunnelRecord =>
  record !== undefined && isAlive(record.holder);

const held = (folder: StateFolder): readonly TunnelRecord[] =>
  records(folder)
    .map(({ record }) => record)
    .filter(isHeld);

function records(folder: StateFolder): readonly { readonly file: string; readonly record: TunnelRecord | undefined }[] {
  // A file that is being written has another name at first.
  const names = namesIn(folder.files.tunnels).filter((name) => /^\d+\.json$/.test(name));
  return names.map((name) => {
    const file = join(folder.files.tunnels, name);
    return { file, record: readRecord(file) };
  });
}

function readRecord(file: string): TunnelRecord | undefined {
  const record = readLiveJson<Partial<TunnelRecord>>(file);
  return record?.holder !== undefined && record.port !== undefined ? (record as TunnelRecord) : undefined;
}

/** Whether somebody listens on the port and everybody who does is this user. Where the system does not tell: yes. */
function isOwnPort(port: number): boolean {
  if (process.platform !== 'linux') return true;
  const ending = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const owners = ['tcp', 'tcp6'].flatMap((table) =>
    rowsOf(`/proc/self/net/${table}`).flatMap(([, local = '', , state, , , , user]) =>
      state === '0A' && local.endsWith(ending) ? [Number(user)] : [],
    ),
  );
  return owners.length > 0 && owners.every((user) => user === process.getuid?.());
}

function rowsOf(table: string): string[][] {
  try {
    return readFileSync(table, 'latin1')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/));
  } catch {
    return [];
  }
}
