import { existsSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { syncFolder } from '../base/files/durable.ts';
import { namesIn } from '../base/files/json-file.ts';
import type { ReachedFrom } from '../bringup/node/reach.ts';
import { engineNames } from '../engines/embedded/names.ts';
import { stateErrors } from './errors.ts';

/** Every file and folder that Manta keeps in a state folder. `docs/state-folder.md` says what each is. */
export const stateNames = {
  cluster: 'cluster.json',
  serving: 'mantad.json',
  /** Held by the supervisor, and by mantad: at most one of each. */
  supervisorLock: 'supervisor.lock',
  mantadLock: 'mantad.lock',
  /** Held by a command that changes the cluster. */
  commandLock: 'command.lock',
  journal: 'journal.db',
  backups: 'backups',
  tokens: 'tokens',
  packages: 'packages',
  logs: 'logs',
  instances: 'instances',
  ...engineNames,
  /** Packages of jobs that are too large for Ray. */
  archives: 'archives',
  daemonLog: 'mantad.log',
  /** Of a cluster of other machines: pinned host keys, one file a host. */
  hosts: 'hosts',
  /** Where mantad itself listens, beside its port. */
  mantadSocket: 'mantad.sock',
  /** Who holds ports of this machine that lead to the cluster, and which; one file each. */
  tunnels: 'tunnels',
  /** On the laptop: by which this machine knows its own lock on the head. */
  machine: 'machine.json',
  /** Private key of the cluster, on its head. */
  key: 'key',
  /** On the head of a cloud's cluster: what mantad asks the cloud with. */
  credential: 'credential',
  /** On the head: hosts that have no key of the cluster yet, while `up` puts it there. */
  hostsWithoutKey: 'letting-in',
  /** On the head: which files the workers have. */
  workerFiles: 'files.json',
  /** On the head of a cloud's cluster: until when lists may not show all that was launched. */
  unseen: 'unseen.json',
  /** How long nothing has run, and until when the cluster is kept. */
  turnOff: 'turn-off.json',
  /** Of a cluster of real Ray on this machine: its ports and Ray's folder, and Ray's own token. */
  ray: 'ray.json',
  rayToken: 'ray-token',
  /** A mantad of another version takes over, what the one before it wrote, and how the last such try failed. */
  upgrade: 'upgrade.json',
  beforeUpgrade: 'before-upgrade',
  failedUpgrade: 'upgrade-failed.json',
} as const;

/** Where everything of one cluster is kept. */
export interface StateFolder {
  readonly path: string;
  readonly name: string;
  /** Paths by the names above. */
  readonly files: { readonly [Key in keyof typeof stateNames]: string };
}

/** Home of the state folders of heads, below the home of the user there; commands given there have their own. */
export const headHome = '.manta/head';

export function stateHome(env: Readonly<Record<string, string | undefined>>): string {
  return env['MANTA_HOME'] || join(homedir(), '.manta');
}

const clusterName = /^[a-z0-9][a-z0-9._-]{0,63}$/i;

export function stateFolder(home: string, name: string): StateFolder {
  if (!clusterName.test(name)) throw stateErrors.ClusterName({ name });
  const path = join(home, 'clusters', name);
  const files = Object.entries(stateNames).map(([key, file]) => [key, join(path, file)]);
  return { path, name, files: Object.fromEntries(files) as StateFolder['files'] };
}

/** The folder of a cluster on its head, by paths below the home of the user there. */
export const folderOnHead = (cluster: string): StateFolder => stateFolder(headHome, cluster);

/** Folders that are there from the beginning. */
export const firstFolders = ({ files }: StateFolder): readonly string[] => [
  files.backups,
  files.tokens,
  files.packages,
  files.logs,
  files.instances,
];

/** What else Manta makes of some names. No more than that: a folder of files that look alike is somebody's. */
const withEndings: { readonly [Key in keyof typeof stateNames]?: RegExp } = {
  journal: /^(?:-wal|-shm|-journal|\.damaged-\d+(?:-wal|-shm)?)$/,
  daemonLog: /^\.\d+$/,
  key: /^\.pub$/,
  supervisorLock: /^\.[\w.-]+$/,
  mantadLock: /^\.[\w.-]+$/,
  commandLock: /^\.[\w.-]+$/,
};

/** Drafts of files that are written whole, and sockets of SSH connections. */
const passing = /^(?:\.\d+-\d+\.new|[0-9a-f]{16}(?:\..*)?)$/;

/** Whether Manta keeps something of this name in a state folder. */
export function isOwnName(name: string): boolean {
  const whole = name.replace(/^\.(?=.*\.new$)/, '').replace(/\.new$/, '');
  return (
    Object.values<string>(stateNames).includes(whole) ||
    Object.entries(withEndings).some(([key, ending]) => {
      const stem = stateNames[key as keyof typeof withEndings];
      return name.startsWith(stem) && ending.test(name.slice(stem.length));
    }) ||
    passing.test(name)
  );
}

/** A folder without a record of ours that holds something else is somebody's: `down` would delete it. */
export function refuseForeign(folder: StateFolder): void {
  if (existsSync(folder.files.cluster)) return;
  const foreign = namesIn(folder.path).find((name) => !isOwnName(name));
  if (foreign !== undefined)
    throw stateErrors.FolderForeign({ folder: folder.path, detail: `it contains '${foreign}' but no cluster.json` });
}

/**
 * Deletes the folder and everything in it. It loses its name first, also on disk: what a crash leaves of it is not half a cluster but
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

/** Names of all clusters that are known here. A folder without a record is what a command left that only looked. */
export function clusterNames(home: string): string[] {
  const clusters = join(home, 'clusters');
  return namesIn(clusters).filter(
    (name) => clusterName.test(name) && existsSync(join(clusters, name, stateNames.cluster)),
  );
}

/** How this machine reaches hosts of the cluster: by keys pinned, and sockets kept, in its folder. */
export const reachedFrom = ({ name, path, files }: StateFolder): ReachedFrom => ({
  cluster: name,
  pins: files.hosts,
  control: path,
});
