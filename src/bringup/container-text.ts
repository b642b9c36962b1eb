/** The command lines of container engines. Text of the user stays as written; the shell on the host expands it. */
import { createHash } from 'node:crypto';
import { shellQuoted } from '../base/shell-quote.ts';
import { withoutTrailing } from '../base/trailing.ts';
import type { ContainerSpec } from '../core/spec/cluster.ts';
import type { NodeOrder } from './node.ts';
import { markWord } from './shell-text.ts';
import { stagingOf, usualStaging } from './staging.ts';

/** Labels that tell later runs whose a container is and what it was made of. */
export const nodeLabel = 'manta.node';
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
 * Sh text that prints what is known of the engine, the container and the image, one fact a line. An engine that is not
 * there, or not for this user, ends it with its complaint on the error stream.
 */
export function lookText(spec: ContainerSpec): string {
  const { engine } = spec;
  const name = shellQuoted(spec.name);
  const image = shellQuoted(spec.image);
  const format = `{{.State.Status}} {{index .Config.Labels "${nodeLabel}"}} {{index .Config.Labels "${fingerprintLabel}"}}`;
  return `command -v ${engine} >/dev/null || exit 127
manta_said=$(${engine} container inspect -f ${shellQuoted(`container ${format}`)} ${name} 2>&1) || case $manta_said in
  *[Nn]'o such container'* | *'no container with name'*) manta_said= ;;
  *) printf '%s\\n' "$manta_said" >&2
     # The group may be new: then it counts from the next connection on.
     case " $(id -nG) " in *" docker "*) ;; *) case ",$(getent group docker | cut -d: -f4)," in *",$(id -un),"*) echo 'group new' ;; esac ;; esac
     exit 1 ;;
esac
printf '%s\\n' "$manta_said"
${engine} image inspect -f 'image {{.Id}} {{.Config.User}}|{{range .Config.Env}}{{.}}|{{end}}' ${image} 2>/dev/null
sed -n 's/^MemAvailable: *\\([0-9]*\\) kB/memory \\1/p' /proc/meminfo
${spec.detectGpuRuntime ? gpuText(engine) : ''}exit 0
`;
}

function gpuText(engine: ContainerSpec['engine']): string {
  const driver = 'command -v nvidia-smi >/dev/null && nvidia-smi >/dev/null 2>&1';
  return engine === 'docker'
    ? `if ${driver} && docker info -f '{{.Runtimes}}' 2>/dev/null | grep -q nvidia-container-runtime; then echo 'gpu --runtime=nvidia'; fi\n`
    : `if ${driver} && ls /etc/cdi/nvidia* /var/run/cdi/nvidia* >/dev/null 2>&1; then echo 'gpu --device nvidia.com/gpu=all'; fi\n`;
}

/** Sh text, for the host, that checks that everything to be mounted is there; prints what is not. */
export function missingText(order: NodeOrder): string {
  const sources = bindsOf(order, '').map(({ source }) => shellQuoted(source));
  return sources.length === 0
    ? ''
    : `for f in ${sources.join(' ')}; do [ -e "$f" ] || printf 'missing %s\\n' "$f"; done\n`;
}

/**
 * Sh text, for the host, that makes the mounted files usable in the container: what its user cannot read becomes that
 * user's, and a file that was replaced on the host since it was mounted, which the container does not see, is written
 * anew. Prints `unreadable PATH` for what stays so.
 */
export function mendMountsText(order: NodeOrder, spec: ContainerSpec, home: string): string {
  const binds = bindsOf(order, home);
  if (binds.length === 0) return '';
  const name = shellQuoted(spec.name);
  const targets = binds.map(({ target }) => shellQuoted(target)).join(' ');
  const mend = `for f in "$@"; do [ -r "$f" ] || printf '%s\\n' "$f"; done`;
  const files = binds.filter(({ directory }) => !directory);
  const fresh = files.map(
    ({ source, target }) =>
      `[ "$(stat -Lc %i ${shellQuoted(source)})" = "$(${spec.engine} exec ${name} stat -Lc %i ${shellQuoted(target)})" ] || ${spec.engine} exec -i -u 0 ${name} sh -c 'cat >"$1"' sh ${shellQuoted(target)} <${shellQuoted(source)}\n`,
  );
  return `${fresh.join('')}manta_owner=$(${spec.engine} exec ${name} sh -c 'echo "$(id -u):$(id -g)"')
${spec.engine} exec ${name} sh -c ${shellQuoted(mend)} sh ${targets} | while IFS= read -r f; do
  ${spec.engine} exec -u 0 ${name} chown -R "$manta_owner" "$f" </dev/null >/dev/null 2>&1
done
${spec.engine} exec ${name} sh -c ${shellQuoted(mend)} sh ${targets} | sed 's/^/unreadable /'
`;
}

/** Sh text that prints the users of an image, which is not run for it. */
export function passwordText({ engine, image }: ContainerSpec): string {
  return `manta_copy=$(${engine} create ${shellQuoted(image)} true) || exit 1
${engine} cp "$manta_copy":/etc/passwd - | tar -xO
${engine} rm "$manta_copy" >/dev/null
`;
}
