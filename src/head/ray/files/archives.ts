import type { EventSink } from '../../../base/events.ts';
import type { Host } from '../../../base/host.ts';
import { Slots } from '../../../base/ssh/slots.ts';
import type { CommandPlace } from '../../../bringup/node/node.ts';
import { cargoFolder, carryFiles } from '../../../bringup/sync/carry.ts';
import type { ShipArchive } from '../../../engines/ray/jobs/packages.ts';
import { headEvents } from '../../events.ts';
import type { KeptArchives } from './kept-archives.ts';

export interface ArchivesEdges {
  readonly clusterId: string;
  /** For nodes that come later. */
  readonly kept: KeptArchives;
  /** Every node that runs, the head's host too. */
  readonly nodes: (signal: AbortSignal) => Promise<readonly NodeToBring[]>;
  readonly events: EventSink;
}

interface NodeToBring {
  readonly host: Host;
  readonly place: CommandPlace;
}

const nodesAtOnce = 8;

/** Packages that are too large for Ray's own store, on the disk of every node. */
export class Archives {
  readonly #edges: ArchivesEdges;

  constructor(edges: ArchivesEdges) {
    this.#edges = edges;
  }

  async ship({ path, name }: Parameters<ShipArchive>[0], signal: AbortSignal): Promise<string> {
    await this.#edges.kept.keep(path, name);
    return await this.#everywhere(name, signal);
  }

  /** Of one that is kept; nodes that have lost it get it again. */
  async shipped(name: string, signal: AbortSignal): Promise<string | undefined> {
    const kept = await this.#edges.kept.find(name);
    return kept === undefined ? undefined : await this.#everywhere(name, signal);
  }

  /** All that are kept; for a node that comes, before Ray is started there. */
  async bringTo(host: Host, place: CommandPlace, signal: AbortSignal): Promise<void> {
    const files = await this.#edges.kept.all();
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
}
