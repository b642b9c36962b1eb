import { createHash, randomBytes } from 'node:crypto';
import type { EventSink } from '../base/events.ts';
import type { Host } from '../base/host.ts';
import type { ContainerSpec } from '../core/spec/cluster.ts';
import { runCommands } from './commands.ts';
import { type EnsuredContainer, ensureContainer, placeToken } from './container.ts';
import { containerErrors } from './container-errors.ts';
import { contentsFingerprint } from './contents.ts';
import { tellWaits, throughDrops } from './drops.ts';
import { bringupErrors } from './errors.ts';
import { bringupEvents } from './events.ts';
import type { NodeOrder, Place } from './node.ts';
import { type Prepared, prepareNode } from './prepare.ts';
import { checkRay } from './ray-check.ts';
import { endRay } from './ray-end.ts';
import { rayStepErrors } from './ray-errors.ts';
import { noTokenModeCode, startProgram, versionMismatchCode } from './ray-start.ts';
import { hasTokenMode, type RayVersions, rayVersions, startedVersions } from './ray-versions.ts';
import {
  fingerprints,
  type NodeRecord,
  outdatedParts,
  type Part,
  type Restart,
  startsRay,
  writeRecord,
} from './record.ts';
import { commandProgram, setupEnvironment } from './shell-text.ts';
import { stagingOf, usualStaging } from './staging.ts';
import { syncFiles } from './sync.ts';

export interface BringUpEdges {
  readonly events: EventSink;
  /** How long a host that does not answer yet is waited for. */
  readonly connectWithin: number;
  /** Sync and set-up are left out (`--restart-only`). */
  readonly startOnly?: boolean;
  /** Whoever brings back a Ray that is gone does this, and does it again where it fails. */
  readonly bringsBack?: boolean;
  readonly restart: Restart;
  /** A node that is to have another container than it has is left as it is, with what runs there: it is replaced in its turn. */
  readonly keepContainer?: boolean;
  /** Versions that the head runs; a worker with others is refused before its Ray starts. */
  readonly head?: () => { readonly node: string; readonly versions: RayVersions } | undefined;
  /** The user takes a Ray without authentication. */
  readonly allowNoAuth?: boolean;
  /** Resolves when the head's GCS listens; workers wait for it just before they start. */
  readonly headListens?: (signal: AbortSignal) => Promise<void>;
  /** The files are on the host and its folder is made: others may build on it. */
  readonly onSynced?: () => void;
}

export interface BroughtUp {
  readonly record: NodeRecord;
  readonly done: ReadonlySet<Part>;
  readonly versions?: RayVersions;
  /** It was left as it is, for `keepContainer`. */
  readonly left?: boolean;
}

/** From an SSH port to a node of Ray. Does what the record on the host does not say is done, in order, and no more. */
export function bringUpNode(
  host: Host,
  order: NodeOrder,
  edges: BringUpEdges,
  signal: AbortSignal,
): Promise<BroughtUp> {
  const node = host.name;
  const { events, connectWithin } = edges;
  const connect = (): Promise<void> => {
    events.emit(bringupEvents.step, { node, step: 'connecting' }, { id: `node ${node}`, state: 'running' });
    const onWait = tellWaits((why) => events.emit(bringupEvents.waiting, { node, why }));
    return host.connect({ signal, within: connectWithin, onWait });
  };
  return throughDrops(
    connect,
    () => bringUpOnce(host, order, edges, signal),
    (why) => events.emit(bringupEvents.goingOn, { node, why: why.message }),
    signal,
  );
}

async function bringUpOnce(host: Host, given: NodeOrder, edges: BringUpEdges, signal: AbortSignal): Promise<BroughtUp> {
  const node = host.name;
  const run = { signal, within: 120_000 };
  const tell = (step: string, detail?: string): void =>
    edges.events.emit(
      bringupEvents.step,
      { node, step, ...(detail !== undefined && { detail }) },
      { id: `node ${node}`, state: 'running' },
    );
  const prepared = await prepareNode(host, given, run);
  const order = prepared.staging === undefined ? given : { ...given, staging: prepared.staging };
  if (prepared.powerless) edges.events.emit(bringupEvents.powerless, { node });
  // Where nothing is copied, what was copied last is what is there.
  const contents = edges.startOnly ? prepared.record?.files : undefined;
  const wanted = fingerprints(order, contents ?? placedAt(order, await contentsFingerprint(order.files)));
  const outdated = edges.startOnly ? new Set<Part>(['start']) : outdatedParts(prepared.record, wanted);
  const done = new Set<Part>();
  let record: NodeRecord = { ...prepared.record, instance: order.instance };
  let unwritten = false;
  const write = async (): Promise<void> => {
    await writeRecord(host, order.cluster, record, run);
    unwritten = false;
  };
  /**
   * A part that is cheap to do again is written down with the next that is not: one with nothing in it, and one of
   * commands, which are steps and known to be done as such.
   */
  const complete = async (part: Part, work: readonly unknown[] = []): Promise<void> => {
    done.add(part);
    record = { ...record, [part]: wanted[part] };
    if (part === 'initialization' || part === 'setup' || part === 'start') record = nextGeneration(record);
    unwritten = true;
    if (work.length > 0) await write();
  };
  const nonceOf = (part: 'initialization' | 'setup' | 'start'): string =>
    createHash('sha256')
      .update(`${wanted[part]} ${part === 'start' ? order.instance : ''} ${record.generation ?? 0}`)
      .digest('hex')
      .slice(0, 12);
  const commands = (
    part: 'initialization' | 'setup' | 'start',
    place: Place,
    list = order.commands[part],
    nonce = nonceOf(part),
  ): Promise<void> =>
    runCommands(
      host,
      {
        node,
        cluster: order.cluster,
        part,
        nonce,
        commands: list,
        known: prepared.steps,
        program: (command) =>
          part === 'start'
            ? startProgram(order, place, command, {
                ...(edges.head && { versions: edges.head()?.versions }),
                tokenMode: order.kind === 'head' && order.token !== undefined && !edges.allowNoAuth,
              })
            : commandProgram(order, place, command, setupEnvironment(order, place)),
      },
      edges.events,
      tell,
      signal,
    );

  /** Set-up may have installed another Ray than the one that runs. */
  const isOtherRay = async (): Promise<boolean> => {
    const installed = await rayVersions(host, order, place, signal);
    return installed !== undefined && record.versions !== undefined && installed.ray !== record.versions.ray;
  };
  if (edges.keepContainer && outdated.has('container')) return { record, done, left: true };
  const { container } = order.commands;
  let place: Place = { kind: 'host' };
  const sync = (): Promise<void> =>
    syncFiles(host, order.files, { ...(container && { into: stagingOf(order) }), signal });
  if (outdated.has('files')) {
    if (order.files.mounts.length > 0) tell('copying files', `${order.files.mounts.length} mounts`);
    await sync();
    await complete('files', order.files.mounts);
  }
  edges.onSynced?.();
  if (outdated.has('initialization')) {
    await commands('initialization', { kind: 'host' });
    await complete('initialization');
  }
  let remade = false;
  if (container) {
    tell('container', container.image);
    const ensured = await withContainer(host, order, container, sync, edges.events, signal);
    place = ensured.place;
    remade = ensured.made;
    await placeToken(host, order, place, signal);
    if (remade) {
      // Nothing is set up in it yet, also when this is cut short here.
      const { setup: _, start: started, ...rest } = record;
      record = nextGeneration(edges.bringsBack && started !== undefined ? { ...rest, start: started } : rest);
    }
    if (outdated.has('container') || remade) await complete('container', [container]);
  } else if (outdated.has('container')) {
    record = { ...record, container: wanted.container };
    unwritten = true;
  }
  const isNew = container !== undefined && record.setup === undefined;
  if (remade || isNew || (!edges.startOnly && outdated.has('setup'))) {
    await commands('setup', place);
    await complete('setup');
  }
  const starts =
    startsRay(edges.restart, { rayAlive: prepared.rayAlive, remade, outdated }) ||
    (edges.restart === 'changed' && done.has('setup') && (await isOtherRay()));
  if (!starts) {
    if (unwritten) await write();
    return { record, done };
  }
  // Until it is done again, nobody else is to bring back a Ray that is gone.
  const { start: started, ...unstarted } = record;
  if (!edges.bringsBack) record = unstarted;
  if (started !== undefined && !edges.bringsBack) await write();
  const versions = await start(
    host,
    order,
    place,
    {
      edges,
      prepared,
      tell,
      nonce: edges.startOnly ? newNonce() : startNonce(prepared, nonceOf('start')),
      commands: (list, nonce) => commands('start', place, list, nonce),
    },
    signal,
  );
  record = { ...record, ...(versions && { versions }) };
  await complete('start', order.commands.start);
  if (unwritten) await write();
  edges.events.emit(bringupEvents.started, { node, done: [...done].join(', ') }, { id: `node ${node}`, state: 'done' });
  return { record, done, ...(versions && { versions }) };
}

/**
 * A start of the same Ray for the same instance that is under way or has come to its end, where whoever began it did not
 * live to see that, is followed: to begin anew would end a node on which work may run already. Any other is a new one.
 */
function startNonce({ steps, rayAlive }: Prepared, nonce: string): string {
  const begun = steps.filter(({ id }) => id.startsWith('start-') && id.includes(`-${nonce}-`));
  if (begun.length === 0) return nonce;
  const failed = begun.some(({ code }) => code !== undefined && code !== 0);
  return !failed && (rayAlive || begun.some(({ code }) => code === undefined)) ? nonce : newNonce();
}

/** The same files in another place have to be copied again. */
const placedAt = (order: NodeOrder, contents: string): string =>
  stagingOf(order) === usualStaging(order.cluster) ? contents : `${contents} ${stagingOf(order)}`;

const newNonce = (): string => randomBytes(6).toString('hex');

const nextGeneration = (record: NodeRecord): NodeRecord => ({ ...record, generation: (record.generation ?? 0) + 1 });

/** Two things can be mended on the way: groups that a new login has, and mounts that a reboot has swept away. */
async function withContainer(
  host: Host,
  order: NodeOrder,
  container: ContainerSpec,
  sync: () => Promise<void>,
  events: EventSink,
  signal: AbortSignal,
): Promise<EnsuredContainer> {
  const ensure = (): Promise<EnsuredContainer> => ensureContainer(host, order, container, { events, signal });
  try {
    return await ensure();
  } catch (error) {
    if (containerErrors.NewSession.is(error)) await host.renew();
    else if (containerErrors.MountsGone.is(error)) await sync();
    else throw error;
    return await ensure();
  }
}

interface Starting {
  readonly edges: BringUpEdges;
  readonly prepared: Prepared;
  readonly tell: (step: string, detail?: string) => void;
  readonly nonce: string;
  /** Commands that are done under the same nonce are not run again. */
  readonly commands: (list: readonly string[], nonce: string) => Promise<void>;
}

async function start(
  host: Host,
  order: NodeOrder,
  place: Place,
  { edges, prepared, tell, nonce, commands }: Starting,
  signal: AbortSignal,
): Promise<RayVersions | undefined> {
  if (order.kind === 'head' && order.token !== undefined && !edges.allowNoAuth && prepared.rayAlive) {
    // A start would find it out too, when the Ray that runs has been stopped for it.
    const found = await rayVersions(host, order, place, signal);
    if (found !== undefined && !hasTokenMode(found))
      throw rayStepErrors.NoTokenMode({ node: host.name, version: found.ray });
  }
  const all = order.commands.start;
  const stops = edges.headListens ? leadingStops(all) : 0;
  const began = performance.now();
  const waitForHead = async (): Promise<void> => {
    if (edges.headListens) {
      tell('waiting for the head');
      await edges.headListens(signal);
    }
    tell('starting Ray');
  };
  try {
    // What only ends an earlier Ray needs no head.
    if (stops > 0) await commands(all.slice(0, stops), nonce);
    await waitForHead();
    await commands(all.slice(stops), nonce);
  } catch (error) {
    if (!bringupErrors.CommandFailed.is(error)) throw error;
    const { code, command } = error.data;
    const head = edges.head?.();
    if ((code === versionMismatchCode && head) || code === noTokenModeCode) {
      const versions = await startedVersions(host, order, place, signal);
      if (versions && code === noTokenModeCode)
        throw rayStepErrors.NoTokenMode({ node: host.name, version: versions.ray }, error);
      if (versions && head) throw rayStepErrors.Versions({ head, worker: { node: host.name, versions } }, error);
    }
    // Ray gives up a start on a machine that is busy; nothing of it may be left when it is tried again.
    edges.events.emit(bringupEvents.retrying, { node: host.name, command, code });
    await endRay(host, { cluster: order.cluster, instance: order.instance, place }, { signal });
    await waitForHead();
    await commands(all, newNonce());
  }
  tell('checking Ray');
  const elapsed = performance.now() - began + 1_000;
  return (await checkRay(host, order, place, { events: edges.events, elapsed, signal })).versions;
}

/** How many commands at the beginning do nothing but stop Ray. */
function leadingStops(commands: readonly string[]): number {
  const others = commands.findIndex((command) => !/^\s*ray\s+stop(?:\s+(?:-f|--force))?\s*$/.test(command));
  return others < 0 ? commands.length : others;
}
