import { createHash, randomBytes, randomInt } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeDurably } from '../base/files/durable.ts';
import { makeFolder, namesIn, readJson, readLiveJson, writeJson, writeLiveJson } from '../base/files/json-file.ts';
import { isAlive, type ProcessIdentity } from '../base/process.ts';
import { readProcess, readRecord } from '../providers/process/record.ts';
import { stateErrors } from './errors.ts';
import type { StateFolder } from './state-folder.ts';

/** What the nodes of a Ray on one machine share; `ray.json` of the state folder. */
export interface RayletPlace {
  /** Ray's folder. Short, because Ray puts sockets below it. */
  readonly temp: string;
  readonly gcsPort: number;
  readonly dashboardPort: number;
}

/** The head that runs; `head.json` in Ray's folder. Workers live and die with it. */
export interface RunningRayHead {
  readonly agent: ProcessIdentity;
  readonly instance: string;
}

export const loopback = '127.0.0.1';
/** Below those that systems give to outgoing connections, above those that people choose. */
const ports = { first: 20_000, behindLast: 32_000 } as const;
/** Ray appends the name of a session and of a socket, 70 characters, and a socket's path has a hundred. */
const longestTemp = 36;

/**
 * The place of a cluster, as it was while a head of it lives; else with ports that are free now. A head that finds that its
 * ports are others ends itself.
 */
export async function openPlace(folder: StateFolder): Promise<RayletPlace> {
  const known = readPlace(folder);
  const temp = makeFolder(tempOf(folder));
  if (!existsSync(folder.files.rayToken)) writeDurably(folder.files.rayToken, `${randomBytes(32).toString('hex')}\n`);
  if (known !== undefined && hasHead(folder)) return known;
  const [gcsPort, dashboardPort] = await freePorts(2);
  const place = { temp, gcsPort, dashboardPort } as RayletPlace;
  writeJson(folder.files.ray, place);
  return place;
}

export const readPlace = ({ files }: StateFolder): RayletPlace | undefined => readJson<RayletPlace>(files.ray);

export const tokenOf = ({ files }: StateFolder): string => readFileSync(files.rayToken, 'utf8').trim();

/** Deletes Ray's folder, when nothing of the cluster runs any more. */
export function removePlace(folder: StateFolder): void {
  if (!existsSync(folder.files.ray)) return;
  rmSync(tempOf(folder), { recursive: true, force: true });
  rmSync(folder.files.ray, { force: true });
}

const headFile = ({ temp }: RayletPlace): string => join(temp, 'head.json');

export const writeHead = (place: RayletPlace, head: RunningRayHead): void => writeLiveJson(headFile(place), head);

/** The head that runs now. */
export function headOf(place: RayletPlace): RunningRayHead | undefined {
  const head = readLiveJson<RunningRayHead>(headFile(place));
  return head !== undefined && isAlive(head.agent) ? head : undefined;
}

/** A head's process, also one that was only just started and has not said so in `head.json`. */
function hasHead({ files }: StateFolder): boolean {
  return namesIn(files.instances)
    .filter((name) => !name.startsWith('.'))
    .some((name) => {
      const at = join(files.instances, name);
      const agent = readRecord(at)?.kind === 'head' ? readProcess(at) : undefined;
      return agent !== undefined && isAlive(agent);
    });
}

function tempOf(folder: StateFolder): string {
  const owner = process.getuid?.() ?? 0;
  const name = createHash('sha256').update(folder.path).digest('hex').slice(0, 10);
  const below = (base: string): string => join(base, `manta-${owner}`);
  const base = Buffer.byteLength(join(below(tmpdir()), name)) > longestTemp ? below('/tmp') : below(tmpdir());
  const found = lstatSync(makeFolder(base));
  // Anybody can make a folder there first; what is not ours alone is not used.
  if (!found.isDirectory() || found.uid !== owner || (found.mode & 0o077) !== 0)
    throw stateErrors.SharedFolder({ folder: base });
  return join(base, name);
}

async function freePorts(count: number): Promise<number[]> {
  const found = new Set<number>();
  while (found.size < count) {
    const port = randomInt(ports.first, ports.behindLast);
    if (await isFree(port)) found.add(port);
  }
  return [...found];
}

function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const server = createServer();
  server.on('error', () => resolve(false));
  server.listen(port, loopback, () => server.close(() => resolve(true)));
  return promise;
}
