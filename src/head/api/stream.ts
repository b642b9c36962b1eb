import type { Context } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { ClusterAnswer, EventAnswer, NodeAnswer, StreamKind } from '../../api/types.ts';
import { rowOf } from '../../jobs/manta-api/rows.ts';
import type { Head } from '../head.ts';
import { samplePoint } from '../observer.ts';

const nodesEvery = 500;
const clusterEvery = 1_000;
const aliveEvery = 15_000;
/** A reader that has not taken this many messages is cut off; it comes back and resumes. */
const longestQueue = 5_000;

/** Everything the page follows, in one stream. Events resume after the last id; the rest is state and starts whole. */
export function openStream(
  c: Context,
  head: Head,
  from: number | undefined,
  answers: { readonly cluster: () => ClusterAnswer; readonly nodes: () => readonly NodeAnswer[] },
): Response {
  const resumed = c.req.header('last-event-id');
  const after = resumed !== undefined && /^\d{1,15}$/.test(resumed) ? Number(resumed) : from;
  return streamSSE(c, async (stream) => {
    const waiting: { event: StreamKind; data: string; id?: string }[] = [];
    let wake = Promise.withResolvers<void>();
    const push = (event: StreamKind, value: unknown, id?: string): void => {
      waiting.push({ event, data: JSON.stringify(value), ...(id !== undefined && { id }) });
      if (waiting.length > longestQueue) stream.abort();
      wake.resolve();
    };
    const tell = (event: EventAnswer): void => push('event', event, String(event.seq));
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
          },
          Math.max(0, due - performance.now()),
        );
      };
    };
    const stops: (() => void)[] = [];
    const nodes = throttled(nodesEvery, () => push('nodes', answers.nodes()));
    const cluster = throttled(clusterEvery, () => {
      push('cluster', answers.cluster());
      push('sample', samplePoint(head.sight()));
    });

    stops.push(head.events.watch(tell));
    for (const event of after === undefined ? head.events.last(100) : head.events.after(after, 2_000)) tell(event);
    stops.push(
      head.watch(() => {
        nodes();
        cluster();
      }),
      head.queue.watch((changes) => {
        for (const { after: job } of changes) if (job !== undefined) push('job', rowOf(job));
        cluster();
      }),
    );
    nodes();
    cluster();
    const alive = setInterval(() => wake.resolve(), aliveEvery);
    stream.onAbort(() => wake.resolve());
    try {
      while (!stream.aborted && !stream.closed) {
        if (waiting.length === 0) await wake.promise;
        wake = Promise.withResolvers<void>();
        const batch = waiting.splice(0);
        if (batch.length === 0) await stream.write(': alive\n\n');
        for (const message of batch) await stream.writeSSE(message);
      }
    } finally {
      clearInterval(alive);
      for (const stop of stops) stop();
    }
  });
}
