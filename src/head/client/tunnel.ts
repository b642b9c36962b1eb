import { readFileSync } from 'node:fs';
import { readJson, writeJson } from '../../base/json-file.ts';
import { identify, isAlive, type ProcessIdentity } from '../../base/process.ts';
import { clusterNames, type StateFolder, stateFolder } from '../state-folder.ts';

/** `tunnel.json`: a port of this machine that leads to the cluster, and the process of Manta that holds it. */
interface TunnelRecord {
  readonly holder: ProcessIdentity;
  readonly port: number;
}

/** Says that this process holds the port for the cluster; it stands for as long as the process lives. */
export function recordTunnel(folder: StateFolder, port: number): void {
  const holder = identify(process.pid);
  if (holder !== undefined) writeJson(folder.files.tunnel, { holder, port } satisfies TunnelRecord);
}

/**
 * The cluster that this port leads to, where a living process of Manta says so and the port is this user's: a token must
 * not go to whoever took the port after a tunnel was gone.
 */
export function tunnelOn(port: number, home: string): StateFolder | undefined {
  for (const name of clusterNames(home)) {
    const folder = stateFolder(home, name);
    const record = readRecord(folder);
    if (record?.port === port && isAlive(record.holder) && isOwnPort(port)) return folder;
  }
  return undefined;
}

/** The port that leads to the cluster, while a living process of Manta holds one. */
export function tunnelOf(folder: StateFolder): number | undefined {
  const record = readRecord(folder);
  return record !== undefined && isAlive(record.holder) && isOwnPort(record.port) ? record.port : undefined;
}

function readRecord(folder: StateFolder): TunnelRecord | undefined {
  try {
    const record = readJson<Partial<TunnelRecord>>(folder.files.tunnel);
    return record?.holder !== undefined && record.port !== undefined ? (record as TunnelRecord) : undefined;
  } catch {
    return undefined;
  }
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
