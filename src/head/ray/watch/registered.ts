import type { EventSink } from '../../../base/events.ts';
import type { Clock, Duration } from '../../../base/time/clock.ts';
import { bringupErrors } from '../../../bringup/errors.ts';
import type { RayNodeInfo } from '../../../engines/ray/gcs/gcs.ts';
import type { ProviderInstance } from '../../../providers/provider.ts';
import { headEvents } from '../../events.ts';

export interface RegisteringEdges {
  readonly nodeTable: (signal: AbortSignal) => Promise<readonly RayNodeInfo[]>;
  readonly clock: Clock;
  readonly events: EventSink;
}

const lookEvery: Duration = 250;
const suspectAfter: Duration = 10_000;
const givenUpAfter: Duration = 90_000;

/**
 * Resolves when Ray shows a node on an instance whose Ray was started: at once, where nothing is wrong. Told of after
 * seconds, and an error after a minute and a half in which the head answered.
 */
export async function registered(
  { id, type, address }: ProviderInstance,
  { nodeTable, clock, events }: RegisteringEdges,
  signal: AbortSignal,
): Promise<void> {
  let waited = 0;
  let told = false;
  let death: string | undefined;
  for (let last = clock.now(); ; last = clock.now()) {
    const table = await nodeTable(signal).catch(() => undefined);
    const nodes = table?.filter(({ instance }) => instance === id) ?? [];
    if (nodes.some(({ alive }) => alive)) return;
    death = nodes.at(-1)?.death?.message ?? death;
    // A head that does not answer says nothing about its workers.
    if (table !== undefined) waited += Math.min(clock.now() - last + lookEvery, 2_000);
    if (waited >= suspectAfter && !told) {
      told = true;
      events.emit(headEvents.nodeSuspect, {
        instance: id,
        type,
        why: 'Ray was started there, but the node did not join',
      });
    }
    if (waited >= givenUpAfter)
      throw bringupErrors.NeverRegistered({
        node: address?.inside ?? id,
        instance: id,
        seconds: givenUpAfter / 1_000,
        death,
      });
    await clock.sleep(lookEvery, signal);
  }
}
