/** The command lines of container engines. Text of the user stays as written; the shell on the host expands it. */
import { createHash } from 'node:crypto';
import { readShell, shellProgram } from '../../base/shell/shell-file.ts';
import { shellQuoted } from '../../base/shell/shell-quote.ts';
import { withoutTrailing } from '../../base/trailing.ts';
import type { ContainerSpec } from '../../core/spec/cluster.ts';
import { metadataUrl } from '../../providers/google/client/links.ts';
import { googleRegistryOf } from '../../providers/google/registry.ts';
import type { CommandPlace, NodeOrder } from '../node/node.ts';
import { markWord } from '../node/shell-text.ts';
import { stagingOf, usualStaging } from '../sync/staging.ts';

const engines = {
  docker: readShell(new URL('./docker.sh', import.meta.url)),
  podman: readShell(new URL('./podman.sh', import.meta.url)),
};
const look = readShell(new URL('./container-look.sh', import.meta.url));
const repairMounts = readShell(new URL('./repair-mounts.sh', import.meta.url));
const users = readShell(new URL('./container-users.sh', import.meta.url));
const make = readShell(new URL('./container-make.sh', import.meta.url));
const remove = readShell(new URL('./container-remove.sh', import.meta.url));
const pullFromGoogle = readShell(new URL('./pull-from-google.sh', import.meta.url));

/** Labels that tell later runs whose a container is and what it was made of. */
const nodeLabel = 'manta.node';
const fingerprintLabel = 'manta.fingerprint';

/** What the host says of itself that a container depends on. */
export interface EngineFacts {
  /** Home of the user in the image. */
  readonly home: string;
  /** Bytes that Ray's object store may want as shared memory. */
  readonly availableMemory?: number;
  /** Options that give the container this host's GPUs. */
  readonly gpuOptions?: string;
}

interface Bind {
  readonly source: string;
  readonly target: string;
  readonly directory: boolean;
}

/** Where the files of a node are on its host, and where the container has them. */
function bindsOf(order: NodeOrder, home: string): readonly Bind[] {
  return order.files.mounts.map(({ remote, directory }) => ({
    source: withoutTrailing(`${stagingOf(order)}/${remote.replace(/^\/+/, '')}`, '/'),
    target: withoutTrailing(remote.replace(/^~(?=\/|$)/, home), '/') || '/',
    directory,
  }));
}

/** Pulls the image, from a registry of Google with the machine's own account where nobody has logged in. */
export function pullText({ engine, image }: Pick<ContainerSpec, 'engine' | 'image'>, metadata = metadataUrl): string {
  const registry = googleRegistryOf(image);
  if (registry === undefined) return `${engine} pull ${shellQuoted(image)}`;
  return shellProgram(pullFromGoogle, { engine, image, registry, metadata });
}

/** Of everything that makes it another container. What is found out about the host does not. */
export function containerFingerprint(order: NodeOrder, spec: ContainerSpec): string {
  const made = [spec.image, spec.runOptions, spec.detectGpuRuntime, spec.detectShmSize];
  const mounts = (order.files.mountable ?? order.files.mounts).map(({ remote, directory }) => [remote, directory]);
  const elsewhere = stagingOf(order) === usualStaging(order.cluster) ? [] : [stagingOf(order)];
  return createHash('sha256')
    .update(JSON.stringify([made, mounts, ...elsewhere]))
    .digest('hex')
    .slice(0, 24);
}

/** Whether one of the options is given, in a word with its value or in two, alone or among others in one text. */
export const hasOption = (options: readonly string[], ...names: readonly string[]): boolean =>
  names.some((name) => new RegExp(`(?:^|\\s)${name}(?=$|[\\s=])`).test(options.join(' ')));

/** `docker run`, as Ray puts it, with what Ray gets wrong put right: nothing in it contradicts the user's options. */
export function runCommand(order: NodeOrder, spec: ContainerSpec, facts: EngineFacts): string {
  const { engine, runOptions } = spec;
  const given = (...names: readonly string[]): boolean => hasOption(runOptions, ...names);
  const own = Object.entries(order.environment ?? {});
  const words = [
    `${engine} run`,
    // An engine refuses a container that is both removed and restarted when it ends.
    !given('--rm', '--restart') && '--rm',
    `--name ${shellQuoted(spec.name)} -d -i`,
    `--label ${shellQuoted(`${nodeLabel}=${markWord(order.cluster, order.instance)}`)}`,
    `--label ${shellQuoted(`${fingerprintLabel}=${containerFingerprint(order, spec)}`)}`,
    // A source that is missing is an error here; with -v it becomes an empty folder that belongs to root.
    ...bindsOf(order, facts.home).map(
      ({ source, target }) => `--mount ${shellQuoted(`type=bind,source=${source},target=${target}`)}`,
    ),
    '-e LC_ALL=C.UTF-8 -e LANG=C.UTF-8',
    ...own.map(([name, value]) => `-e ${name}=${shellQuoted(value)}`),
    ...runOptions,
    spec.detectShmSize && !given('--shm-size', '--ipc') && shmOption(facts.availableMemory),
    spec.detectGpuRuntime && !given('--runtime', '--gpus', '--device') && facts.gpuOptions,
    !given('--net', '--network') && '--net=host',
    shellQuoted(spec.image),
    'bash',
  ];
  return words.filter((word) => word !== false && word !== undefined && word !== '').join(' ');
}

/** As much as Ray's object store takes by default, and a tenth more. */
function shmOption(available: number | undefined): string | undefined {
  if (available === undefined || available <= 0) return undefined;
  return `--shm-size=${Math.min(Math.floor(available * 0.3 * 1.1), 200e9)}b`;
}

/**
 * Sh text that prints what is known of the engine, the container and the image, one fact a line, and which mounts are
 * missing on the host. An engine that is not there, or not for this user, ends it with its complaint on the error stream.
 */
export function lookText(order: NodeOrder, { engine, name, image, detectGpuRuntime }: ContainerSpec): string {
  const labels = [nodeLabel, fingerprintLabel].map((label) => `{{index .Config.Labels "${label}"}}`);
  const parameters = {
    manta_name: name,
    manta_image: image,
    manta_format: `container {{.State.Status}} ${labels.join(' ')}`,
    manta_gpu: detectGpuRuntime,
  };
  const sources = bindsOf(order, '').map(({ source }) => source);
  return shellProgram(`${engines[engine]}${look}`, parameters, sources);
}

/**
 * Sh text, for the host, that makes the mounted files usable in the container; empty where there are none. Prints
 * `unreadable PATH` for what stays so.
 */
export function repairMountsText(order: NodeOrder, { engine, name }: ContainerSpec, home: string): string {
  const binds = bindsOf(order, home);
  if (binds.length === 0) return '';
  const words = binds.flatMap(({ directory, source, target }) => [directory ? 'folder' : 'file', source, target]);
  return shellProgram(`${engines[engine]}${repairMounts}`, { manta_name: name }, words);
}

/** Sh text that prints the users of an image, which is not run for it. */
export const passwordText = ({ engine, image }: ContainerSpec): string =>
  shellProgram(`${engines[engine]}${users}`, { manta_image: image });

/** Sh text that makes a container by a command, in place of one of its name where there is one. */
export const makeText = ({ engine, name }: ContainerSpec, command: string, replaces: boolean): string =>
  shellProgram(`${engines[engine]}${make}`, { manta_name: name, manta_run: command, manta_replaces: replaces });

/** Sh text that ends Ray in a container by a bash text, and removes the container where a node whose name begins so has it. */
export const removeText = (
  { engine, name }: CommandPlace & { kind: 'container' },
  owner: string,
  end: string,
): string =>
  shellProgram(`${engines[engine]}${remove}`, {
    manta_name: name,
    manta_format: `{{.State.Running}} {{index .Config.Labels "${nodeLabel}"}}`,
    manta_owner: owner,
    manta_end: end,
  });
