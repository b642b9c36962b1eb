import { randomBytes } from 'node:crypto';
import { copyFile, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventSink } from '../../../base/events.ts';
import { makeFolder, moveDurably } from '../../../base/files/durable.ts';
import type { Host } from '../../../base/host.ts';
import { Slots } from '../../../base/ssh/slots.ts';
import type { Duration } from '../../../base/time/clock.ts';
import type { CommandPlace } from '../../../bringup/node/node.ts';
import { type Cargo, cargoFolder, carryFiles } from '../../../bringup/sync/carry.ts';
import type { ShipArchive } from '../../../engines/ray/jobs/packages.ts';
import { headEvents } from '../../events.ts';

export interface ArchivesEdges {
  readonly clusterId: string;
  /** Where they are kept for nodes that come later. */
  readonly folder: string;
  /** Every node that runs, the head's host too. */
  readonly nodes: (signal: AbortSignal) => Promise<readonly NodeToBring[]>;
  readonly events: EventSink;
}

interface NodeToBring {
  readonly host: Host;
  readonly place: CommandPlace;
}

/** One that no job has asked for in this long is forgotten. */
const keptFor: Duration = 7 * 24 * 3_600_000;
const nodesAtOnce = 8;

/** Packages that are too large for Ray's own store, on the disk of every node. */
export class Archives {
  readonly #edges: ArchivesEdges;

  constructor(edges: ArchivesEdges) {
    this.#edges = edges;
  }

  async ship({ path, name }: Parameters<ShipArchive>[0], signal: AbortSignal): Promise<string> {
    const { folder } = this.#edges;
    makeFolder(folder);
    const draft = join(folder, `${name}.${randomBytes(4).toString('hex')}.new`);
    await copyFile(path, draft);
    await moveDurably(draft, join(folder, name));
    await this.#forget(Date.now() - keptFor);
    return await this.#everywhere(name, signal);
  }

  /** Of one that is kept; nodes that have lost it get it again. */
  async shipped(name: string, signal: AbortSignal): Promise<string | undefined> {
    const now = new Date();
    const isKept = await utimes(join(this.#edges.folder, name), now, now).then(
      () => true,
      () => false,
    );
    return isKept ? await this.#everywhere(name, signal) : undefined;
  }

  /** All that are kept; for a node that comes, before Ray is started there. */
  async bringTo(host: Host, place: CommandPlace, signal: AbortSignal): Promise<void> {
    const files = await this.#kept();
    if (files.length === 0) return;
    await host.connect({ signal, within: 60_000 });
    await carryFiles(host, this.#edges.clusterId, place, files, signal);
  }

  /** A node that cannot be reached is left out: the job may run elsewhere. */
  async #everywhere(name: string, signal: AbortSignal): Promise<string> {
    const { clusterId, nodes, events } = this.#edges;
    const slots = new Slots(nodesAtOnce);
    const bring = async ({ host, place }: NodeToBring): Promise<void> => {
      await this.bringTo(host, place, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        events.emit(headEvents.packageNotCarried, { node: host.name, detail: (error as Error).message });
      });
    };
    await Promise.all((await nodes(signal)).map((node) => slots.use(signal, () => bring(node))));
    return `${cargoFolder(clusterId)}/${name}`;
  }

  async #kept(): Promise<readonly Cargo[]> {
    const { folder } = this.#edges;
    const names = (await readdir(folder).catch(() => [])).filter((name) => !name.endsWith('.new'));
    return Promise.all(
      names.map(async (name) => ({ path: join(folder, name), bytes: (await stat(join(folder, name))).size })),
    );
  }

  async #forget(before: number): Promise<void> {
    for (const { path } of await this.#kept()) if ((await stat(path)).mtimeMs < before) await rm(path, { force: true });
  }
}
