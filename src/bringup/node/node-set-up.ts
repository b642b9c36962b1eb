import { createHash } from 'node:crypto';
import type { Host } from '../../base/host.ts';
import type { ContainerSpec } from '../../core/spec/cluster.ts';
import { type EnsuredContainer, ensureContainer, placeToken } from '../container/container.ts';
import { bringupErrors } from '../errors.ts';
import { bringupEvents } from '../events.ts';
import { startProgram } from '../ray/start.ts';
import { rayVersions } from '../ray/versions.ts';
import { runCommands } from '../steps/commands.ts';
import { contentsFingerprint } from '../sync/contents.ts';
import { stagingOf, usualStaging } from '../sync/staging.ts';
import { syncFiles } from '../sync/sync.ts';
import type { BringUpEdges, BroughtUp } from './bring-up.ts';
import type { CommandPlace, NodeOrder } from './node.ts';
import { type PreparedNode, prepareNode } from './prepare.ts';
import { fingerprints, type NodeRecord, outdatedParts, type Part, startsRay, writeRecord } from './record.ts';
import { commandProgram, setupEnvironment } from './shell-text.ts';
import { newNonce, startNonce, startRay } from './start-ray.ts';

type CommandPart = 'initialization' | 'setup' | 'start';

const writeWithin = 120_000;

/** One connected host on its way to a node: does what its record does not say is done, and writes down what is. */
export class NodeSetUp {
  readonly #host: Host;
  readonly #order: NodeOrder;
  readonly #edges: BringUpEdges;
  readonly #signal: AbortSignal;
  readonly #prepared: PreparedNode;
  readonly #wanted: Readonly<Record<Part, string>>;
  readonly #outdated: ReadonlySet<Part>;
  readonly #done = new Set<Part>();
  #record: NodeRecord;
  #unwritten = false;
  /** Where commands run from here on: the host, then its container. */
  #place: CommandPlace = { kind: 'host' };
  #remade = false;

  private constructor(
    host: Host,
    order: NodeOrder,
    edges: BringUpEdges,
    found: { readonly prepared: PreparedNode; readonly wanted: Readonly<Record<Part, string>> },
    signal: AbortSignal,
  ) {
    this.#host = host;
    this.#order = order;
    this.#edges = edges;
    this.#signal = signal;
    this.#prepared = found.prepared;
    this.#wanted = found.wanted;
    this.#outdated = edges.startOnly ? new Set(['start']) : outdatedParts(found.prepared.record, found.wanted);
    this.#record = { ...found.prepared.record, instance: order.instance };
  }

  /** Makes the host ready for the work, and finds out what there is to do. */
  static async prepare(host: Host, given: NodeOrder, edges: BringUpEdges, signal: AbortSignal): Promise<NodeSetUp> {
    const prepared = await prepareNode(host, given, { signal, within: writeWithin });
    const order = prepared.staging === undefined ? given : { ...given, staging: prepared.staging };
    if (prepared.powerless) edges.events.emit(bringupEvents.powerless, { node: host.name });
    // Where nothing is copied, what was copied last is what is there.
    const contents = edges.startOnly ? prepared.record?.files : undefined;
    const wanted = fingerprints(order, contents ?? placedAt(order, await contentsFingerprint(order.files)));
    return new NodeSetUp(host, order, edges, { prepared, wanted }, signal);
  }

  async run(): Promise<BroughtUp> {
    const { keepContainer, onSynced } = this.#edges;
    if (keepContainer && this.#outdated.has('container')) return { record: this.#record, done: this.#done, left: true };
    await this.#copyFiles();
    onSynced?.();
    if (this.#outdated.has('initialization')) {
      await this.#commands('initialization');
      await this.#complete('initialization');
    }
    await this.#makeContainer();
    await this.#setUp();
    if (await this.#isToStart()) return await this.#start();
    if (this.#unwritten) await this.#write();
    return { record: this.#record, done: this.#done };
  }

  async #copyFiles(): Promise<void> {
    if (!this.#outdated.has('files')) return;
    const { mounts } = this.#order.files;
    if (mounts.length > 0) this.#tell('copying files', `${mounts.length} mounts`);
    await this.#sync();
    await this.#complete('files', mounts);
  }

  async #makeContainer(): Promise<void> {
    const { container } = this.#order.commands;
    if (container === undefined) {
      if (!this.#outdated.has('container')) return;
      this.#record = { ...this.#record, container: this.#wanted.container };
      this.#unwritten = true;
      return;
    }
    this.#tell('container', container.image);
    const ensured = await this.#ensureContainer(container);
    this.#place = ensured.place;
    this.#remade = ensured.made;
    await placeToken(this.#host, this.#order, this.#place, this.#signal);
    if (this.#remade) {
      // Nothing is set up in it yet, also when this is cut short here.
      const { setup: _, start: started, ...rest } = this.#record;
      const keepsStart = this.#edges.bringsBack && started !== undefined;
      this.#record = nextGeneration(keepsStart ? { ...rest, start: started } : rest);
    }
    if (this.#outdated.has('container') || this.#remade) await this.#complete('container', [container]);
  }

  /** Two things can be repaired on the way: groups that a new login has, and mounts that a reboot has swept away. */
  async #ensureContainer(container: ContainerSpec): Promise<EnsuredContainer> {
    const how = { events: this.#edges.events, signal: this.#signal };
    const ensure = (): Promise<EnsuredContainer> => ensureContainer(this.#host, this.#order, container, how);
    try {
      return await ensure();
    } catch (error) {
      if (bringupErrors.ContainerNewSession.is(error)) await this.#host.renew();
      else if (bringupErrors.ContainerMountsGone.is(error)) await this.#sync();
      else throw error;
      return await ensure();
    }
  }

  async #setUp(): Promise<void> {
    const isNew = this.#order.commands.container !== undefined && this.#record.setup === undefined;
    const isOutdated = !this.#edges.startOnly && this.#outdated.has('setup');
    if (!this.#remade && !isNew && !isOutdated) return;
    await this.#commands('setup');
    await this.#complete('setup');
  }

  async #isToStart(): Promise<boolean> {
    const { restart } = this.#edges;
    const state = { rayAlive: this.#prepared.rayAlive, remade: this.#remade, outdated: this.#outdated };
    if (startsRay(restart, state)) return true;
    return restart === 'changed' && this.#done.has('setup') && (await this.#isOtherRay());
  }

  /** Setup may have installed another Ray than the one that runs. */
  async #isOtherRay(): Promise<boolean> {
    const installed = await rayVersions(this.#host, this.#order, this.#place, this.#signal);
    const { versions } = this.#record;
    return installed !== undefined && versions !== undefined && installed.ray !== versions.ray;
  }

  async #start(): Promise<BroughtUp> {
    const edges = this.#edges;
    const prepared = this.#prepared;
    // Until it is done again, nobody else is to bring back a Ray that is gone.
    const { start: started, ...unstarted } = this.#record;
    if (!edges.bringsBack) this.#record = unstarted;
    if (started !== undefined && !edges.bringsBack) await this.#write();
    const starting = {
      edges,
      prepared,
      tell: (step: string, detail?: string) => this.#tell(step, detail),
      nonce: edges.startOnly ? newNonce() : startNonce(prepared, this.#nonceOf('start')),
      commands: (list: readonly string[], nonce: string) => this.#commands('start', list, nonce),
    };
    const versions = await startRay(this.#host, this.#order, this.#place, starting, this.#signal);
    this.#record = { ...this.#record, ...(versions && { versions }) };
    await this.#complete('start', this.#order.commands.start);
    if (this.#unwritten) await this.#write();
    const node = this.#host.name;
    const done = this.#done;
    edges.events.emit(
      bringupEvents.started,
      { node, done: [...done].join(', ') },
      { id: `node ${node}`, state: 'done' },
    );
    return { record: this.#record, done, ...(versions && { versions }) };
  }

  #commands(part: CommandPart, list = this.#order.commands[part], nonce = this.#nonceOf(part)): Promise<void> {
    const order = this.#order;
    const what = {
      node: this.#host.name,
      cluster: order.cluster,
      part,
      nonce,
      commands: list,
      known: this.#prepared.steps,
      program: (command: string) => this.#program(part, command),
    };
    const tell = (step: string, detail?: string): void => this.#tell(step, detail);
    return runCommands(this.#host, what, this.#edges.events, tell, this.#signal);
  }

  #program(part: CommandPart, command: string): string {
    const order = this.#order;
    const { head, allowNoAuth } = this.#edges;
    const place = this.#place;
    if (part !== 'start') return commandProgram(order, place, command, setupEnvironment(order, place));
    return startProgram(order, place, command, {
      ...(head && { versions: head()?.versions }),
      tokenMode: order.kind === 'head' && order.token !== undefined && !allowNoAuth,
    });
  }

  #nonceOf(part: CommandPart): string {
    return createHash('sha256')
      .update(`${this.#wanted[part]} ${part === 'start' ? this.#order.instance : ''} ${this.#record.generation ?? 0}`)
      .digest('hex')
      .slice(0, 12);
  }

  #sync(): Promise<void> {
    const { commands, files } = this.#order;
    const into = commands.container && { into: stagingOf(this.#order) };
    return syncFiles(this.#host, files, { ...into, signal: this.#signal });
  }

  /**
   * A part that is cheap to do again is written down with the next that is not: one with nothing in it, and one of
   * commands, which are steps and known to be done as such.
   */
  async #complete(part: Part, work: readonly unknown[] = []): Promise<void> {
    this.#done.add(part);
    this.#record = { ...this.#record, [part]: this.#wanted[part] };
    if (part === 'initialization' || part === 'setup' || part === 'start') this.#record = nextGeneration(this.#record);
    this.#unwritten = true;
    if (work.length > 0) await this.#write();
  }

  async #write(): Promise<void> {
    const how = { signal: this.#signal, within: writeWithin };
    await writeRecord(this.#host, this.#order.cluster, this.#record, how);
    this.#unwritten = false;
  }

  #tell(step: string, detail?: string): void {
    const node = this.#host.name;
    this.#edges.events.emit(
      bringupEvents.step,
      { node, step, ...(detail !== undefined && { detail }) },
      { id: `node ${node}`, state: 'running' },
    );
  }
}

/** The same files in another place have to be copied again. */
const placedAt = (order: NodeOrder, contents: string): string =>
  stagingOf(order) === usualStaging(order.cluster) ? contents : `${contents} ${stagingOf(order)}`;

const nextGeneration = (record: NodeRecord): NodeRecord => ({ ...record, generation: (record.generation ?? 0) + 1 });
