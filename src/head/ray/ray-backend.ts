import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { type LoopSettings, loopSettings } from '../../autoscaler/settings.ts';
import { clearInstances } from '../../autoscaler/teardown.ts';
import type { EventKind } from '../../base/events.ts';
import { makeFolder } from '../../base/files/json-file.ts';
import { shellQuoted } from '../../base/shell/shell-quote.ts';
import { thisHost } from '../../base/this-host.ts';
import { byConnection, clearHosts } from '../../bringup/node/clear-hosts.ts';
import { containersOf } from '../../bringup/node/end-node.ts';
import { bashAt } from '../../bringup/node/shell-text.ts';
import { stopRequestFile } from '../../bringup/sessions/sessions.ts';
import type { Cleared } from '../../core/cleared.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { ClusterSpec } from '../../core/spec/cluster.ts';
import type { ClusterStatus } from '../../core/status/status.ts';
import type { Activity } from '../../core/turn-off.ts';
import { RayEngine } from '../../engines/ray/engine.ts';
import type { RayNodeInfo } from '../../engines/ray/gcs/gcs.ts';
import { tlsOfGcs } from '../../engines/ray/gcs/gcs-tls.ts';
import type { Provider, ProviderInstance } from '../../providers/provider.ts';
import type { HeadRecord, RayHead } from '../../state/cluster-record.ts';
import { removeBootText } from '../../state/mantad/boot-entry.ts';
import type { Backend, BackendContext } from '../backend/backend.ts';
import { type RayFront, rayFront } from '../gateway/ray-front.ts';
import { rayActivity } from '../turn-off/activity.ts';
import { Archives } from './files/archives.ts';
import { KeptArchives } from './files/kept-archives.ts';
import { WorkerFiles } from './files/worker-files.ts';
import { cloudMachines } from './machines/cloud-machines.ts';
import { withLaunchHashes } from './machines/launch-hashes.ts';
import { keepLeases } from './machines/lease-keeper.ts';
import type { Machines } from './machines/machines.ts';
import { ownMachines } from './machines/own-machines.ts';
import { headNode, keepRayHead, rayHeadOf, rayToken } from './ray-head.ts';
import { RayNodes } from './ray-nodes.ts';
import { RayReports } from './watch/ray-reports.ts';
import { Suspects } from './watch/suspects.ts';

/** Real Ray on hosts that are reached over SSH: mantad runs on the head's host, and makes nodes of the others. */
export async function rayBackend({ ray: head }: HeadRecord, context: BackendContext): Promise<Backend> {
  const inCloud = context.spec().provider.kind === 'cloud';
  const machines = inCloud ? await cloudMachines(context, head) : await ownMachines(context, head);
  return new RayBackend(context, head, machines, settingsFor(inCloud, context.spec));
}

class RayBackend implements Backend {
  readonly engine: RayEngine;
  readonly provider: Provider;
  readonly starter: RayNodes;
  readonly ray: RayFront;
  readonly settings: Partial<LoopSettings>;
  readonly stopFile: string;
  readonly leave?: NonNullable<Backend['leave']>;
  readonly #context: BackendContext;
  /** As it was when mantad started: where its Ray listens, and its names. */
  readonly #head: RayHead;
  readonly #machines: Machines;
  readonly #files: WorkerFiles;
  readonly #reports: RayReports;
  readonly #suspects: Suspects;
  readonly #ending = new AbortController();

  constructor(context: BackendContext, head: RayHead, machines: Machines, settings: Partial<LoopSettings>) {
    const { folder, clock, events, spec, log } = context;
    this.#context = context;
    this.#head = head;
    this.#machines = machines;
    this.provider = machines.provider;
    this.settings = settings;
    this.stopFile = join(homedir(), stopRequestFile(folder.name));
    if (machines.endHead !== undefined) this.leave = async (left, signal) => machines.endHead?.(left, signal);

    const token = rayToken(folder.name);
    const archives = new Archives({
      clusterId: head.id,
      kept: new KeptArchives({
        folder: folder.files.archives,
        clock,
        needed: () => this.engine.archives(),
      }),
      nodes: (signal) => this.starter.runningPlaces(signal),
      events,
    });
    this.engine = this.#makeEngine(token, archives);
    this.starter = new RayNodes({ context, token, machines, engine: this.engine, archives });
    this.ray = rayFront({
      engine: this.engine,
      dashboardPort: head.dashboardPort,
      head: head.address,
      ...(token !== undefined && { token }),
    });
    this.#files = new WorkerFiles({
      record: folder.files.workerFiles,
      clock,
      events,
      files: () => this.starter.workerFiles(),
      continuously: () => spec().files.syncContinuously,
      workers: (signal) => this.starter.runningWorkers(signal),
      bring: (instance, signal) => this.starter.bringFiles(instance, signal),
    });
    const ending = this.#ending.signal;
    this.#reports = new RayReports({ engine: this.engine, clock, spec, log, ending });
    this.#suspects = new Suspects({
      nodeTable: (signal) => this.engine.nodeTable(signal),
      events,
      wake: () => context.wake(),
      ending,
    });
  }

  complete(spec: ClusterSpec): ClusterSpec {
    return this.#machines.complete(withLaunchHashes(spec, rayHeadOf(this.#context.folder)));
  }

  addressOf(machine: string): string | undefined {
    return this.#machines.addressOf(machine);
  }

  rest(machine: string): void {
    this.#machines.rest?.(machine);
  }

  reloaded(): void {
    this.#machines.reloaded?.();
    this.#files.look();
  }

  async keep(signal: AbortSignal): Promise<void> {
    const { folder, clock, events, spec } = this.#context;
    const leases = {
      cluster: folder.name,
      provider: this.provider,
      seen: async (during: AbortSignal) => workersIn(await this.engine.nodeTable(during)),
      hostOf: (instance: ProviderInstance) => this.#machines.hostOf(instance),
      clock,
      events,
      lasts: () => spec().provider.manta.lease,
    };
    const head = {
      cluster: folder.name,
      clock,
      events,
      head: () => rayHeadOf(folder),
      start: (during: AbortSignal) => this.starter.startHead(during),
      node: (during: AbortSignal) => headNode(this.engine, during),
    };
    await Promise.all([
      this.#machines.keep(signal),
      this.#files.keep(signal),
      keepLeases(leases, signal),
      keepRayHead(head, signal),
    ]);
  }

  onPass(status: () => ClusterStatus, plan: Plan): void {
    const now = status();
    this.#reports.pass(now, plan);
    this.#suspects.pass(now);
  }

  onEvent<Data>(kind: EventKind<Data>, data: Data): void {
    this.#reports.hear(kind, data);
    this.#suspects.hear(kind, data);
  }

  activity(signal: AbortSignal): Promise<readonly Activity[]> {
    return rayActivity(this.engine, this.#context.folder.name, signal);
  }

  tell(text: string, signal: AbortSignal): Promise<unknown> {
    return this.engine.tellDrivers([{ level: 'warn', text, at: this.#context.clock.now() }], signal);
  }

  async turnOff(signal: AbortSignal): Promise<Cleared> {
    const { folder, clock, spec } = this.#context;
    const machines = this.#machines;
    const workers = await (machines.endWorkers?.(signal) ??
      clearInstances(this.provider, { clock, settles: machines.settles?.() ?? 0 }, signal));
    const here = { cluster: folder.name, containers: containersOf(spec()), clusterId: this.#head.id };
    const own = await clearHosts([byConnection(thisHost(), signal)], here, signal);
    // A machine that goes is started again until it has gone, and takes with it what is left on it.
    if (machines.endHead !== undefined) return { ended: [...workers.ended, ...own.ended], left: workers.left };
    await thisHost().sh(`cd "$HOME" || exit 0\n${removeBootText(folder.name)}`, { signal });
    return { ended: [...workers.ended, ...own.ended], left: [...workers.left, ...own.left] };
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await this.#machines.close();
    await this.engine.close();
  }

  #makeEngine(token: string | undefined, archives: Archives): RayEngine {
    const { folder, clock, events } = this.#context;
    const { address, gcsPort, dashboardPort } = this.#head;
    return new RayEngine({
      address: hostPort(address, gcsPort),
      dashboard: `http://127.0.0.1:${dashboardPort}`,
      ...(token !== undefined && { token }),
      tls: (before) => tlsOfGcs(gcsPort, before),
      folder: makeFolder(folder.files.attempts),
      clock,
      events,
      shipArchive: (archive, signal) => archives.ship(archive, signal),
      shippedArchive: (name, signal) => archives.shipped(name, signal),
      append: async (path, text, signal) => {
        const place = this.starter.headPlace();
        if (place.kind === 'host') return false;
        const write = `mkdir -p ${shellQuoted(dirname(path))} && printf %s ${shellQuoted(text)} >>${shellQuoted(path)}`;
        return (await thisHost().sh(bashAt(place, write), { signal })).code === 0;
      },
    });
  }
}

/**
 * Own machines are listed from this disk: such lists do not lag. Each host has a rest of its own after a failure, and to
 * ask for one costs nobody anything.
 */
const settingsFor = (inCloud: boolean, spec: () => ClusterSpec): Partial<LoopSettings> => ({
  batchIdle: 20,
  batchMax: 500,
  bootSweep: 1_000,
  demandLag: 1_000,
  callDeadline: 60_000,
  timeouts: {
    ...loopSettings.timeouts,
    ...(!inCloud && { absent: 2_000 }),
    get settingUp() {
      return spec().provider.manta.setupTimeout ?? loopSettings.timeouts.settingUp;
    },
  },
  ...(!inCloud && {
    listLag: 2_000,
    refusals: {
      first: { ...loopSettings.refusals.first, 'no-capacity': 5_000, denied: 15_000, 'setup-failed': 0 },
      longest: 120_000,
    },
  }),
});

/** What Ray knows of the machines under its nodes. */
const workersIn = (nodes: readonly RayNodeInfo[]): readonly ProviderInstance[] =>
  nodes.flatMap(({ instance, address, type = '', alive, head }) =>
    instance === undefined || !alive || head
      ? []
      : [
          {
            id: instance,
            launchToken: '',
            type,
            kind: 'worker',
            state: 'running',
            launchedAt: 0,
            tags: {},
            address: { inside: address },
          },
        ],
  );

const hostPort = (address: string, port: number): string =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
