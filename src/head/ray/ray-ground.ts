import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { loopSettings } from '../../autoscaler/settings.ts';
import { clearInstances } from '../../autoscaler/teardown.ts';
import { messageOf } from '../../base/errors.ts';
import { makeFolder } from '../../base/json-file.ts';
import { shellQuoted } from '../../base/shell-quote.ts';
import { thisHost } from '../../base/this-host.ts';
import { bringUpNode } from '../../bringup/bring-up.ts';
import { byConnection, clearHosts } from '../../bringup/clear-hosts.ts';
import { containersOf, endNode } from '../../bringup/end-node.ts';
import { type NodeFiles, type NodeOrder, type Place, placeOf } from '../../bringup/node.ts';
import { type ClusterOrder, headOrder, workerOrder } from '../../bringup/order.ts';
import { type RayVersions, startedVersions } from '../../bringup/ray-versions.ts';
import { stopRequestFile } from '../../bringup/sessions-place.ts';
import { bashAt } from '../../bringup/shell-text.ts';
import type { ClusterSpec } from '../../core/spec/cluster.ts';
import { RayEngine } from '../../engines/ray/engine.ts';
import type { RayNodeInfo } from '../../engines/ray/gcs.ts';
import { tlsOfGcs } from '../../engines/ray/gcs-tls.ts';
import { isCloud } from '../../providers/clouds.ts';
import type { ProviderInstance } from '../../providers/provider.ts';
import { removeBootText } from '../boot-entry.ts';
import { headErrors } from '../errors.ts';
import { rayFront } from '../gateway/ray-front.ts';
import type { Ground, GroundEdges } from '../ground.ts';
import type { RayHead } from '../state-folder.ts';
import { rayActivity } from '../turn-off/activity.ts';
import { Archives } from './archives.ts';
import { cloudMachines } from './cloud-machines.ts';
import { withLaunchHashes } from './launch-hashes.ts';
import { keepLeases } from './lease-keeper.ts';
import { ownMachines } from './own-machines.ts';
import { headListens, headNode, keepRayHead, rayHeadOf, rayToken } from './ray-head.ts';
import { RayReports } from './ray-reports.ts';
import { registered } from './registered.ts';
import { Suspects } from './suspects.ts';
import { WorkerFiles } from './worker-files.ts';

const connectWithin = 120_000;

/** Real Ray on hosts that are reached over SSH: mantad runs on the head's host, and makes nodes of the others. */
export async function rayGround(edges: GroundEdges): Promise<Ground> {
  const { folder, clock, events, log } = edges;
  const head = (): RayHead => rayHeadOf(folder);
  const first = head();
  const token = rayToken(folder.name);
  const cloud = isCloud(edges.spec().provider.type);
  const machines = cloud ? await cloudMachines(edges, first) : ownMachines(edges, first);
  const { provider } = machines;
  const engine = new RayEngine({
    address: hostPort(first.address, first.gcsPort),
    dashboard: `http://127.0.0.1:${first.dashboardPort}`,
    ...(token !== undefined && { token }),
    tls: (before) => tlsOfGcs(first.gcsPort, before),
    folder: makeFolder(join(folder.path, 'attempts')),
    clock,
    events,
    shipArchive: (archive, signal) => archives.ship(archive, signal),
    shippedArchive: (name, signal) => archives.shipped(name, signal),
    append: async (path, text, signal) => {
      const place = placeOf(edges.spec().head.container);
      if (place.kind === 'host') return false;
      const write = `mkdir -p ${shellQuoted(dirname(path))} && printf %s ${shellQuoted(text)} >>${shellQuoted(path)}`;
      return (await thisHost().sh(bashAt(place, write), { signal })).code === 0;
    },
  });
  const archives = new Archives({
    clusterId: first.id,
    folder: join(folder.path, 'archives'),
    nodes: async (signal) => {
      const running = await workersThatRun(signal);
      const workers = running.map((instance) => ({ host: machines.hostOf(instance), place: placeOn(instance) }));
      return [{ host: thisHost(), place: placeOf(edges.spec().head.container) }, ...workers];
    },
    events,
  });
  const ending = new AbortController();
  const reports = new RayReports({ engine, clock, spec: edges.spec, log, ending: ending.signal });
  const suspects = new Suspects({
    nodeTable: (signal) => engine.nodeTable(signal),
    events,
    wake: () => edges.wake(),
    ending: ending.signal,
  });

  const common = (): ClusterOrder => {
    const { address, loginShells, usageStats, dashboardPort } = head();
    const shared = { spec: edges.spec(), headAddress: address, loginShells, usageStats, dashboardPort };
    return { ...shared, ...(token !== undefined && { token }) };
  };
  const leaseLasts = (): number => edges.spec().provider.manta.lease;
  const filesOf = (): NodeFiles => filesForWorkers(edges.spec(), head());
  const orderFor = (instance: ProviderInstance): NodeOrder => {
    const type = edges.spec().nodeTypes.find((each) => each.name === instance.type);
    if (type === undefined) throw headErrors.NoSuchThing({ kind: 'node type', id: instance.type });
    const lease = { lasts: leaseLasts(), powersOff: machines.powersOff === true };
    return { ...workerOrder(common(), type, instance.id, filesOf()), lease };
  };

  let versions: RayVersions | undefined;
  const headReady = async (signal: AbortSignal): Promise<void> => {
    await headListens(head(), clock, signal);
    const place = placeOf(edges.spec().head.container);
    versions ??= await startedVersions(thisHost(), { cluster: folder.name, loginShells: false }, place, signal);
  };
  const nodesAlive = async (signal: AbortSignal): Promise<ReadonlySet<string | undefined>> => {
    const { nodes } = await engine.state(signal);
    return new Set(nodes.filter(({ state }) => state === 'alive').map(({ providerId }) => providerId));
  };
  const workersThatRun = async (signal: AbortSignal): Promise<readonly ProviderInstance[]> => {
    const [instances, alive] = await Promise.all([provider.list(signal), nodesAlive(signal)]);
    return instances.filter(({ id, kind }) => kind === 'worker' && alive.has(id));
  };
  const placeOn = ({ type }: ProviderInstance): Place =>
    placeOf(edges.spec().nodeTypes.find((each) => each.name === type)?.worker.container);
  const files = new WorkerFiles({
    folder: folder.path,
    clock,
    events,
    files: filesOf,
    continuously: () => edges.spec().files.syncContinuously,
    workers: workersThatRun,
    bring: (instance, signal) => {
      const how = { events, connectWithin, restart: 'never', keepContainer: true, allowNoAuth: true } as const;
      return bringUpNode(machines.hostOf(instance), orderFor(instance), how, signal);
    },
  });

  return {
    engine,
    provider,
    ray: rayFront({
      engine,
      dashboardPort: first.dashboardPort,
      head: first.address,
      ...(token !== undefined && { token }),
    }),
    starter: {
      async bringUp(instance, signal) {
        try {
          await bringUpNode(
            machines.hostOf(instance),
            orderFor(instance),
            {
              events,
              connectWithin,
              restart: 'always',
              headListens: async (during) => {
                await headReady(during);
                await archives.bringTo(machines.hostOf(instance), placeOn(instance), during);
              },
              head: () => (versions === undefined ? undefined : { node: first.address, versions }),
              allowNoAuth: true,
            },
            signal,
          );
          await registered(instance, { nodeTable: (during) => engine.nodeTable(during), clock, events }, signal);
          machines.wasSetUp?.(instance.id);
        } catch (error) {
          if (!signal.aborted) machines.wasSetUp?.(instance.id, messageOf(error));
          throw error;
        }
      },
      async halt(providerId, signal) {
        const instance = (await provider.list(signal)).find((each) => each.id === providerId);
        if (instance === undefined) return;
        const containers = containersOf(edges.spec());
        // A machine that costs until it is ended goes with its lease, whatever becomes of the order to end it.
        const keepLease = machines.powersOff === true;
        const what = { cluster: folder.name, instance: providerId, containers, remove: false, keepLease };
        await endNode(machines.hostOf(instance), what, signal);
      },
    },
    // Own machines are listed from this disk: such lists do not lag. Each host has a rest of its own after a failure, and
    // to ask for one costs nobody anything.
    settings: {
      batchIdle: 20,
      batchMax: 500,
      bootSweep: 1_000,
      demandLag: 1_000,
      callDeadline: 60_000,
      timeouts: {
        ...loopSettings.timeouts,
        ...(!cloud && { absent: 2_000 }),
        get settingUp() {
          return edges.spec().provider.manta.setupTimeout ?? loopSettings.timeouts.settingUp;
        },
      },
      ...(!cloud && {
        listLag: 2_000,
        refusals: {
          first: { ...loopSettings.refusals.first, 'no-capacity': 5_000, denied: 15_000, 'setup-failed': 0 },
          longest: 120_000,
        },
      }),
    },
    complete: (spec) => machines.complete(withLaunchHashes(spec, head())),
    addressOf: (machine) => machines.addressOf(machine),
    rest: (machine) => machines.rest?.(machine),
    reloaded: () => {
      machines.reloaded?.();
      files.look();
    },
    keep: async (signal) => {
      const start = async (during: AbortSignal): Promise<void> => {
        const order = headOrder(common(), head().instance, filesOnHead(edges.spec(), head()));
        const how = { events, connectWithin, startOnly: true, bringsBack: true, restart: 'always' } as const;
        await bringUpNode(thisHost(), order, { ...how, allowNoAuth: true }, during);
        versions = undefined;
        edges.wake();
      };
      await Promise.all([
        machines.keep(signal),
        files.keep(signal),
        keepLeases(
          {
            cluster: folder.name,
            provider,
            seen: async (during) => workersIn(await engine.nodeTable(during)),
            hostOf: (instance) => machines.hostOf(instance),
            clock,
            events,
            lasts: leaseLasts,
          },
          signal,
        ),
        keepRayHead(
          { cluster: folder.name, clock, events, head, start, node: (during) => headNode(engine, during) },
          signal,
        ),
      ]);
    },
    onPass: (status, plan) => {
      const now = status();
      reports.pass(now, plan);
      suspects.pass(now);
    },
    onEvent: (kind, data) => {
      reports.hear(kind, data);
      suspects.hear(kind, data);
    },
    activity: (signal) => rayActivity(engine, folder.name, signal),
    tell: (text, signal) => engine.tellDrivers([{ level: 'warn', text, at: clock.now() }], signal),
    stopFile: join(homedir(), stopRequestFile(folder.name)),
    turnOff: async (signal) => {
      const workers = await (machines.endWorkers?.(signal) ??
        clearInstances(provider, { clock, settles: machines.settles?.() ?? 0 }, signal));
      const here = { cluster: folder.name, containers: containersOf(edges.spec()), clusterId: first.id };
      const own = await clearHosts([byConnection(thisHost(), signal)], here, signal);
      // A machine that goes is started again until it has gone, and takes with it what is left on it.
      if (machines.endHead !== undefined) return { ended: [...workers.ended, ...own.ended], left: workers.left };
      await thisHost().sh(`cd "$HOME" || exit 0\n${removeBootText(folder.name)}`, { signal });
      return { ended: [...workers.ended, ...own.ended], left: [...workers.left, ...own.left] };
    },
    ...(machines.endHead !== undefined && { leave: async (left, signal) => machines.endHead?.(left, signal) }),
    close: async () => {
      ending.abort();
      await machines.close();
      await engine.close();
    },
  };
}

const here = (path: string): string => path.replace(/^~(?=\/|$)/, homedir());

/** The mounts as they lie here. */
const filesOnHead = ({ files: { exclude, filter } }: ClusterSpec, { mounts }: RayHead): NodeFiles => ({
  mounts: mounts.map((mount) => ({ ...mount, local: here(mount.local) })),
  exclude,
  filter,
});

/** What workers get: the mounts of the head, and what the file names as synced from it. */
function filesForWorkers(spec: ClusterSpec, head: RayHead): NodeFiles {
  const files = filesOnHead(spec, head);
  const synced = spec.files.clusterSynced.map((path) => ({
    remote: path,
    local: here(path),
    directory: path.endsWith('/'),
  }));
  const mountable = [...files.mounts, ...synced];
  return { ...files, mounts: [...files.mounts, ...synced.filter(({ local }) => existsSync(local))], mountable };
}

/** What Ray knows of the machines under its nodes. */
const workersIn = (nodes: readonly RayNodeInfo[]): readonly ProviderInstance[] =>
  nodes.flatMap(({ instance, address, type = '', alive, head }) =>
    instance === undefined || !alive || head
      ? []
      : [{ id: instance, launchToken: '', type, kind: 'worker', state: 'running', launchedAt: 0, tags: {}, address }],
  );

const hostPort = (address: string, port: number): string =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
