import type { NodeStarter } from '../../autoscaler/starter.ts';
import { messageOf } from '../../base/errors.ts';
import type { Host } from '../../base/host.ts';
import { thisHost } from '../../base/this-host.ts';
import { type BringUpEdges, type BroughtUp, bringUpNode } from '../../bringup/node/bring-up.ts';
import { containersOf, endNode } from '../../bringup/node/end-node.ts';
import { type CommandPlace, type NodeFiles, type NodeOrder, placeOf } from '../../bringup/node/node.ts';
import { type ClusterOrder, headOrder, workerOrder } from '../../bringup/node/order.ts';
import { type RayVersions, startedVersions } from '../../bringup/ray/versions.ts';
import type { RayEngine } from '../../engines/ray/engine.ts';
import type { ProviderInstance } from '../../providers/provider.ts';
import type { RayHead } from '../../state/cluster-record.ts';
import type { BackendContext } from '../backend/backend.ts';
import { headErrors } from '../errors.ts';
import type { Archives } from './files/archives.ts';
import { filesForWorkers, filesOnHead } from './files/node-files.ts';
import type { Machines } from './machines/machines.ts';
import { headListens, rayHeadOf } from './ray-head.ts';
import { registered } from './watch/registered.ts';

export interface RayNodesDeps {
  readonly context: BackendContext;
  readonly token: string | undefined;
  readonly machines: Machines;
  readonly engine: Pick<RayEngine, 'state' | 'nodeTable'>;
  readonly archives: Pick<Archives, 'bringTo'>;
}

const connectWithin = 120_000;

/** Makes nodes of machines: the orders for them, and what carries them out. */
export class RayNodes implements NodeStarter {
  readonly #deps: RayNodesDeps;
  readonly #headAddress: string;
  /** Of the Ray that runs on the head, once it does. */
  #versions: RayVersions | undefined;

  constructor(deps: RayNodesDeps) {
    this.#deps = deps;
    this.#headAddress = this.#head.address;
  }

  async bringUp(instance: ProviderInstance, signal: AbortSignal): Promise<void> {
    const { context, machines, engine } = this.#deps;
    const { clock, events } = context;
    try {
      await this.#bringUp(instance, signal);
      await registered(instance, { nodeTable: (during) => engine.nodeTable(during), clock, events }, signal);
      machines.wasSetUp?.(instance.id);
      void machines.noteStatus?.(instance.id, 'up-to-date', signal);
    } catch (error) {
      if (!signal.aborted) machines.wasSetUp?.(instance.id, messageOf(error));
      if (!signal.aborted) void machines.noteStatus?.(instance.id, 'update-failed', signal);
      throw error;
    }
  }

  async halt(providerId: string, signal: AbortSignal): Promise<void> {
    const { context, machines } = this.#deps;
    const instance = (await machines.provider.list(signal)).find((each) => each.id === providerId);
    if (instance === undefined) return;
    const containers = containersOf(context.spec());
    // A machine that costs until it is ended goes with its lease, whatever becomes of the order to end it.
    const keepLease = machines.powersOff === true;
    const what = { cluster: context.folder.name, instance: providerId, containers, remove: false, keepLease };
    await endNode(machines.hostOf(instance), what, signal);
  }

  /** Brings the files, and what depends on them, to a worker; Ray is not restarted. */
  bringFiles(instance: ProviderInstance, signal: AbortSignal): Promise<BroughtUp> {
    const { events } = this.#deps.context;
    const how = { events, connectWithin, restart: 'never', keepContainer: true, allowNoAuth: true } as const;
    return bringUpNode(this.#deps.machines.hostOf(instance), this.#orderFor(instance), how, signal);
  }

  /** Starts Ray on the head's host again. */
  async startHead(signal: AbortSignal): Promise<void> {
    const { spec, events, wake } = this.#deps.context;
    const order = headOrder(this.#common(), this.#head.instance, filesOnHead(spec(), this.#head));
    const how = { events, connectWithin, startOnly: true, bringsBack: true, restart: 'always' } as const;
    await bringUpNode(thisHost(), order, { ...how, allowNoAuth: true }, signal);
    this.#versions = undefined;
    wake();
  }

  /** Workers that the engine has as nodes. */
  async runningWorkers(signal: AbortSignal): Promise<readonly ProviderInstance[]> {
    const { machines, engine } = this.#deps;
    const [instances, { nodes }] = await Promise.all([machines.provider.list(signal), engine.state(signal)]);
    const alive = new Set(nodes.filter(({ state }) => state === 'alive').map(({ providerId }) => providerId));
    return instances.filter(({ id, kind }) => kind === 'worker' && alive.has(id));
  }

  /** Where every node that runs keeps its files, the head's too. */
  async runningPlaces(signal: AbortSignal): Promise<readonly { readonly host: Host; readonly place: CommandPlace }[]> {
    const running = await this.runningWorkers(signal);
    const workers = running.map((instance) => ({
      host: this.#deps.machines.hostOf(instance),
      place: this.#placeOn(instance),
    }));
    return [{ host: thisHost(), place: this.headPlace() }, ...workers];
  }

  headPlace(): CommandPlace {
    return placeOf(this.#deps.context.spec().head.container);
  }

  workerFiles(): NodeFiles {
    return filesForWorkers(this.#deps.context.spec(), this.#head);
  }

  /** As it stands in the record now. */
  get #head(): RayHead {
    return rayHeadOf(this.#deps.context.folder);
  }

  async #bringUp(instance: ProviderInstance, signal: AbortSignal): Promise<void> {
    const { context, machines, archives } = this.#deps;
    const host = machines.hostOf(instance);
    const how: BringUpEdges = {
      events: context.events,
      connectWithin,
      restart: 'always',
      headListens: async (during) => {
        await this.#headReady(during);
        await archives.bringTo(machines.hostOf(instance), this.#placeOn(instance), during);
      },
      head: () => (this.#versions === undefined ? undefined : { node: this.#headAddress, versions: this.#versions }),
      allowNoAuth: true,
    };
    await bringUpNode(host, this.#orderFor(instance), how, signal);
  }

  async #headReady(signal: AbortSignal): Promise<void> {
    const { clock, folder } = this.#deps.context;
    await headListens(this.#head, clock, signal);
    const where = { cluster: folder.name, loginShells: false };
    this.#versions ??= await startedVersions(thisHost(), where, this.headPlace(), signal);
  }

  #orderFor(instance: ProviderInstance): NodeOrder {
    const { context, machines } = this.#deps;
    const { nodeTypes, provider, stopsIdle } = context.spec();
    const type = nodeTypes.find((each) => each.name === instance.type);
    if (type === undefined) throw headErrors.NoSuchThing({ kind: 'node type', id: instance.type });
    const { powersOff = false, endProgram } = machines;
    const lease = { lasts: provider.manta.lease, powersOff, endProgram };
    const order = workerOrder(this.#common(), type, instance.id, this.workerFiles(), instance.slice);
    return { ...order, lease, ...(stopsIdle && { startedAt: instance.launchedAt }) };
  }

  #common(): ClusterOrder {
    const { context, token } = this.#deps;
    const { address, loginShells, usageStats, dashboardPort } = this.#head;
    const shared = { spec: context.spec(), headAddress: address, loginShells, usageStats, dashboardPort };
    return { ...shared, ...(token !== undefined && { token }) };
  }

  #placeOn({ type }: ProviderInstance): CommandPlace {
    return placeOf(this.#deps.context.spec().nodeTypes.find((each) => each.name === type)?.worker.container);
  }
}
