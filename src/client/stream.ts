import type { EventAnswer, StreamKind } from '../api/types.ts';
import type { EventSink } from '../base/events.ts';
import { readServerEvents } from '../base/network/sse.ts';
import type { HttpClient } from './http.ts';
import { readPersistently } from './persistent.ts';

/** As many as the head gives at once. */
const mostEvents = 2_000;
/** The head says something every 15 s. */
const silence = 45_000;

export interface StreamMessage {
  readonly kind: StreamKind;
  readonly data: unknown;
}

/** The newest events, oldest first. */
export async function lastEvents(http: HttpClient): Promise<EventAnswer[]> {
  const { events } = await http.json<{ events: EventAnswer[] }>('GET', '/api/manta/v1/events', {
    query: { limit: mostEvents },
  });
  return events;
}

/** Everything that happens in the cluster after the event `after`, each event once, for as long as somebody reads. */
export function readStream(
  http: HttpClient,
  after: number,
  { signal, events }: { readonly signal: AbortSignal; readonly events: EventSink },
): AsyncGenerator<StreamMessage, never> {
  let last = after;
  return readPersistently<StreamMessage, never>(
    async function* (opened) {
      const answer = await http.send('GET', '/api/manta/v1/stream', {
        headers: { accept: 'text/event-stream', 'last-event-id': String(last) },
        silence,
      });
      opened();
      for await (const message of readServerEvents(answer.pieces())) {
        const seq = Number(message.id);
        if (message.event === 'event' && seq <= last) continue;
        if (message.event === 'event') last = seq;
        yield { kind: message.event as StreamKind, data: JSON.parse(message.data) as unknown };
      }
      return undefined;
    },
    { signal, events, address: () => http.shown },
  );
}
