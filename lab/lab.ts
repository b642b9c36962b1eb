// needs: hosts

/**
 * Machines to try a launcher on: each with its own network, processes, disk and sshd, all on this one machine.
 * What a lab promises is in behaviour.md.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rayVersion } from '../scripts/ray-venv.ts';
import { address6Of, addressOf, type BootOrder, gatewayOf, networkOf, startKeeper } from './boot.ts';
import { hostGroups, removeGroups } from './cgroups.ts';
import { containerFiles } from './containers.ts';
import { LabHost } from './host.ts';
import { type Registry, startRegistries } from './images/registry.ts';
import { eachHost, type HostOptions, type LabOptions } from './options.ts';
import { labProblem } from './problem.ts';
import { identify, type ProcessIdentity } from './processes.ts';
import {
  type AddedHost,
  claimNumber,
  folderOf,
  groupOf,
  type LabRecord,
  pidNamespace,
  readKeeper,
  removeLab,
  sweep,
  writeRecord,
} from './record.ts';
import {
  boto3Software,
  googleClientSoftware,
  kubeSoftware,
  nodeSoftware,
  raySoftware,
  type Software,
} from './software.ts';

export type { Slowness } from './cable.ts';
export type { ExecOptions, ExecResult } from './host.ts';
export type { LabProcess } from './processes.ts';
export { type HostOptions, LabHost, type LabOptions, labProblem };

export interface Lab {
  readonly id: number;
  /** `h0`: where `manta` is run from. It has no sshd; the private key, Node 24 and this repository are on it. */
  readonly laptop: LabHost;
  /** `h1` and on; those that were added are at the end. */
  readonly hosts: readonly LabHost[];
  /** Path on this machine of the private key that every user of every host accepts. */
  readonly key: string;
  /** Where hosts pull images from; there when a host has an engine. */
  readonly registry?: Registry;
  /** The switch as hosts reach it. */
  readonly gateway: string;
  /** First process of the lab, in whose network the switch is. */
  readonly keeper: ProcessIdentity;
  /**
   * One more host, which is not switched on yet. Those that are up do not learn its name. `poweredOff` is called when it
   * switches itself off.
   */
  addHost(has: HostOptions, poweredOff?: () => void): Promise<LabHost>;
  /** Takes away a host that was added, with its disk. Its address is given out again, as late as can be. */
  removeHost(host: LabHost): Promise<void>;
  /** Ends everything of the lab. Safe to call twice. */
  close(): Promise<void>;
}

const repository = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const mostHosts = 230;

/** Makes a lab and boots all its hosts. Throws with the reason where `labProblem` has one. */
export async function openLab(options: LabOptions): Promise<Lab> {
  const machines = eachHost(options);
  const problem = labProblem(machines.some(({ podman }) => podman) ? 'podman' : undefined);
  if (problem !== undefined) throw new Error(problem);
  const count = machines.length - 1;
  if (count > mostHosts) throw new Error(`a lab has room for ${mostHosts} hosts, not ${count}`);
  await sweep();
  const owner = identify(process.pid)!;
  const token = randomBytes(4).toString('hex');
  let record: LabRecord = claimNumber((id) => ({ id, token, pids: pidNamespace(), owner, options, hosts: [] }));
  try {
    record = await startBase(record);
    const lab = await assemble(record);
    await Promise.all([lab.laptop, ...lab.hosts].map((host) => host.boot()));
    return options.kept ? await release(record, lab) : lab;
  } catch (error) {
    await removeLab(record);
    throw error;
  }
}

/** From now on it belongs to nobody. */
function release({ owner: _, ...record }: LabRecord, lab: Lab): Promise<Lab> {
  const released = { ...record, hosts: [lab.laptop, ...lab.hosts].map((host) => host.record) };
  writeRecord(released);
  return assemble(released);
}

/** A lab that another process made, by its record. */
export function attachLab(record: LabRecord): Promise<Lab> {
  return assemble(record);
}

/** What hosts stand on: the key, the switch, the registries. */
async function startBase(claimed: LabRecord): Promise<LabRecord> {
  const folder = folderOf(claimed.id);
  const network = networkOf(claimed.id);
  const made = spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'lab', '-f', join(folder, 'key')]);
  if (made.status !== 0) throw new Error(`ssh-keygen failed: ${made.stderr.toString()}`);
  await startKeeper(network, !claimed.options.kept, folder);
  const keeper = readKeeper(folder)!;
  const engines = eachHost(claimed.options).some(({ podman }) => podman);
  const registry = engines ? await startRegistries(keeper, gatewayOf(network), folder) : undefined;
  const record = { ...claimed, keeper, ...(registry && { registry }) };
  writeRecord(record);
  return record;
}

async function assemble(given: LabRecord): Promise<Lab> {
  let record = given;
  const folder = folderOf(record.id);
  const initial = eachHost(record.options);
  const software = await layOutSoftware(folder, initial);
  const all = initial.map((has, number) => makeHost(record, number, has, software(has), save));
  const added = new Map<number, { readonly host: LabHost; readonly has: HostOptions }>();
  let next = all.length;
  /** Longest free first. */
  const free: number[] = [];
  for (const { number, has } of record.added ?? []) await add(number, has);
  function save(): void {
    const hosts = [...all, ...[...added.values()].map(({ host }) => host)].map((host) => host.record);
    const more = [...added].map(([number, { has }]): AddedHost => ({ number, has }));
    record = { ...record, hosts, ...(more.length > 0 || record.added ? { added: more } : {}) };
    writeRecord(record);
  }
  async function add(number: number, has: HostOptions, poweredOff?: () => void): Promise<LabHost> {
    next = Math.max(next, number + 1);
    const own = await layOutSoftware(folder, [has]);
    const host = makeHost(record, number, has, own(has), save, poweredOff);
    added.set(number, { host, has });
    return host;
  }
  const [laptop, ...hosts] = all as [LabHost, ...LabHost[]];
  const { id, registry } = record;
  return {
    id,
    laptop,
    get hosts() {
      return [...hosts, ...[...added.values()].map(({ host }) => host)];
    },
    key: join(folder, 'key'),
    gateway: gatewayOf(networkOf(id)),
    keeper: record.keeper!,
    ...(registry && { registry }),
    addHost: async (has, poweredOff) => {
      const number = next <= mostHosts ? next++ : free.shift();
      if (number === undefined) throw new Error(`the lab is full: it has room for ${mostHosts} hosts`);
      const host = await add(number, has, poweredOff);
      save();
      return host;
    },
    removeHost: async (host) => {
      const found = [...added].find(([, each]) => each.host === host);
      if (found === undefined) return;
      const [number] = found;
      added.delete(number);
      await host.discard();
      await removeGroups(`${groupOf(record)}/${host.name}`);
      rmSync(join(folder, host.name), { recursive: true, force: true });
      free.push(number);
      save();
    },
    close: () => removeLab(record),
  };
}

function makeHost(
  lab: LabRecord,
  number: number,
  has: HostOptions,
  software: readonly Software[],
  changed: () => void,
  poweredOff?: () => void,
): LabHost {
  const name = `h${number}`;
  const laptop = number === 0;
  const network = networkOf(lab.id);
  const groups = hostGroups(groupOf(lab), name, has.podman ?? false);
  const folder = join(folderOf(lab.id), name);
  mkdirSync(folder, { recursive: true });
  const keyFile = join(has.keys === undefined ? folderOf(lab.id) : folder, 'key');
  if (has.keys !== undefined) writeFileSync(`${keyFile}.pub`, has.keys.map((key) => `${key}\n`).join(''));
  const order: BootOrder = {
    name,
    kind: laptop ? 'laptop' : 'host',
    folder,
    keyFile,
    number,
    network,
    names: hostNames(lab, number),
    disk: has.disk ?? (has.podman ? '4g' : '2g'),
    cut: false,
    cron: has.cron ?? false,
    sshd: !laptop && (has.sshd ?? true),
    first: has.first ?? '',
    each: has.each ?? '',
    path: software.flatMap(({ path }) => path),
    python: software.flatMap(({ python }) => python ?? []),
    hide: has.podman ? ['/usr/local/bin/docker'] : ['/usr/bin/podman', '/usr/bin/docker', '/usr/local/bin/docker'],
    binds: [...software.flatMap(({ binds }) => binds), ...(laptop ? [{ source: repository, target: repository }] : [])],
    joins: groups.join,
    ...(has.podman && { containers: { ...containerFiles(gatewayOf(network)), controllers: groups.controllers } }),
  };
  const at = { name, address: addressOf(network, number), address6: address6Of(network, number) };
  const context = {
    keeper: lab.keeper!,
    user: lab.options.user ?? 'root',
    groups,
    order,
    changed,
    ...(poweredOff && { poweredOff }),
  };
  return new LabHost(
    at,
    context,
    lab.hosts.find((host) => host.name === name),
  );
}

/** Lays each kind of software out once; the answer says what a host with these options gets. */
async function layOutSoftware(
  folder: string,
  each: readonly HostOptions[],
): Promise<(has: HostOptions) => readonly Software[]> {
  const versionOf = ({ ray }: HostOptions): string | undefined => (ray === true ? rayVersion : ray || undefined);
  const rays = new Map<string, Software>();
  for (const version of new Set(each.map(versionOf)))
    if (version !== undefined) rays.set(version, await raySoftware(version, join(folder, `ray-${version}`)));
  const boto3 = each.some((has) => has.boto3) ? await boto3Software() : undefined;
  const googleClient = each.some((has) => has.googleClient) ? await googleClientSoftware() : undefined;
  const kube = each.some((has) => has.kube) ? await kubeSoftware() : undefined;
  return (has) => {
    const ray = rays.get(versionOf(has) ?? '');
    return [
      ...(ray ? [ray] : []),
      ...((has.node ?? ray !== undefined) ? [nodeSoftware] : []),
      ...(has.boto3 && boto3 ? [boto3] : []),
      ...(has.googleClient && googleClient ? [googleClient] : []),
      ...(has.kube && kube ? [kube] : []),
    ];
  };
}

/** Plain names lead to IPv4, so that what a test sees does not depend on what a resolver prefers. */
function hostNames({ id, options, added = [] }: LabRecord, own: number): string {
  const network = networkOf(id);
  const numbers = [...eachHost(options).keys(), ...added.map(({ number }) => number), own];
  const lines = [...new Set(numbers)].map((host) => [
    `${addressOf(network, host)} h${host}`,
    `${address6Of(network, host)} h${host}.v6`,
  ]);
  return ['127.0.0.1 localhost', '::1 localhost ip6-localhost', ...lines.flat()].join('\n');
}
