import { makeFolder } from '../../base/files/json-file.ts';
import type { Host } from '../../base/host.ts';
import { endMaster, sshHost } from '../../base/ssh/host.ts';
import type { SshTarget } from '../../base/ssh/target.ts';
import { wallClock } from '../../base/time/wall-clock.ts';
import { type CommandPlace, placeOf } from '../../bringup/node/node.ts';
import { targetOf } from '../../bringup/node/reach.ts';
import type { ClusterSpec } from '../../core/spec/cluster.ts';
import type { HostPool, OwnHost } from '../../core/spec/local.ts';
import { type ClusterRecord, readCluster, readLaptopRecord } from '../../state/cluster-record.ts';
import { knownHosts } from '../../state/known-hosts.ts';
import { type GivenFile, readConfig, specOf } from '../../state/load-spec.ts';
import { reachedFrom, type StateFolder, stateFolder } from '../../state/state-folder.ts';
import { launcherErrors } from '../errors.ts';

export interface RemoteRequest {
  /** The state folders' home on this machine. */
  readonly home: string;
  /** Wins over the file's own name; without a file it names a cluster that is known here. */
  readonly name?: string;
  readonly file?: GivenFile;
  readonly overrides?: NonNullable<ClusterRecord['overrides']>;
}

/** A cluster of other machines as commands see it: where its hosts are and how they are reached. Nothing is connected yet. */
export interface RemoteCluster {
  readonly name: string;
  readonly spec: ClusterSpec;
  /** What this command was given, or `up` before it. */
  readonly file: GivenFile;
  readonly folder: StateFolder;
  readonly headAddress: string;
  /** As workers reach it. */
  readonly headInside: string;
  readonly head: Host;
  /** Where commands run on the head: in its container where it has one. */
  readonly place: CommandPlace;
  /** Any host of the cluster, as this machine reaches it; `through` the head where it does not. */
  hostOf(address: string, through?: 'head'): Host;
  /** Hosts of each node type. */
  readonly pools: readonly HostPool[];
  /** Hosts that the file names as workers. */
  readonly workerAddresses: readonly string[];
  /** Ends the connections themselves, which are otherwise kept for the next command. */
  disconnect(): Promise<void>;
  close(): Promise<void>;
}

/** Whether the cluster that is meant stands on other machines: by its file, or by what is known of it here. */
export function isOfOtherMachines({ home, name, file }: RemoteRequest): boolean {
  if (file !== undefined) return specOf(file).provider.kind !== 'this-machine';
  return name !== undefined && readLaptopRecord(stateFolder(home, name)) !== undefined;
}

export function openRemote(request: RemoteRequest): RemoteCluster {
  const file = request.file ?? knownFile(request);
  const name = request.name ?? file.spec.name;
  const spec = { ...specOf(file, request.overrides), name };
  const folder = stateFolder(request.home, name);
  const { head, pools } = knownHosts(spec, folder);
  if (head === undefined)
    throw spec.provider.kind === 'cloud'
      ? launcherErrors.NotUpYet({ name })
      : launcherErrors.NoHeadAddress({ file: file.config.path });
  const hosts = new Map([head, ...pools.flatMap((pool) => pool.hosts)].map((each) => [each.name, each]));
  makeFolder(folder.path);
  const from = reachedFrom(folder);
  const headTarget = targetOf({ ...head, address: head.outside ?? head.address }, from);
  const open = new Map<string, Host>();
  const targets: SshTarget[] = [];
  const opened = (id: string, targetOfHost: () => SshTarget): Host => {
    const known = open.get(id);
    if (known !== undefined) return known;
    const target = targetOfHost();
    const host = sshHost(target, { clock: wallClock });
    targets.push(target);
    open.set(id, host);
    return host;
  };
  const { container } = spec.head;
  return {
    name,
    spec,
    file,
    folder,
    headAddress: head.name,
    headInside: head.inside ?? head.name,
    head: opened('head', () => headTarget),
    place: placeOf(container),
    hostOf: (address, through) => {
      if (address === head.name || address === head.inside) return opened('head', () => headTarget);
      const { instance: _, ...likeHead } = head;
      const host = hosts.get(address) ?? { ...likeHead, name: address, address };
      return opened(`${through ?? ''} ${address}`, () =>
        targetOf(host, { ...from, ...(through && { jump: headTarget }) }),
      );
    },
    pools,
    workerAddresses: pools.flatMap((pool) => pool.hosts.map((each) => each.name)),
    disconnect: async () => {
      await Promise.all(targets.map((target) => endMaster(target)));
    },
    close: async () => {
      await Promise.all([...open.values()].map((host) => host.close()));
    },
  };
}

/** The head that the cluster of this name was started on, and the file's, where they are two: by address or by user. */
export function startedElsewhere(
  cluster: RemoteCluster,
): { readonly before: string; readonly now: string } | undefined {
  const { config, remote } = readLaptopRecord(cluster.folder) ?? {};
  if (config === undefined || remote?.address === undefined) return undefined;
  const { head: now } = knownHosts(cluster.spec, cluster.folder);
  const before = headOf(config, cluster);
  if (now === undefined || before === undefined) return undefined;
  const sameUser = now.user === undefined || before.user === undefined || now.user === before.user;
  if (now.name === before.name && sameUser) return undefined;
  const shown = ({ user, name }: OwnHost): string => (user === undefined || sameUser ? name : `${user}@${name}`);
  return { before: shown(before), now: shown(now) };
}

function headOf(config: GivenFile['config'], { folder, file }: RemoteCluster): OwnHost | undefined {
  try {
    return knownHosts(specOf(readConfig(config, file)), folder).head;
  } catch {
    // Written by another Manta, perhaps: the file that is given is all there is to go by.
    return undefined;
  }
}

/** The file that a cluster was started with from here. */
function knownFile({ home, name = 'default' }: RemoteRequest): GivenFile {
  const config = readCluster(stateFolder(home, name))?.config;
  if (config === undefined) throw launcherErrors.UnknownCluster({ name });
  return readConfig(config);
}
