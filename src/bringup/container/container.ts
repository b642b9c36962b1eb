import { randomBytes } from 'node:crypto';
import type { EventSink } from '../../base/events.ts';
import { saysDiskFull } from '../../base/files/disk-full.ts';
import type { Host, HostResult, RunOptions } from '../../base/host.ts';
import { shellQuoted } from '../../base/shell/shell-quote.ts';
import type { ContainerSpec } from '../../core/spec/cluster.ts';
import { bringupErrors } from '../errors.ts';
import { bringupEvents } from '../events.ts';
import type { CommandPlace, NodeOrder } from '../node/node.ts';
import { nodeFolder } from '../node/node.ts';
import { nodeFilesText } from '../node/prepare.ts';
import {
  bashAt,
  commandProgram,
  exportText,
  markPart,
  sessionEnvironment,
  setupEnvironment,
} from '../node/shell-text.ts';
import { endText, type RayEnded, readEnded } from '../ray/end.ts';
import { runStep } from '../steps/step.ts';
import type { EngineFacts } from './container-text.ts';
import {
  containerFingerprint,
  lookText,
  makeText,
  passwordText,
  pullText,
  removeText,
  repairMountsText,
  runCommand,
} from './container-text.ts';
import { engineFailure, lastLine, pullFailure } from './engine-failure.ts';

export interface ContainerOptions {
  readonly signal: AbortSignal;
  readonly events: EventSink;
}

export interface EnsuredContainer {
  readonly place: CommandPlace & { readonly kind: 'container' };
  /** It is a new one: nothing that was set up in an earlier one is in it. */
  readonly made: boolean;
}

const runWithin = 300_000;

/**
 * A running container of this order on the host. One that runs and was made of the same image, options and mounts is
 * taken as it is; one that stands still is started; any other is recreated. Images are pulled only for a new one. Throws
 * `bringupErrors.ContainerNewSession` where only a new connection is missing.
 */
export async function ensureContainer(
  host: Host,
  order: NodeOrder,
  spec: ContainerSpec,
  options: ContainerOptions,
): Promise<EnsuredContainer> {
  const { signal, events } = options;
  const node = host.name;
  const place = { kind: 'container', engine: spec.engine, name: spec.name } as const;
  const before = await look(host, order, spec, options);
  const same = before.fingerprint === containerFingerprint(order, spec);
  if (before.owner !== undefined && !before.owner.startsWith(`${markPart(order.cluster)}/`))
    throw bringupErrors.ContainerNameTaken({ node, engine: spec.engine, name: spec.name, owner: before.owner });

  if (same && before.status === 'running') {
    await repairMounts(host, order, spec, before.home, options);
    return { place, made: false };
  }
  if (before.missing !== undefined) throw bringupErrors.ContainerMountsGone({ node, path: before.missing });
  if (same && before.status !== undefined) {
    const started = await onHost(host, order, `${spec.engine} start ${shellQuoted(spec.name)} >/dev/null`, { signal });
    if (started.code === 0 && (await look(host, order, spec, options)).status === 'running') {
      await repairMounts(host, order, spec, before.home, options);
      return { place, made: false };
    }
  }
  if (spec.pullBeforeRun || !before.image) await pull(host, order, spec, options);
  const facts = spec.pullBeforeRun || !before.image ? await look(host, order, spec, options) : before;
  await make(host, order, spec, facts, before.status !== undefined, signal);
  const why =
    before.status === undefined ? 'new' : same ? 'the old one did not start' : 'image, options or mounts changed';
  events.emit(bringupEvents.containerMade, { node, name: spec.name, image: spec.image, why });
  await repairMounts(host, order, spec, facts.home, options);
  return { place, made: true };
}

interface Seen extends EngineFacts {
  /** Undefined: there is no such container. */
  readonly status?: string;
  /** The mark of the node that it was made for. */
  readonly owner?: string;
  readonly fingerprint?: string;
  readonly image: boolean;
  /** A file mount that is not on the host. */
  readonly missing?: string;
}

async function look(host: Host, order: NodeOrder, spec: ContainerSpec, { signal }: ContainerOptions): Promise<Seen> {
  const result = await onHost(host, order, lookText(order, spec), { signal });
  const at = { node: host.name, engine: spec.engine };
  if (result.code === 127) throw bringupErrors.ContainerEngineMissing(at);
  if (result.code !== 0) {
    const failure = engineFailure(at, result.stderr);
    if (bringupErrors.ContainerEngineDenied.is(failure) && /^group new$/m.test(result.stdout))
      throw bringupErrors.ContainerNewSession(at);
    throw failure ?? bringupErrors.ContainerEngineDown({ ...at, detail: lastLine(result.stderr) });
  }
  const value = (name: string): string | undefined => new RegExp(`^${name} (.*)$`, 'm').exec(result.stdout)?.[1];
  const [status, owner, fingerprint] = value('container')?.split(' ') ?? [];
  const image = value('image');
  const memory = value('memory');
  const gpu = value('gpu');
  const missing = value('missing');
  const known = (text: string | undefined): text is string => text !== undefined && text !== '' && text !== '<no';
  return {
    home: await homeIn(host, order, spec, image, signal),
    image: image !== undefined,
    ...(known(status) && { status }),
    ...(known(owner) && owner !== 'value>' && { owner }),
    ...(known(fingerprint) && fingerprint !== 'value>' && { fingerprint }),
    ...(memory !== undefined && { availableMemory: Number(memory) * 1024 }),
    ...(gpu !== undefined && { gpuOptions: gpu }),
    ...(missing !== undefined && { missing }),
  };
}

/**
 * The home that `~` means in the container: what the options or the image say, or what the image has on its user. Only
 * where a mount asks for it is the image looked into.
 */
async function homeIn(
  host: Host,
  order: NodeOrder,
  spec: ContainerSpec,
  image: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const options = spec.runOptions.join(' ');
  const [head = '', ...variables] = (image ?? '').split('|');
  const home =
    /(?:^|\s)(?:-e|--env)[\s=]+["']?HOME=([^\s"']+)/.exec(options)?.[1] ??
    variables.find((variable) => variable.startsWith('HOME='))?.slice('HOME='.length);
  if (home !== undefined) return home;
  const given = /(?:^|\s)(?:-u|--user)[\s=]+["']?([^\s:"']+)/.exec(options)?.[1];
  const user = given ?? (head.split(' ')[1] ?? '').split(':')[0] ?? '';
  if (user === '' || user === '0' || user === 'root') return '/root';
  if (image === undefined || !order.files.mounts.some(({ remote }) => remote.startsWith('~'))) return `/home/${user}`;
  const { stdout } = await onHost(host, order, passwordText(spec), { signal });
  const row = stdout
    .split('\n')
    .map((line) => line.split(':'))
    .find(([name, , id]) => name === user || id === user);
  return row?.[5] || `/home/${user}`;
}

/** Runs text in the surroundings that the user's own commands have on the host, where the engine's settings stand. */
const onHost = (host: Host, order: NodeOrder, text: string, options: RunOptions): Promise<HostResult> =>
  host.sh(commandProgram(order, { kind: 'host' }, text, setupEnvironment(order)), options);

async function pull(host: Host, order: NodeOrder, spec: ContainerSpec, options: ContainerOptions): Promise<void> {
  const program = commandProgram(order, { kind: 'host' }, pullText(spec), setupEnvironment(order));
  const id = `pull-${randomBytes(6).toString('hex')}`;
  let output = '';
  const { code } = await runStep(
    host,
    { folder: `${nodeFolder(order.cluster)}/steps`, id, program, shell: 'sh' },
    {
      signal: options.signal,
      onOutput: (bytes) => {
        const lines = (output + Buffer.from(bytes).toString()).split('\n');
        output = lines.slice(-20).join('\n');
        for (const line of Buffer.from(bytes).toString().split('\n').filter(Boolean))
          options.events.emit(bringupEvents.output, { node: host.name, line });
      },
    },
  );
  if (code !== 0) throw pullFailure({ node: host.name, engine: spec.engine, image: spec.image }, output);
}

async function make(
  host: Host,
  order: NodeOrder,
  spec: ContainerSpec,
  facts: EngineFacts,
  replaces: boolean,
  signal: AbortSignal,
): Promise<void> {
  const { engine, name, image } = spec;
  const command = runCommand(order, spec, facts);
  const text = makeText(spec, command, replaces);
  const { code, stderr } = await onHost(host, order, text, { signal, within: runWithin });
  if (code === 0) return;
  const at = { node: host.name, engine };
  if (saysDiskFull(stderr)) throw bringupErrors.ContainerNoSpace({ ...at, image });
  const failure = engineFailure(at, stderr);
  if (failure) throw failure;
  const detail = lastLine(stderr);
  if (code === 99 || ((code === 126 || code === 127) && /bash|exec/i.test(stderr)))
    throw bringupErrors.ContainerEnded({ ...at, name, image, detail });
  throw bringupErrors.ContainerRunRefused({ ...at, command, detail });
}

async function repairMounts(
  host: Host,
  order: NodeOrder,
  spec: ContainerSpec,
  home: string,
  { signal, events }: ContainerOptions,
): Promise<void> {
  const text = repairMountsText(order, spec, home);
  if (text === '') return;
  const { stdout } = await onHost(host, order, text, { signal });
  for (const [, path] of stdout.matchAll(/^unreadable (.*)$/gm))
    events.emit(bringupEvents.containerUnreadable, { node: host.name, name: spec.name, path: path as string });
}

/** Writes the token and `env.sh` for this user alone to where commands look for them: on the host or in the container. */
export async function placeToken(
  host: Host,
  order: NodeOrder,
  place: CommandPlace,
  signal: AbortSignal,
): Promise<void> {
  const environment = `unset RAY_AUTH_TOKEN\n${exportText(sessionEnvironment(order))}`;
  const text = nodeFilesText(order, nodeFolder(order.cluster), environment);
  const { code, stderr } = await host.sh(bashAt(place, text), { signal });
  if (code !== 0) throw bringupErrors.RayFiles({ node: host.name, detail: lastLine(stderr) });
}

export interface ContainerEnded extends RayEnded {
  /** `foreign`: it is another cluster's and was left alone. */
  readonly container: 'removed' | 'absent' | 'foreign' | 'left';
  /** What the engine said of one that may be left. */
  readonly detail?: string;
}

/**
 * Ends Ray in a container and removes the container with all else in it, in one round trip. A raylet signs off first, so
 * that the rest of the cluster knows at once. Removing what is gone is not an error. `removed` and `absent` are what the engine has
 * said; one that does not answer has removed nothing.
 */
export async function removeContainer(
  host: Host,
  what: {
    readonly cluster: string;
    readonly instance?: string;
    readonly place: CommandPlace & { readonly kind: 'container' };
  },
  options: RunOptions,
): Promise<ContainerEnded> {
  const text = removeText(what.place, `${markPart(what.cluster)}/`, endText(what));
  const program = commandProgram({ loginShells: true }, { kind: 'host' }, text, {});
  const refusal = (said: string): string | undefined => /^refused ([^]*)$/m.exec(said)?.[1];
  let { stdout } = await host.sh(program, options);
  if (/permission denied/i.test(refusal(stdout) ?? '')) {
    // The group of the engine's users may be younger than the connection.
    await host.renew();
    ({ stdout } = await host.sh(program, options));
  }
  const refused = refusal(stdout);
  if (refused !== undefined) return { ...readEnded(stdout), container: 'left', detail: lastLine(refused) };
  const container = /^container (removed|absent|foreign|left)$/m.exec(stdout)?.[1] as
    | ContainerEnded['container']
    | undefined;
  return { ...readEnded(stdout), container: container ?? 'left' };
}
