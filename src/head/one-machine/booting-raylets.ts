import type { Clock, Duration } from '../../base/time/clock.ts';
import { steadyClock } from '../../base/time/steady-clock.ts';
import type { RayNodeInfo } from '../../engines/ray/gcs/gcs.ts';
import type { Provider, ProviderInstance } from '../../providers/provider.ts';
import type { LastWords } from '../../state/last-words.ts';
import { headErrors } from '../errors.ts';

export interface RayletEdges {
  readonly list: Provider['list'];
  readonly nodeTable: (signal: AbortSignal) => Promise<readonly RayNodeInfo[]>;
  readonly lastWords: (instance: string) => LastWords | undefined;
  readonly clock: Clock;
  readonly ending: AbortSignal;
}

/** Who did not answer is undefined. */
interface Look {
  readonly nodes: readonly RayNodeInfo[] | undefined;
  readonly instances: readonly ProviderInstance[] | undefined;
}

const lookEvery: Duration = 1_000;

/** Follows processes that are to become nodes. Ray and the provider are asked once for all of them. */
export class BootingRaylets {
  readonly #edges: RayletEdges;
  readonly #clock: Clock;
  #next: Promise<Look> | undefined;
  #begunAt = Number.NEGATIVE_INFINITY;

  constructor(edges: RayletEdges) {
    this.#edges = edges;
    this.#clock = steadyClock(edges.clock);
  }

  /**
   * Until Ray shows the node. Rejects with what it said when it has failed on the way; one that only takes long is for the
   * autoscaler to judge.
   */
  async registered({ id }: ProviderInstance, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const aborted = Promise.withResolvers<never>();
    const abort = (): void => aborted.reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      for (;;) {
        const { nodes, instances } = await Promise.race([this.#look(), aborted.promise]);
        if (nodes?.some(({ instance, alive }) => instance === id && alive)) return;
        const found = instances?.find((each) => each.id === id);
        if (instances === undefined || (found !== undefined && found.state !== 'stopping')) continue;
        const words = this.#edges.lastWords(id);
        // One that was told to end, or was killed, has not failed; that it is gone, its provider tells.
        if (!words?.failed) return;
        throw headErrors.NodeEnded({ instance: id, detail: words.text });
      }
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /** The next look to begin: an earlier one may be from before the instance was there. */
  #look(): Promise<Look> {
    this.#next ??= this.#lookInTime();
    return this.#next;
  }

  async #lookInTime(): Promise<Look> {
    const { list, nodeTable, ending } = this.#edges;
    await this.#clock.sleep(Math.max(0, this.#begunAt + lookEvery - this.#clock.now()), ending);
    this.#next = undefined;
    this.#begunAt = this.#clock.now();
    const [nodes, instances] = await Promise.all([
      nodeTable(ending).catch(() => undefined),
      list(ending).catch(() => undefined),
    ]);
    ending.throwIfAborted();
    return { nodes, instances };
  }
}
