import { autoscalerEvents } from '../../../autoscaler/events.ts';
import type { EventKind, EventSink } from '../../../base/events.ts';
import type { ClusterStatus, StatusNode } from '../../../core/status/status.ts';
import type { RayNodeInfo } from '../../../engines/ray/gcs/gcs.ts';
import { headEvents } from '../../events.ts';
import { RayletLines } from './raylet-lines.ts';

export interface SuspectsEdges {
  readonly nodeTable: (signal: AbortSignal) => Promise<readonly RayNodeInfo[]>;
  readonly events: EventSink;
  /** Something is suspect: the provider and Ray are to be asked. */
  readonly wake: () => void;
  readonly ending: AbortSignal;
}

/**
 * Nodes whose raylet or machine no longer answers, seconds after it went. A suspicion ends nothing: the provider or Ray has
 * to confirm it.
 */
export class Suspects {
  readonly #edges: SuspectsEdges;
  readonly #lines: RayletLines;
  #nodes: ReadonlyMap<string, StatusNode> = new Map();
  /** Instances whose end was decided. */
  readonly #leaving = new Set<string>();
  /** The nodes of the last look, the head's too. */
  #followed: ReadonlySet<string> = new Set();
  #looking = false;

  constructor(edges: SuspectsEdges) {
    this.#edges = edges;
    const { events, wake } = edges;
    this.#lines = new RayletLines({
      suspect: (node, why) => {
        const { instance, type } = this.#nodes.get(node) ?? { instance: node, type: '' };
        events.emit(headEvents.nodeSuspect, { instance, type, why });
        wake();
      },
      back: (node) => {
        const { instance, type } = this.#nodes.get(node) ?? { instance: node, type: '' };
        events.emit(headEvents.nodeBack, { instance, type });
      },
    });
    edges.ending.addEventListener('abort', () => this.#lines.close(), { once: true });
  }

  /** After each pass: the nodes that there are. */
  pass({ active, idle }: Pick<ClusterStatus, 'active' | 'idle'>): void {
    const nodes = [...active, ...idle];
    this.#nodes = new Map(nodes.map((node) => [node.id, node]));
    const there = new Set(nodes.map(({ instance }) => instance));
    for (const instance of this.#leaving) if (!there.has(instance)) this.#leaving.delete(instance);
    const wanted = this.#wanted();
    if (wanted.size === this.#followed.size && [...wanted].every((node) => this.#followed.has(node))) return;
    if (this.#looking) return;
    this.#looking = true;
    void this.#look().finally(() => {
      this.#looking = false;
    });
  }

  hear<Data>(kind: EventKind<Data>, data: Data): void {
    const { instance } = data as { readonly instance?: string };
    if (instance === undefined) return;
    if (kind.code === autoscalerEvents.drainRefused.code) this.#leaving.delete(instance);
    if (kind.code !== autoscalerEvents.ended.code) return;
    this.#leaving.add(instance);
    for (const node of this.#nodes.values()) if (node.instance === instance) this.#lines.leave(node.id);
  }

  #wanted(): ReadonlySet<string> {
    const stay = [...this.#nodes.values()].filter(({ instance }) => !this.#leaving.has(instance));
    return new Set(stay.map(({ id }) => id));
  }

  async #look(): Promise<void> {
    const { nodeTable, ending } = this.#edges;
    const table = await nodeTable(ending).catch(() => undefined);
    if (table === undefined || ending.aborted) return;
    const wanted = this.#wanted();
    this.#followed = wanted;
    // The head's own is looked after by the keeper of the head.
    const workers = table.filter(({ id, alive, head }) => alive && !head && wanted.has(id));
    this.#lines.follow(workers.map(({ id, address, rayletPort }) => ({ node: id, address, port: rayletPort })));
  }
}
