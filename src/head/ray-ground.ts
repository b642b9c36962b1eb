import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { connect } from 'node:net';
import { join } from 'node:path';
import { loopSettings } from '../autoscaler/settings.ts';
import type { Host } from '../base/host.ts';
import { makeFolder } from '../base/json-file.ts';
import { sshHost } from '../base/ssh/host.ts';
import { thisHost } from '../base/this-host.ts';
import { bringUpNode } from '../bringup/bring-up.ts';
import type { NodeFiles, Place } from '../bringup/node.ts';
import { type ClusterOrder, headOrder, workerOrder } from '../bringup/order.ts';
import { containersOf, endNode, type NodeToEnd } from '../bringup/end-node.ts';
import { type RayVersions, startedVersions } from '../bringup/ray-versions.ts';
import { targetOf } from '../bringup/reach.ts';
import { parseRecord } from '../bringup/record.ts';
import { nodeFolder } from '../bringup/node.ts';
import { tokenFile } from '../bringup/shell-text.ts';
import type { ClusterSpec, NodeType } from '../core/spec/cluster.ts';
import { type OwnHost, ownHosts } from '../core/spec/local.ts';
import { RayEngine } from '../engines/ray/engine.ts';
import { LocalProvider } from '../providers/local/provider.ts';
import { LocalRecords } from '../providers/local/record.ts';
import type { ProviderInstance } from '../providers/provider.ts';
import { headErrors } from './errors.ts';
import { headEvents } from './events.ts';
import type { Ground, GroundEdges } from './ground.ts';
import { type RayHead, readCluster } from './state-folder.ts';
import { WorkerFiles } from './worker-files.ts';

const connectWithin = 120_000;
const lookEvery = 1_000;
/** Looks that find nobody at the head's port before Ray counts as gone: a restart by `up` is shorter or says so. */
const looksUntilGone = 4;
const headListensWithin = 600_000;

/** Real Ray on hosts that are reached over SSH: mantad runs on the head's host, and makes nodes of the others. */
export async function rayGround(edges: GroundEdges): Promise<Ground> {
  const { folder, clock, events, log } = edges;
  const head = (): RayHead => {
    const { ray } = readCluster(folder) ?? {};
    if (ray === undefined) throw headErrors.FolderForeign({ folder: folder.path, detail: 'it holds no head of Ray' });
    return ray;
  };
  const first = head();
  const token = readToken(folder.name);
  const hosts = new Hosts(edges, first.instance);
  const toEnd = (instance: string): NodeToEnd => ({
    cluster: folder.name,
    instance,
    containers: containersOf(edges.spec()),
    remove: false,
  });
  const engine = new RayEngine({
    address: hostPort(first.address, first.gcsPort),
    dashboard: `http://127.0.0.1:${first.dashboardPort}`,
    ...(token !== undefined && { token }),
    folder: makeFolder(join(folder.path, 'attempts')),
    clock,
    events,
  });
  const provider = new LocalProvider({
    folder: folder.files.instances,
    claimant: {
      clusterId: first.id,
      cluster: folder.name,
      owner: `${userInfo().username}@${first.address}`,
      headAddress: first.address,
    },
    pools: () => ownHosts(edges.spec()).pools,
    connect: (host) => hosts.of(host),
    end: async (host, instance, signal) => {
      const left = await endNode(host, toEnd(instance), signal);
      if (left.length > 0) throw headErrors.NotEnded({ host: host.name, left });
    },
    clock,
    events,
  });
  const records = new LocalRecords(folder.files.instances);
  writeHeadRecord(records, edges.spec(), first);

  const common = (): ClusterOrder => {
    const { address, loginShells, usageStats, dashboardPort } = head();
    return {
      spec: edges.spec(),
      headAddress: address,
      loginShells,
      usageStats,
      dashboardPort,
      ...(token !== undefined && { token }),
    };
  };
  const headListens = async (signal: AbortSignal): Promise<void> => {
    const until = performance.now() + headListensWithin;
    while (!(await listens(first.address, head().gcsPort))) {
      if (performance.now() > until)
        throw headErrors.HeadSilent({ address: first.address, port: first.gcsPort, seconds: headListensWithin / 1_000 });
      await clock.sleep(50, signal);
    }
  };
  let versions: RayVersions | undefined;
  const headVersions = async (signal: AbortSignal): Promise<RayVersions | undefined> => {
    const place = headPlace(edges.spec());
    versions ??= await startedVersions(thisHost(), { cluster: folder.name, loginShells: false }, place, signal);
    return versions;
  };
  const filesOf = (): NodeFiles => filesForWorkers(edges.spec(), head());

  const files = new WorkerFiles({
    folder: folder.path,
    clock,
    events,
    files: filesOf,
    continuously: () => edges.spec().files.syncContinuously,
    apply: async (signal) => {
      const running = (await provider.list(signal)).filter(({ kind, state }) => kind === 'worker' && state === 'running');
      const { nodes } = await engine.state(signal);
      const alive = new Set(nodes.filter(({ state }) => state === 'alive').map(({ providerId }) => providerId));
      await Promise.all(
        running
          .filter(({ id }) => alive.has(id))
          .map(async (instance) => {
            const order = workerOrder(common(), typeOf(edges.spec(), instance), instance.id, filesOf());
            const host = hosts.of(hosts.named(instance));
            await bringUpNode(host, order, { events, connectWithin, restart: 'never', allowNoAuth: true }, signal);
          }),
      );
    },
  });

  const bringUp = async (instance: ProviderInstance, signal: AbortSignal): Promise<void> => {
    const spec = edges.spec();
    const host = hosts.of(hosts.named(instance));
    const order = workerOrder(common(), typeOf(spec, instance), instance.id, filesOf());
    await bringUpNode(
      host,
      order,
      {
        events,
        connectWithin,
        restart: 'always',
        headListens: async (during) => {
          await headListens(during);
          await headVersions(during);
        },
        head: () => (versions === undefined ? undefined : { node: first.address, versions }),
        allowNoAuth: true,
      },
      signal,
    );
  };

  return {
    engine,
    provider,
    starter: {
      bringUp,
      async halt(providerId, signal) {
        const host = hosts.byInstance(providerId, await provider.list(signal));
        if (host !== undefined) await endNode(host, toEnd(providerId), signal);
      },
    },
    settings: {
      listLag: 2_000,
      batchIdle: 20,
      batchMax: 500,
      callDeadline: 60_000,
      timeouts: { ...loopSettings.timeouts, absent: 2_000 },
    },
    complete: (spec) => withLearned(withHashes(spec), provider),
    addressOf: (machine) => records.claim(machine)?.host.name,
    reloaded: () => files.look(),
    keep: async (signal) => {
      await Promise.all([
        provider.keepClaims(signal),
        files.keep(signal),
        keepRayHead({ edges, head, common, listens: () => listens(first.address, head().gcsPort) }, signal),
      ]);
    },
    onPass: (status, plan, signal) => {
      engine.report({ ...status(), infeasible: plan.infeasible }, signal).catch((error: unknown) => {
        if (!signal.aborted) log(`the report to Ray was not taken: ${messageOf(error)}`);
      });
    },
    close: async () => {
      await provider.close();
      await engine.close();
      await hosts.close();
    },
  };
}

/** Starts Ray on the head again when it is gone: after a crash of it, or a reboot of the host. */
async function keepRayHead(
  {
    edges,
    head,
    common,
    listens: isUp,
  }: {
    readonly edges: GroundEdges;
    readonly head: () => RayHead;
    readonly common: () => ClusterOrder;
    readonly listens: () => Promise<boolean>;
  },
  signal: AbortSignal,
): Promise<void> {
  const { clock, events, folder } = edges;
  let missed = 0;
  let pause = lookEvery;
  while (!signal.aborted) {
    await clock.sleep(pause, signal).catch(() => {});
    if (signal.aborted) return;
    try {
      if (await isUp()) {
        missed = 0;
        pause = lookEvery;
        continue;
      }
      missed += 1;
      // A head that was never started, or is being started by `up`, has no start in its record.
      if (missed < looksUntilGone || !wasStarted(folder.name)) continue;
      events.emit(headEvents.rayGone, { address: head().address });
      const order = headOrder(common(), head().instance, { mounts: [], exclude: [], filter: [] });
      await bringUpNode(
        thisHost(),
        order,
        { events, connectWithin, startOnly: true, restart: 'always', allowNoAuth: true },
        signal,
      );
      missed = 0;
      edges.wake();
    } catch (error) {
      if (signal.aborted) return;
      events.emit(headEvents.headTrouble, { detail: messageOf(error) });
      pause = Math.min(pause * 2, 60_000);
    }
  }
}

function wasStarted(cluster: string): boolean {
  try {
    const file = join(homedir(), nodeFolder(cluster), 'record.json');
    return parseRecord(readFileSync(file, 'utf8'))?.start !== undefined;
  } catch {
    return false;
  }
}

/** One connection a host, kept for as long as mantad lives. */
class Hosts {
  readonly #edges: GroundEdges;
  readonly #headInstance: string;
  readonly #open = new Map<string, Host>();

  constructor(edges: GroundEdges, headInstance: string) {
    this.#edges = edges;
    this.#headInstance = headInstance;
  }

  of(host: OwnHost): Host {
    const { folder, clock, spec } = this.#edges;
    if (host.name === ownHosts(spec()).head?.name) return thisHost();
    const id = JSON.stringify(host);
    const known = this.#open.get(id);
    if (known !== undefined) return known;
    const from = {
      cluster: folder.name,
      pins: makeFolder(folder.files.hosts),
      control: folder.path,
      key: folder.files.key,
    };
    const opened = sshHost(targetOf(host, from), { clock });
    this.#open.set(id, opened);
    return opened;
  }

  /** The host of an instance, by what the file says of it now. */
  named({ address }: ProviderInstance): OwnHost {
    const { head, pools } = ownHosts(this.#edges.spec());
    const all = [...(head ? [head] : []), ...pools.flatMap((pool) => pool.hosts)];
    const found = all.find((host) => host.address === address);
    return found ?? { ...(head as OwnHost), name: address ?? '', address: address ?? '' };
  }

  byInstance(id: string, instances: readonly ProviderInstance[]): Host | undefined {
    if (id === this.#headInstance) return thisHost();
    const instance = instances.find((each) => each.id === id);
    return instance && this.of(this.named(instance));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((host) => host.close()));
  }
}

function writeHeadRecord(records: LocalRecords, spec: ClusterSpec, head: RayHead): void {
  const host = ownHosts(spec).head;
  if (host === undefined) return;
  if (records.claim(head.instance) !== undefined) return;
  records.write({
    format: 1,
    id: head.instance,
    launchToken: head.instance,
    type: spec.headType,
    kind: 'head',
    state: 'held',
    host,
    launchedAt: Date.now(),
    tags: {},
  });
}

function headPlace({ head: { container } }: ClusterSpec): Place {
  return container ? { kind: 'container', engine: container.engine, name: container.name } : { kind: 'host' };
}

const typeOf = (spec: ClusterSpec, { type }: ProviderInstance): NodeType => {
  const found = spec.nodeTypes.find((each) => each.name === type) ?? spec.nodeTypes[0];
  if (found === undefined) throw headErrors.NoSuchThing({ kind: 'node type', id: type });
  return found;
};

/** What workers get: the mounts as they lie here, and what the file names as synced from the head. */
function filesForWorkers(spec: ClusterSpec, { mounts }: RayHead): NodeFiles {
  const here = (path: string): string => path.replace(/^~(?=\/|$)/, homedir());
  const synced = spec.files.clusterSynced
    .map((path) => ({ remote: path, local: here(path), directory: path.endsWith('/') }))
    .filter(({ local }) => existsSync(local));
  return {
    mounts: [...mounts.map((mount) => ({ ...mount, local: here(mount.local) })), ...synced],
    exclude: spec.files.exclude,
    filter: spec.files.filter,
  };
}

/** Workers whose commands or container are others than those of the file are outdated, and replaced in turn. */
const withHashes = (spec: ClusterSpec): ClusterSpec => ({
  ...spec,
  replaceOutdated: true,
  nodeTypes: spec.nodeTypes.map((type) => ({
    ...type,
    launchHash: createHash('sha256').update(JSON.stringify(type.worker)).digest('hex').slice(0, 16),
  })),
});

/** Own machines say nothing of what they have in the file: what was found on them counts. */
function withLearned(spec: ClusterSpec, provider: LocalProvider): ClusterSpec {
  const learned = provider.learned();
  return {
    ...spec,
    nodeTypes: spec.nodeTypes.map((type) => {
      const found = learned.get(type.name);
      return found === undefined ? type : { ...type, resources: { ...found, ...type.resources } };
    }),
  };
}

function readToken(cluster: string): string | undefined {
  try {
    return readFileSync(join(homedir(), tokenFile(cluster)), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

const hostPort = (address: string, port: number): string =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;

function listens(address: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, timeout: 3_000 });
    const done = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.on('connect', () => done(true));
    socket.on('error', () => done(false));
    socket.on('timeout', () => done(false));
  });
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
