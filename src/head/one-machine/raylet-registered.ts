import type { Clock, Duration } from '../../base/clock.ts';
import type { RayNodeInfo } from '../../engines/ray/gcs.ts';
import type { Provider, ProviderInstance } from '../../providers/provider.ts';
import { headErrors } from '../errors.ts';
import type { LastWords } from './last-words.ts';

export interface RayletEdges {
  readonly list: Provider['list'];
  readonly nodeTable: (signal: AbortSignal) => Promise<readonly RayNodeInfo[]>;
  readonly lastWords: (instance: string) => LastWords | undefined;
  readonly clock: Clock;
}

const lookEvery: Duration = 200;

/**
 * Follows a process that is to become a node, until Ray shows it. Rejects with what it said when it has ended on the way; one
 * that only takes long is for the autoscaler to judge.
 */
export async function rayletRegistered(
  { id }: ProviderInstance,
  { list, nodeTable, lastWords, clock }: RayletEdges,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const nodes = await nodeTable(signal).catch(() => []);
    if (nodes.some(({ instance, alive }) => instance === id && alive)) return;
    const found = (await list(signal)).find((each) => each.id === id);
    if (found === undefined || found.state === 'stopping') {
      const words = lastWords(id);
      // One that was told to end, or ended with its head, has not failed; that it is gone, its provider tells.
      if (words === undefined || words.byItself) return;
      throw headErrors.NodeEnded({ instance: id, detail: words.text });
    }
    await clock.sleep(lookEvery, signal);
  }
}
