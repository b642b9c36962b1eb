/**
 * Machines to try a launcher on: each with its own network, processes, disk and sshd, all on this one machine.
 * What a lab promises is in behaviour.md.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rayVersion } from '../scripts/ray-venv.ts';
import { address6Of, addressOf, type BootOrder, networkOf, startKeeper } from './boot.ts';
import { hostGroups } from './cgroups.ts';
import { LabHost } from './host.ts';
import { labProblem } from './problem.ts';
import { childrenOf, identify, type ProcessIdentity } from './processes.ts';
import { claimNumber, folderOf, groupOf, type LabRecord, removeLab, sweep, writeRecord } from './record.ts';
import { nodeSoftware, raySoftware, type Software } from './software.ts';

export type { ExecOptions, ExecResult } from './host.ts';
export type { LabProcess } from './processes.ts';
export { LabHost, labProblem };

/** What one host has. */
export interface HostOptions {
  /** A container engine, under its own name and as `docker`. @default false */
  readonly podman?: boolean;
  /** Ray, this version or the newest that Manta is held to, and Node 24, on the PATH of login shells. @default false */
  readonly ray?: boolean | string;
  /** Node 24 alone, on the PATH of login shells. @default as `ray` */
  readonly node?: boolean;
  /** A cron daemon. @default false */
  readonly cron?: boolean;
  /** Size of its disk. Memory is used only for what is written. @default '2g' */
  readonly disk?: string;
}

export interface LabOptions extends HostOptions {
  /** How many, all alike, or what each has beyond what is said for all. */
  readonly hosts: number | readonly HostOptions[];
  /** Who `exec` and `spawn` run as. @default 'root' */
  readonly user?: 'root' | 'ada' | 'bob';
  /** Stays when this process ends, until `manta-lab down`. @default false */
  readonly kept?: boolean;
}

export interface Lab {
  readonly id: number;
  /** `h0`: where `manta` is run from. It has no sshd; the private key, Node 24 and this repository are on it. */
  readonly laptop: LabHost;
  /** `h1` and on. */
  readonly hosts: readonly LabHost[];
  /** Path on this machine of the private key that every user of every host accepts. */
  readonly key: string;
  /** Ends everything of the lab. Safe to call twice. */
  close(): Promise<void>;
}

const repository = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const mostHosts = 230;

/** Makes a lab and boots all its hosts. Throws with the reason where `labProblem` has one. */
export async function openLab(options: LabOptions): Promise<Lab> {
  const problem = labProblem();
  if (problem !== undefined) throw new Error(problem);
  await sweep();
  const each = hostOptions(options);
  if (each.length > mostHosts) throw new Error(`a lab has room for ${mostHosts} hosts, not ${each.length}`);
  const owner = options.kept ? undefined : identify(process.pid)!;
  const record = claimNumber((id) => ({
    id,
    token: randomBytes(4).toString('hex'),
    ...(owner && { owner }),
    options,
    hosts: [],
  }));
  try {
    return await build(record, options, each);
  } catch (error) {
    await removeLab(record);
    throw error;
  }
}

async function build(claimed: LabRecord, options: LabOptions, each: readonly HostOptions[]): Promise<Lab> {
  const folder = folderOf(claimed.id);
  const network = networkOf(claimed.id);
  const key = join(folder, 'key');
  const made = spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'lab', '-f', key]);
  if (made.status !== 0) throw new Error(`ssh-keygen failed: ${made.stderr.toString()}`);
  const started = await startKeeper(network, !options.kept, join(folder, 'keeper.log'));
  const keeper = identify(childrenOf(started.pid!)[0]!)!;
  let record: LabRecord = { ...claimed, keeper };
  writeRecord(record);

  const software = await softwareOf(folder, each);
  const all = [{ node: true, ...(options.ray && { ray: options.ray }) }, ...each].map((has, number) =>
    makeHost({ record, number, has, keeper, software: software(has), count: each.length + 1, changed: save }),
  );
  function save(): void {
    record = { ...record, hosts: all.map(({ name, pid1, isCut }) => ({ name, ...(pid1 && { pid1 }), cut: isCut })) };
    writeRecord(record);
  }
  await Promise.all(all.map((host) => host.boot()));
  const [laptop, ...hosts] = all as [LabHost, ...LabHost[]];
  return { id: record.id, laptop, hosts, key, close: () => removeLab(record) };

  function makeHost(at: {
    record: LabRecord;
    number: number;
    has: HostOptions;
    keeper: ProcessIdentity;
    software: readonly Software[];
    count: number;
    changed: () => void;
  }): LabHost {
    const name = `h${at.number}`;
    const groups = hostGroups(groupOf(at.record), name, at.has.podman ?? false);
    mkdirSync(join(folder, name));
    const laptop = at.number === 0;
    const order: BootOrder = {
      name,
      kind: laptop ? 'laptop' : 'host',
      folder: join(folder, name),
      keyFile: key,
      number: at.number,
      network,
      names: hostNames(claimed.id, at.count),
      disk: at.has.disk ?? '2g',
      cut: false,
      cron: at.has.cron ?? false,
      path: at.software.flatMap(({ path }) => path),
      hide: at.has.podman ? ['/usr/local/bin/docker'] : ['/usr/bin/podman', '/usr/bin/docker', '/usr/local/bin/docker'],
      binds: [
        ...at.software.flatMap(({ binds }) => binds),
        ...(laptop ? [{ source: repository, target: repository }] : []),
      ],
      joins: groups.join,
    };
    return new LabHost(
      { name, address: addressOf(network, at.number), address6: address6Of(network, at.number) },
      { keeper: at.keeper, user: options.user ?? 'root', groups, order: () => order, changed: at.changed },
    );
  }
}

function hostOptions({ hosts, podman, ray, node, cron, disk }: LabOptions): readonly HostOptions[] {
  const shared: HostOptions = Object.fromEntries(
    Object.entries({ podman, ray, node, cron, disk }).filter(([, value]) => value !== undefined),
  );
  const own = typeof hosts === 'number' ? Array.from({ length: hosts }, (): HostOptions => ({})) : hosts;
  return own.map((each) => ({ ...shared, ...each }));
}

/** Lays each kind of software out once; the answer says what a host with these options gets. */
async function softwareOf(
  folder: string,
  each: readonly HostOptions[],
): Promise<(has: HostOptions) => readonly Software[]> {
  const versionOf = ({ ray }: HostOptions): string | undefined => (ray === true ? rayVersion : ray || undefined);
  const rays = new Map<string, Software>();
  for (const version of new Set(each.map(versionOf)))
    if (version !== undefined) rays.set(version, await raySoftware(version, join(folder, `ray-${version}`)));
  return (has) => {
    const ray = rays.get(versionOf(has) ?? '');
    return [...(ray ? [ray] : []), ...((has.node ?? ray !== undefined) ? [nodeSoftware] : [])];
  };
}

function hostNames(lab: number, count: number): string {
  const network = networkOf(lab);
  const lines = Array.from({ length: count }, (_, host) => [
    `${addressOf(network, host)} h${host}`,
    `${address6Of(network, host)} h${host}.v6`,
  ]);
  return ['127.0.0.1 localhost', '::1 localhost ip6-localhost', ...lines.flat()].join('\n');
}
