import type { EventSink } from '../base/events.ts';
import type { Host } from '../base/host.ts';
import type { ContainerSpec } from '../core/spec/cluster.ts';
import { runCommands } from './commands.ts';
import { type EnsuredContainer, ensureContainer, placeToken, stagingFolder } from './container.ts';
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
import { startProgram, versionMismatchCode } from './ray-start.ts';
import { hasTokenMode, type RayVersions, rayVersions, startedVersions } from './ray-versions.ts';
import { fingerprints, type NodeRecord, outdatedParts, type Part, writeRecord } from './record.ts';
import { commandProgram, setupEnvironment } from './shell-text.ts';
import { syncFiles } from './sync.ts';

export interface BringUpEdges {
  readonly events: EventSink;
  /** How long a host that does not answer yet is waited for. */
  readonly connectWithin: number;
  /** Sync and set-up are left out (`--restart-only`). */
  readonly startOnly?: boolean;
  /** Whether Ray is started where it runs and nothing changed, where something changed, or only where none runs. */
  readonly restart: 'always' | 'changed' | 'never';
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
}

/** From an SSH port to a node of Ray. Does what the record on the host does not say is done, in order, and no more. */
export function bringUpNode(
  host: Host,
  order: NodeOrder,
  edges: BringUpEdges,
  signal: AbortSignal,
): Promise<BroughtUp> {
  return throughDrops(
    () => bringUpOnce(host, order, edges, signal),
    (why) => edges.events.emit(bringupEvents.goingOn, { node: host.name, why: why.message }),
    signal,
  );
}

async function bringUpOnce(host: Host, order: NodeOrder, edges: BringUpEdges, signal: AbortSignal): Promise<BroughtUp> {
  const node = host.name;
  const run = { signal, within: 120_000 };
  const tell = (step: string, detail?: string): void =>
    edges.events.emit(
      bringupEvents.step,
      { node, step, ...(detail !== undefined && { detail }) },
      { id: `node ${node}`, state: 'running' },
    );
  tell('connecting');
  await host.connect({
    signal,
    within: edges.connectWithin,
    onWait: tellWaits((why) => edges.events.emit(bringupEvents.waiting, { node, why })),
  });
  const prepared = await prepareNode(host, order, run);
  const wanted = fingerprints(order, await contentsFingerprint(order.files));
  const outdated = edges.startOnly ? new Set<Part>(['start']) : outdatedParts(prepared.record, wanted);
  const done = new Set<Part>();
  let record: NodeRecord = { ...prepared.record, instance: order.instance };
  const complete = async (...parts: readonly Part[]): Promise<void> => {
    for (const part of parts) done.add(part);
    record = { ...record, ...Object.fromEntries(parts.map((part) => [part, wanted[part]])) };
    await writeRecord(host, order.cluster, record, run);
  };
  const commands = (part: 'initialization' | 'setup' | 'start', place: Place): Promise<void> =>
    runCommands(
      host,
      {
        node,
        cluster: order.cluster,
        part,
        fingerprint: wanted[part],
        commands: order.commands[part],
        known: prepared.steps,
        program: (command) =>
          part === 'start'
            ? startProgram(order, place, command, edges.head?.()?.versions)
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
  const { container } = order.commands;
  let place: Place = { kind: 'host' };
  const sync = (): Promise<void> =>
    syncFiles(host, order.files, { ...(container && { into: stagingFolder(order.cluster) }), signal });
  if (outdated.has('files')) {
    if (order.files.mounts.length > 0) tell('copying files', `${order.files.mounts.length} mounts`);
    await sync();
    await complete('files');
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
    if (outdated.has('container') || remade) await complete('container');
  } else if (outdated.has('container')) record = { ...record, container: wanted.container };
  if (!edges.startOnly && (outdated.has('setup') || remade)) {
    await commands('setup', place);
    await complete('setup');
  }
  const starts =
    !prepared.rayAlive ||
    remade ||
    edges.restart === 'always' ||
    (edges.restart === 'changed' && (outdated.has('start') || (done.has('setup') && (await isOtherRay()))));
  if (!starts) return { record, done };
  // Until it is done again, nobody else is to bring back a Ray that is gone.
  const { start: started, ...unstarted } = record;
  record = unstarted;
  if (started !== undefined) await writeRecord(host, order.cluster, record, run);
  const versions = await start(
    host,
    order,
    place,
    { edges, prepared, tell, commands: () => commands('start', place) },
    signal,
  );
  record = { ...record, ...(versions && { versions }) };
  await complete('start');
  edges.events.emit(bringupEvents.started, { node, done: [...done].join(', ') }, { id: `node ${node}`, state: 'done' });
  return { record, done, ...(versions && { versions }) };
}

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
  readonly commands: () => Promise<void>;
}

async function start(
  host: Host,
  order: NodeOrder,
  place: Place,
  { edges, tell, commands }: Starting,
  signal: AbortSignal,
): Promise<RayVersions | undefined> {
  const found = order.kind === 'head' ? await rayVersions(host, order, place, signal) : undefined;
  if (order.token !== undefined && found !== undefined && !hasTokenMode(found) && !edges.allowNoAuth)
    throw rayStepErrors.NoTokenMode({ node: host.name, version: found.ray });
  if (edges.headListens) {
    tell('waiting for the head');
    await edges.headListens(signal);
  }
  tell('starting Ray');
  const began = performance.now();
  try {
    await commands();
  } catch (error) {
    if (!bringupErrors.CommandFailed.is(error)) throw error;
    const { code, command } = error.data;
    const head = edges.head?.();
    if (code === versionMismatchCode && head) {
      const versions = await startedVersions(host, order, place, signal);
      if (versions) throw rayStepErrors.Versions({ head, worker: { node: host.name, versions } }, error);
    }
    // Ray gives up a start on a machine that is busy; nothing of it may be left when it is tried again.
    edges.events.emit(bringupEvents.retrying, { node: host.name, command, code });
    await endRay(host, { cluster: order.cluster, instance: order.instance, place }, { signal });
    await commands();
  }
  tell('checking Ray');
  await checkRay(host, order, place, { events: edges.events, elapsed: performance.now() - began + 1_000, signal });
  return found ?? (await startedVersions(host, order, place, signal));
}
