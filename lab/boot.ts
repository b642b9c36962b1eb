import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readShell, shellProgram } from '../src/base/shell/shell-file.ts';
import { childrenOf, identify, type ProcessIdentity } from './processes.ts';
import { keeperFile } from './record.ts';

const init = readShell(new URL('./init.sh', import.meta.url));
const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Everything that one boot of a host depends on. */
export interface BootOrder {
  readonly name: string;
  readonly kind: 'laptop' | 'host';
  /** Of the host: log, disk. */
  readonly folder: string;
  readonly keyFile: string;
  readonly number: number;
  readonly network: Network;
  /** Lines of `/etc/hosts`. */
  readonly names: string;
  readonly disk: string;
  readonly cut: boolean;
  readonly cron: boolean;
  readonly sshd: boolean;
  /** What its first process does before anything else, once. */
  readonly first: string;
  /** What it does then, at every boot. */
  readonly each: string;
  /** Put before the PATH of login shells. */
  readonly path: readonly string[];
  /** Folders of packages that every Python finds. */
  readonly python: readonly string[];
  /** What the host does not have, though this machine does. */
  readonly hide: readonly string[];
  readonly binds: readonly Bind[];
  readonly joins: readonly string[];
  readonly containers?: ContainerFiles & { readonly controllers: readonly string[] };
}

export interface Network {
  readonly prefix: string;
  readonly prefix6: string;
}

/** A file or folder of this machine that a host sees, read-only, at another place. */
export interface Bind {
  readonly source: string;
  readonly target: string;
  readonly writable?: boolean;
}

/** Text of the files in `/etc/containers`. */
export interface ContainerFiles {
  readonly containers: string;
  readonly storage: string;
  readonly registries: string;
}

export const networkOf = (lab: number): Network => ({
  prefix: `10.77.${lab}`,
  prefix6: lab === 0 ? 'fd77' : `fd77:0:0:${lab.toString(16)}`,
});
export const gatewayOf = ({ prefix }: Network): string => `${prefix}.254`;
export const addressOf = (network: Network, host: number): string => `${network.prefix}.${10 + host}`;
export const address6Of = (network: Network, host: number): string => `${network.prefix6}::${(10 + host).toString(16)}`;
export const portOf = (host: number): string => `port${host}`;

/** Starts a lab's first process, which writes down who it is. A `tied` one ends with this process. */
export async function startKeeper(network: Network, tied: boolean, folder: string): Promise<void> {
  const log = join(folder, 'keeper.log');
  const logFile = openSync(log, 'a');
  const child = spawn(
    'unshare',
    [
      ...['--mount', '--net', '--pid', '--fork', '/bin/sh', script('keeper.sh')],
      ...[network.prefix, network.prefix6, tied ? 'tied' : 'kept', keeperFile(folder)],
    ],
    { stdio: [tied ? 'pipe' : 'ignore', logFile, logFile, 'pipe'], detached: true, env: systemEnvironment },
  );
  closeSync(logFile);
  await waitReady(child, 'the lab', log);
  release(child);
}

/**
 * Boots a host in the namespaces of its lab; returns its first process when it accepts connections. `poweredOff` is
 * called when the host switches itself off, and not when it is killed.
 */
export async function bootHost(
  keeper: ProcessIdentity,
  order: BootOrder,
  poweredOff: () => void = () => {},
): Promise<ProcessIdentity> {
  const log = join(order.folder, 'boot.log');
  const logFile = openSync(log, 'a');
  const child = spawn(
    'nsenter',
    ['--target', String(keeper.pid), '--mount', '--net', '--pid', '--', '/bin/sh', script('boot.sh'), 'lab'],
    {
      stdio: ['ignore', logFile, logFile, 'pipe'],
      detached: true,
      env: { ...systemEnvironment, ...bootEnvironment(order) },
    },
  );
  closeSync(logFile);
  await waitReady(child, order.name, log);
  const pid = childrenOf(child.pid!).flatMap(childrenOf)[0];
  const identity = pid === undefined ? undefined : identify(pid);
  if (identity === undefined) throw new Error(`${order.name} went down as soon as it was up`);
  child.on('exit', (code) => {
    if (code === 0) poweredOff();
  });
  release(child);
  return identity;
}

export const systemEnvironment = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LANG: 'C.UTF-8',
};

/** What `boot.sh` reads. */
function bootEnvironment(order: BootOrder): Record<string, string> {
  return {
    LAB_NAME: order.name,
    LAB_KIND: order.kind,
    LAB_FOLDER: order.folder,
    LAB_KEY: order.keyFile,
    LAB_DISK: order.disk,
    LAB_HIDE: order.hide.join(' '),
    LAB_HOSTS: order.names,
    LAB_PATH: order.path.join(':'),
    LAB_PYTHON: order.python.join(':'),
    LAB_BINDS: order.binds
      .map(({ source, target, writable }) => `${source}|${target}|${writable ? '' : 'ro'}`)
      .join('\n'),
    LAB_JOIN: order.joins.join(' '),
    LAB_PORT: portOf(order.number),
    LAB_CABLE: order.cut ? 'down' : 'up',
    LAB_MAC: `02:77:00:00:00:${(10 + order.number).toString(16).padStart(2, '0')}`,
    LAB_ADDRESS: addressOf(order.network, order.number),
    LAB_ADDRESS6: address6Of(order.network, order.number),
    LAB_GATEWAY: gatewayOf(order.network),
    LAB_INIT: shellProgram(init, {
      first_boot: order.first,
      every_boot: order.each,
      sshd: order.sshd,
      cron: order.cron,
    }),
    LAB_PODMAN: order.containers === undefined ? '' : 'yes',
    LAB_CGROUPS: order.containers?.controllers.join(' ') ?? '',
    LAB_CONTAINERS_CONF: order.containers?.containers ?? '',
    LAB_STORAGE_CONF: order.containers?.storage ?? '',
    LAB_REGISTRIES_CONF: order.containers?.registries ?? '',
  };
}

/** Resolves with the first output on descriptor 3; throws with what the log says when the process ends before. */
export async function waitReady(child: ChildProcess, name: string, log?: string): Promise<void> {
  const ready = child.stdio[3]!;
  const deadline = setTimeout(() => child.kill('SIGKILL'), 60_000);
  const said = await Promise.race([
    once(ready, 'data').then(() => true),
    once(child, 'exit').then(() => false),
    once(child, 'error').then(() => false),
  ]);
  clearTimeout(deadline);
  ready.destroy();
  if (said) return;
  const why = log === undefined ? '' : readFileSync(log, 'utf8').trim();
  throw new Error(`${name} did not come up: ${why || 'it said nothing'}`);
}

/** This process need not wait for it to end. */
function release(child: ChildProcess): void {
  child.unref();
  (child.stdin as unknown as { unref?(): void } | null)?.unref?.();
}
