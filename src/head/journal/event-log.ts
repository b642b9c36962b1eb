import type { EventAnswer } from '../../api/types.ts';
import type { EventKind, EventSink, Level } from '../../base/events.ts';
import { ownValue } from '../../base/own-value.ts';
import { redact } from '../../base/redact.ts';
import type { Database, Migration } from '../../base/sqlite/sqlite.ts';
import type { Instant } from '../../base/time/clock.ts';

export const eventMigration: Migration = (sql) => {
  sql.exec(
    'CREATE TABLE events (seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, code TEXT NOT NULL, level TEXT NOT NULL, text TEXT NOT NULL, data TEXT NOT NULL)',
  );
};

const eventsKept = 20_000;
/** Events of this long share one commit: they come in hundreds, and nobody waits for one. */
const gatheredFor = 25;

export interface EventLog extends EventSink {
  after(seq: number, limit: number): EventAnswer[];
  /** The newest, oldest first. */
  last(limit: number): EventAnswer[];
  watch(listener: (event: EventAnswer) => void): () => void;
  /** Keeps what has been said so far. */
  close(): Promise<void>;
}

/** Everything mantad says of itself, kept for `manta events`, the page and `why`. Debug talk is not kept. */
export function openEventLog(database: Database, now: () => Instant, failed: (error: unknown) => void): EventLog {
  const listeners = new Set<(event: EventAnswer) => void>();
  const top = database.prepare('SELECT coalesce(max(seq), 0) AS seq FROM events').get();
  let seq = Number(top?.['seq'] ?? 0);

  let waiting: { readonly event: EventAnswer; readonly data: string }[] = [];
  let timer: NodeJS.Timeout | undefined;

  const keep = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    try {
      await database.write(() => {
        for (const { event, data } of batch) insert(event, data);
      });
    } catch (error) {
      failed(error);
    }
    // Only now: a number that was told and is lost in a crash would be given to another event.
    for (const { event } of batch) for (const listener of listeners) listener(event);
  };
  const insert = (event: EventAnswer, data: string): void => {
    database
      .prepare('INSERT INTO events (seq, at, code, level, text, data) VALUES (?, ?, ?, ?, ?, ?)')
      .run(event.seq, event.at, event.code, event.level, event.text, data);
    if (event.seq % 1_000 === 0) database.prepare('DELETE FROM events WHERE seq <= ?').run(event.seq - eventsKept);
  };

  return {
    emit<Data>(kind: EventKind<Data>, data: Data) {
      if (kind.level === 'debug') return;
      const event: EventAnswer = {
        seq: ++seq,
        at: now(),
        code: kind.code,
        level: kind.level,
        // Everybody with a token reads these.
        text: redact(kind.text(data)),
        ...subjects(data),
      };
      waiting.push({ event, data: JSON.stringify(data) });
      timer ??= setTimeout(() => void keep(), gatheredFor);
    },
    after: (from, limit) =>
      database.prepare('SELECT * FROM events WHERE seq > ? ORDER BY seq LIMIT ?').all(from, limit).map(answerOf),
    last: (limit) =>
      database.prepare('SELECT * FROM events ORDER BY seq DESC LIMIT ?').all(limit).toReversed().map(answerOf),
    watch(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: keep,
  };
}

function answerOf(row: Record<string, unknown>): EventAnswer {
  return {
    seq: Number(row['seq']),
    at: Number(row['at']),
    code: String(row['code']),
    level: String(row['level']) as Level,
    text: String(row['text']),
    ...subjects(JSON.parse(String(row['data']))),
  };
}

const told = ['job', 'instance', 'type', 'host', 'node', 'failure'] as const;

/** What an event is about, where its data says so. */
function subjects(data: unknown): Pick<EventAnswer, (typeof told)[number]> {
  const fields = (data ?? {}) as Record<string, unknown>;
  return Object.fromEntries(
    told.flatMap((name) => {
      const value = ownValue(fields, name);
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}
