import type { Context } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { ClusterAnswer, EventAnswer, NodeAnswer, StreamKind } from '../../api/types.ts';
import { rowText } from '../../jobs/manta-api/rows.ts';
import type { Head } from '../head.ts';
import { samplePoint } from '../observer.ts';

const nodesEvery = 500;
const clusterEvery = 1_000;
const aliveEvery = 15_000;
/** A reader that has not taken this many messages, or this much of rows, is cut off; it comes back and resumes. */
const longestQueue = 5_000;
const mostUnsent = 2 << 20;

/**
 * What waits to be sent: events as objects and rows as texts, which all streams share, so that a reader that does not read
 * holds little more than references.
 */
interface Message {
  readonly event: StreamKind;
  readonly data: string | object;
  readonly id?: string;
}

/** Everything the page follows, in one stream. Events resume after the last id; the rest is state and starts whole. */
export function openStream(
  c: Context,
  head: Pick<Head, 'events' | 'queue' | 'watch' | 'sight'>,
  from: number | undefined,
  answers: { readonly cluster: () => ClusterAnswer; readonly nodes: () => readonly NodeAnswer[] },
): Response {
  const resumed = c.req.header('last-event-id');
  const after = resumed !== undefined && /^\d{1,15}$/.test(resumed) ? Number(resumed) : from;
  return streamSSE(c, async (stream) => {
    const waiting: Message[] = [];
    let unsent = 0;
    /** State that has changed: made when it can be sent, so that there is never more than the newest of it. */
    const changed = new Map<StreamKind, () => object>();
    let wake = Promise.withResolvers<void>();
    const push = (message: Message): void => {
      waiting.push(message);
      unsent += lengthOf(message);
      if (waiting.length > longestQueue || unsent > mostUnsent) stream.abort();
      wake.resolve();
    };
    const tell = (event: EventAnswer): void => push({ event: 'event', data: event, id: String(event.seq) });
    const send = async ({ data, ...rest }: Message): Promise<void> =>
      stream.writeSSE({ ...rest, data: typeof data === 'string' ? data : JSON.stringify(data) });
    const throttled = (period: number, work: () => void): (() => void) => {
      let timer: NodeJS.Timeout | undefined;
      let due = 0;
      stops.push(() => clearTimeout(timer));
      return () => {
        if (timer !== undefined) return;
        timer = setTimeout(
          () => {
            timer = undefined;
            due = performance.now() + period;
            work();
            wake.resolve();
          },
          Math.max(0, due - performance.now()),
        );
      };
    };
    const stops: (() => void)[] = [];
    const nodes = throttled(nodesEvery, () => changed.set('nodes', answers.nodes));
    const cluster = throttled(clusterEvery, () => {
      changed.set('cluster', answers.cluster);
      push({ event: 'sample', data: samplePoint(head.sight()) });
    });

    stops.push(head.events.watch(tell));
    for (const event of after === undefined ? head.events.last(100) : head.events.after(after, 2_000)) tell(event);
    stops.push(
      head.watch(() => {
        nodes();
        cluster();
      }),
      head.queue.watch((changes) => {
        for (const { after: job } of changes) if (job !== undefined) push({ event: 'job', data: rowText(job) });
        cluster();
      }),
    );
    nodes();
    cluster();
    const alive = setInterval(() => wake.resolve(), aliveEvery);
    stream.onAbort(() => wake.resolve());
    try {
      while (!stream.aborted && !stream.closed) {
        if (waiting.length === 0 && changed.size === 0) await wake.promise;
        wake = Promise.withResolvers<void>();
        const batch = waiting.splice(0);
        const states = [...changed];
        changed.clear();
        if (batch.length === 0 && states.length === 0) await stream.write(': alive\n\n');
        for (const message of batch) {
          if (stream.aborted) break;
          await send(message);
          unsent -= lengthOf(message);
        }
        for (const [event, make] of states) if (!stream.aborted) await send({ event, data: make() });
      }
    } finally {
      clearInterval(alive);
      for (const stop of stops) stop();
    }
  });
}

const lengthOf = ({ data }: Message): number => (typeof data === 'string' ? data.length : 0);
