import { totalmem } from 'node:os';
import { join } from 'node:path';
import { entryFile } from '../../base/entry.ts';
import { makeFolder } from '../../base/files/durable.ts';
import { RayEngine } from '../../engines/ray/engine.ts';
import { tlsOfGcs } from '../../engines/ray/gcs/gcs-tls.ts';
import type { Provider } from '../../providers/provider.ts';
import type { ThisMachineRecord } from '../../state/cluster-record.ts';
import { lastWords } from '../../state/last-words.ts';
import { openPlace, removePlace, tokenOf } from '../../state/raylet-place.ts';
import type { Backend, BackendContext } from '../backend/backend.ts';
import { processBackend } from '../backend/process-backend.ts';
import { headErrors } from '../errors.ts';
import { headEvents } from '../events.ts';
import { rayFront } from '../gateway/ray-front.ts';
import { KeptArchives } from '../ray/files/kept-archives.ts';
import { RayReports } from '../ray/watch/ray-reports.ts';
import { rayActivity } from '../turn-off/activity.ts';
import { BootingRaylets } from './booting-raylets.ts';

/** Many may start on few cores. */
const longestBoot = 180_000;
const lookEvery = 500;

/** Real Ray on this machine: a head and raylets as processes of this user. */
export async function rayletBackend({ python }: ThisMachineRecord, edges: BackendContext): Promise<Backend> {
  const { folder, clock, events, spec, log } = edges;
  if (python === undefined) throw headErrors.NoRayHere({ name: folder.name });
  const place = await openPlace(folder);
  const token = tokenOf(folder);
  const archives = new KeptArchives({ folder: folder.files.archives, clock, needed: () => engine.archives() });
  const engine: RayEngine = new RayEngine({
    address: `127.0.0.1:${place.gcsPort}`,
    dashboard: `http://127.0.0.1:${place.dashboardPort}`,
    token,
    tls: (before) => tlsOfGcs(place.gcsPort, before),
    folder: makeFolder(folder.files.attempts),
    clock,
    events,
    // All nodes see one disk: an archive that is too large for Ray's store only has to stay where it is, for a while.
    shipArchive: ({ path, name }) => archives.keep(path, name),
    shippedArchive: (name) => archives.find(name),
  });
  const ending = new AbortController();
  const reports = new RayReports({ engine, clock, spec, log, ending: ending.signal });
  const home = join(folder.path, '..', '..');
  const share = objectStoreShare(spec().maxWorkers);
  const backend = await processBackend(edges, {
    command: [process.execPath, entryFile('raylet'), home, folder.name, python.path, String(share)],
    longestBoot,
    lease: spec().provider.manta.lease,
  });
  const { provider } = backend;
  const booting = new BootingRaylets({
    list: (signal) => provider.list(signal),
    nodeTable: (signal) => engine.nodeTable(signal),
    lastWords: (id) => lastWords(folder, id),
    clock,
    ending: ending.signal,
  });
  const head = new HeadWatch(edges, provider, engine);
  return {
    ...backend,
    engine,
    starter: { ...backend.starter, bringUp: (instance, signal) => booting.registered(instance, signal) },
    ray: rayFront({ engine, dashboardPort: place.dashboardPort, head: '127.0.0.1', token }),
    // Ray's nodes are up to a second late in telling what runs on them.
    settings: { ...backend.settings, demandLag: 1_000, batchIdle: 20, batchMax: 500 },
    ready: () => head.ready,
    keep: async (signal) => {
      await Promise.all([head.keep(signal), backend.keep(signal)]);
    },
    onPass: (status, plan) => reports.pass(status(), plan),
    onEvent: (kind, data) => reports.hear(kind, data),
    activity: (signal) => rayActivity(engine, folder.name, signal),
    tell: (text, signal) => engine.tellDrivers([{ level: 'warn', text, at: clock.now() }], signal),
    turnOff: async (signal) => {
      const cleared = await backend.turnOff(signal);
      if (cleared.left.length === 0) removePlace(folder);
      return cleared;
    },
    close: async () => {
      ending.abort();
      await engine.close();
    },
  };
}

/** Finds out when jobs can run on a head, and says so when one is lost. */
class HeadWatch {
  readonly #context: BackendContext;
  readonly #provider: Pick<Provider, 'list'>;
  readonly #engine: Pick<RayEngine, 'headReady'>;
  #ready = false;
  #current: string | undefined;

  constructor(context: BackendContext, provider: Pick<Provider, 'list'>, engine: Pick<RayEngine, 'headReady'>) {
    this.#context = context;
    this.#provider = provider;
    this.#engine = engine;
  }

  get ready(): boolean {
    return this.#ready;
  }

  async keep(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#look(signal);
      await this.#context.clock.sleep(lookEvery, signal).catch(() => {});
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const listed = await this.#provider.list(signal).catch(() => undefined);
    const heads = listed?.filter(({ kind }) => kind === 'head');
    const head = heads?.find(({ state }) => state !== 'stopping');
    if (heads !== undefined && head?.id !== this.#current) {
      if (this.#current !== undefined) this.#tellEnd(this.#current);
      this.#ready = false;
      this.#current = head?.id;
    }
    if (head?.state === 'running' && !this.#ready)
      this.#ready = await this.#engine.headReady(signal).catch(() => false);
  }

  #tellEnd(head: string): void {
    const { folder, events, log } = this.#context;
    const detail = lastWords(folder, head)?.text;
    if (detail === undefined) return;
    log(`Ray's head ${head} exited: ${detail}`);
    if (this.#ready) events.emit(headEvents.rayGone, { address: '127.0.0.1' });
    else events.emit(headEvents.headTrouble, { detail });
  }
}

/** Ray would take three tenths of the machine for each node; all nodes together get as much. */
function objectStoreShare(maxWorkers: number | undefined): number {
  const share = (totalmem() * 0.3) / ((maxWorkers ?? 8) + 1);
  return Math.floor(Math.min(2 ** 31, Math.max(80_000_000, share)));
}
