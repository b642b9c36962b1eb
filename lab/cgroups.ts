import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** One cgroup hierarchy of this machine. `controller` is what a host mounts it by. */
interface Hierarchy {
  readonly controller: string;
  readonly folder: string;
}

/** All of this machine's, the old kind (a hierarchy per controller), the new one, or both beside each other. */
function hierarchies(): readonly Hierarchy[] {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  const found = mounts.flatMap((line): Hierarchy[] => {
    const [, folder = '', type, options = ''] = line.split(' ');
    if (type === 'cgroup2') return [{ controller: folder === '/sys/fs/cgroup' ? 'cgroup2' : 'unified', folder }];
    if (type !== 'cgroup') return [];
    const named = options.split(',').find((option) => option.startsWith('name='));
    const general = new Set(['rw', 'ro', 'nosuid', 'nodev', 'noexec', 'relatime', 'xattr', 'clone_children', 'none']);
    const controllers = options.split(',').filter((option) => !general.has(option) && !option.includes('='));
    return [{ controller: named ?? controllers.join(','), folder }];
  });
  return found.filter(({ folder }, at) => found.findIndex((each) => each.folder === folder) === at);
}

const freezerOf = (all: readonly Hierarchy[]): Hierarchy | undefined =>
  all.find(({ controller }) => controller === 'freezer') ?? all.find(({ folder }) => folder === '/sys/fs/cgroup');

export function cgroupProblem(): string | undefined {
  const freezer = freezerOf(hierarchies());
  if (freezer === undefined) return 'no cgroup freezer is mounted';
  try {
    mkdirSync(join(freezer.folder, 'manta-lab'), { recursive: true });
    return undefined;
  } catch (error) {
    return `no cgroup can be made: ${(error as Error).message}`;
  }
}

/** What a host runs in: the freezer's hierarchy, and with `all` each of them, which a container engine needs. */
export interface HostGroups {
  /** As it stands in `/proc/PID/cgroup`. */
  readonly path: string;
  readonly freezer: string;
  readonly join: readonly string[];
  readonly controllers: readonly string[];
}

export function hostGroups(lab: string, host: string, all: boolean): HostGroups {
  const path = `/manta-lab/${lab}/${host}`;
  const known = hierarchies();
  const freezer = freezerOf(known)!;
  const used = all ? known : [freezer];
  return {
    path,
    freezer: join(freezer.folder, path),
    join: used.map(({ folder }) => join(folder, path)),
    controllers: used.map(({ controller }) => controller),
  };
}

export function makeGroups(groups: HostGroups): void {
  for (const folder of groups.join) {
    mkdirSync(folder, { recursive: true });
    inheritCpus(folder);
  }
}

/** The old `cpuset` starts without a processor and takes no process until it has one. */
function inheritCpus(folder: string): void {
  const parts = folder.split('/manta-lab/')[1]!.split('/');
  const top = folder.slice(0, -parts.join('/').length - '/manta-lab/'.length);
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    try {
      const value = readFileSync(join(top, file), 'utf8').trim();
      for (let depth = 0; depth <= parts.length; depth++)
        writeFileSync(join(top, 'manta-lab', ...parts.slice(0, depth), file), value);
    } catch {
      return;
    }
  }
}

/** Stops every process of the host where it stands, or lets them go on; returns when that is so. */
export async function setFrozen(groups: HostGroups, frozen: boolean): Promise<void> {
  const old = readOr(join(groups.freezer, 'freezer.state'));
  if (old === undefined) {
    writeFileSync(join(groups.freezer, 'cgroup.freeze'), frozen ? '1' : '0');
    const wanted = `frozen ${frozen ? 1 : 0}`;
    while (!(readOr(join(groups.freezer, 'cgroup.events')) ?? wanted).includes(wanted)) await sleep(5);
    return;
  }
  const wanted = frozen ? 'FROZEN' : 'THAWED';
  writeFileSync(join(groups.freezer, 'freezer.state'), wanted);
  while ((readOr(join(groups.freezer, 'freezer.state')) ?? wanted).trim() !== wanted) await sleep(5);
}

/** Removes the groups of a lab whose processes were ended; waits for the last of them to be gone. */
export async function removeGroups(lab: string): Promise<void> {
  for (const { folder } of hierarchies()) {
    const top = join(folder, 'manta-lab', lab);
    for (let attempt = 0; attempt < 200 && !removeTree(top); attempt++) await sleep(10);
  }
}

/** Lets everything of a lab run, so that it can be ended. */
export function thawAll(lab: string): void {
  const freezer = freezerOf(hierarchies());
  if (freezer === undefined) return;
  const top = join(freezer.folder, 'manta-lab', lab);
  for (const host of listFolders(top))
    for (const [file, value] of [
      ['freezer.state', 'THAWED'],
      ['cgroup.freeze', '0'],
    ] as const)
      if (readOr(join(top, host, file)) !== undefined) writeFileSync(join(top, host, file), value);
}

function removeTree(folder: string): boolean {
  const inner = listFolders(folder).map((name) => removeTree(join(folder, name)));
  if (inner.includes(false)) return false;
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

function listFolders(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

function readOr(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
