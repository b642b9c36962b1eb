import type { Context } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import type { ClusterAnswer, EventAnswer, NodeAnswer, StreamKind } from '../../api/types.ts';
import { rowText } from '../../jobs/manta-api/rows.ts';
import type { Head } from '../head.ts';
import { samplePoint } from '../report/observer.ts';

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

interface StreamAnswers {
  readonly cluster: () => ClusterAnswer;
  readonly nodes: () => readonly NodeAnswer[];
}

/** Everything the page follows, in one stream. Events resume after the last id; the rest is state and starts whole. */
export function openStream(
  c: Context,
  head: Pick<Head, 'events' | 'queue' | 'watch' | 'sight'>,
  from: number | undefined,
  answers: StreamAnswers,
): Response {
  const resumed = c.req.header('last-event-id');
  const after = resumed !== undefined && /^\d{1,15}$/.test(resumed) ? Number(resumed) : from;
  return streamSSE(c, async (stream) => {
    const outbox = new Outbox(stream);
    const stops = follow(head, after, answers, outbox);
    try {
      await outbox.send();
    } finally {
      for (const stop of stops) stop();
    }
  });
}

/** Puts all that happens into the outbox, until every one of the functions it returns was called. */
function follow(
  head: Pick<Head, 'events' | 'queue' | 'watch' | 'sight'>,
  after: number | undefined,
  answers: StreamAnswers,
  outbox: Outbox,
): readonly (() => void)[] {
  const tell = (event: EventAnswer): void => outbox.push({ event: 'event', data: event, id: String(event.seq) });
  const nodes = new Throttle(nodesEvery, () => outbox.changed('nodes', answers.nodes));
  const cluster = new Throttle(clusterEvery, () => {
    outbox.changed('cluster', answers.cluster);
    outbox.push({ event: 'sample', data: samplePoint(head.sight()) });
  });
  const unwatch = head.events.watch(tell);
  for (const event of after === undefined ? head.events.last(100) : head.events.after(after, 2_000)) tell(event);
  const stops = [
    unwatch,
    head.watch(() => {
      nodes.ask();
      cluster.ask();
    }),
    head.queue.watch((changes) => {
      for (const { after: job } of changes) if (job !== undefined) outbox.push({ event: 'job', data: rowText(job) });
      cluster.ask();
    }),
    () => nodes.stop(),
    () => cluster.stop(),
  ];
  nodes.ask();
  cluster.ask();
  return stops;
}

/** Does its work soon after it was asked to, and at most once in a period. */
class Throttle {
  readonly #period: number;
  readonly #work: () => void;
  #timer: NodeJS.Timeout | undefined;
  #due = 0;

  constructor(period: number, work: () => void) {
    this.#period = period;
    this.#work = work;
  }

  ask(): void {
    this.#timer ??= setTimeout(() => this.#act(), Math.max(0, this.#due - performance.now()));
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #act(): void {
    this.#timer = undefined;
    this.#due = performance.now() + this.#period;
    this.#work();
  }
}

/** What waits to be sent on one stream. */
class Outbox {
  readonly #stream: SSEStreamingApi;
  readonly #waiting: Message[] = [];
  #unsent = 0;
  /** State that has changed: made when it can be sent, so that there is never more than the newest of it. */
  readonly #changed = new Map<StreamKind, () => object>();
  #wake = Promise.withResolvers<void>();

  constructor(stream: SSEStreamingApi) {
    this.#stream = stream;
  }

  push(message: Message): void {
    this.#waiting.push(message);
    this.#unsent += lengthOf(message);
    if (this.#waiting.length > longestQueue || this.#unsent > mostUnsent) this.#stream.abort();
    this.#wake.resolve();
  }

  changed(kind: StreamKind, make: () => object): void {
    this.#changed.set(kind, make);
    this.#wake.resolve();
  }

  /** Until the reader has gone. */
  async send(): Promise<void> {
    const stream = this.#stream;
    const alive = setInterval(() => this.#wake.resolve(), aliveEvery);
    stream.onAbort(() => this.#wake.resolve());
    try {
      while (!stream.aborted && !stream.closed) {
        if (this.#waiting.length === 0 && this.#changed.size === 0) await this.#wake.promise;
        this.#wake = Promise.withResolvers<void>();
        await this.#sendBatch();
      }
    } finally {
      clearInterval(alive);
    }
  }

  async #sendBatch(): Promise<void> {
    const stream = this.#stream;
    const batch = this.#waiting.splice(0);
    const states = [...this.#changed];
    this.#changed.clear();
    if (batch.length === 0 && states.length === 0) await stream.write(': alive\n\n');
    for (const message of batch) {
      if (stream.aborted) break;
      await this.#sendOne(message);
      this.#unsent -= lengthOf(message);
    }
    for (const [event, make] of states) if (!stream.aborted) await this.#sendOne({ event, data: make() });
  }

  async #sendOne({ data, ...rest }: Message): Promise<void> {
    await this.#stream.writeSSE({ ...rest, data: typeof data === 'string' ? data : JSON.stringify(data) });
  }
}

const lengthOf = ({ data }: Message): number => (typeof data === 'string' ? data.length : 0);
