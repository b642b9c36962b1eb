import { type Journal, refusalKey, type ScalingFact } from '../../autoscaler/journal.ts';
import type { Database, Migration } from '../../base/sqlite/sqlite.ts';
import type { Instant } from '../../base/time/clock.ts';
import { isFinal } from '../../core/lifecycle.ts';

export const scalingMigration: Migration = (sql) => {
  sql.exec(`
    CREATE TABLE scaling_facts (seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, kind TEXT NOT NULL, data TEXT NOT NULL);
    CREATE TABLE scaling_subjects (subject TEXT NOT NULL, seq INTEGER NOT NULL,
      PRIMARY KEY (subject, seq)) WITHOUT ROWID;
    CREATE TABLE scaling_state (key TEXT PRIMARY KEY, seq INTEGER NOT NULL, data TEXT NOT NULL) WITHOUT ROWID;
  `);
};

/** Facts beyond this many are dropped, oldest first; what they led to is kept apart and is never dropped with them. */
const factsKept = 100_000;
/** An ended instance is remembered for this long: a late list may still name its machine. */
const endedKept = 900_000;

export interface ScalingJournal extends Journal {
  /** Facts about an instance, the engine's node on it, or a launch token, oldest first. */
  about(subject: string, limit: number): (ScalingFact & { readonly seq: number })[];
  /** The newest facts of some kinds, of all time or between two instants, oldest first. */
  recent(
    kinds: readonly ScalingFact['kind'][],
    limit: number,
    between?: { readonly since: Instant; readonly until: Instant },
  ): (ScalingFact & { readonly seq: number })[];
}

/**
 * The autoscaler's facts in the head's database. Beside the facts themselves it keeps, in the same transaction, the last
 * one of everything that still matters, so that a start reads as much as there are instances, however old the cluster is.
 */
export function openScalingJournal(database: Database, now: () => Instant): ScalingJournal {
  let written = 0;

  const keep = (key: string, fact: ScalingFact, seq: number): void => {
    database
      .prepare(
        'INSERT INTO scaling_state (key, seq, data) VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET seq = excluded.seq, data = excluded.data',
      )
      .run(key, seq, JSON.stringify(fact));
  };
  const drop = (key: string): void => void database.prepare('DELETE FROM scaling_state WHERE key = ?').run(key);

  const appendOne = (fact: ScalingFact): void => {
    const { lastInsertRowid } = database
      .prepare('INSERT INTO scaling_facts (at, kind, data) VALUES (?, ?, ?)')
      .run(fact.at, fact.kind, JSON.stringify(fact));
    const seq = Number(lastInsertRowid);
    for (const subject of subjectsOf(fact))
      database.prepare('INSERT OR IGNORE INTO scaling_subjects (subject, seq) VALUES (?, ?)').run(subject, seq);
    for (const [key, left] of remains(fact)) {
      if (left === undefined) drop(key);
      else keep(key, left, seq);
    }
    written += 1;
    if (written % 500 === 0) prune();
  };

  const prune = (): void => {
    database
      .prepare('DELETE FROM scaling_subjects WHERE seq <= (SELECT max(seq) FROM scaling_facts) - ?')
      .run(factsKept);
    database.prepare('DELETE FROM scaling_facts WHERE seq <= (SELECT max(seq) FROM scaling_facts) - ?').run(factsKept);
    for (const row of database.prepare("SELECT key, data FROM scaling_state WHERE key LIKE 'instance:%'").all()) {
      const fact = factOf(row['data']) as Extract<ScalingFact, { kind: 'instance' }>;
      if (isFinal(fact.record.status) && now() - fact.record.since > endedKept) drop(String(row['key']));
    }
  };

  return {
    append: (facts) =>
      database.write(() => {
        for (const fact of facts) appendOne(fact);
      }),
    async *read() {
      for (const row of database.prepare('SELECT data FROM scaling_state ORDER BY seq, key').all()) {
        yield factOf(row['data']);
      }
    },
    about: (subject, limit) =>
      rows(
        database
          .prepare(
            'SELECT seq, data FROM scaling_facts WHERE seq IN (SELECT seq FROM scaling_subjects WHERE subject = ?) ORDER BY seq DESC LIMIT ?',
          )
          .all(subject, limit),
      ),
    recent: (kinds, limit, between = { since: 0, until: Number.MAX_SAFE_INTEGER }) =>
      rows(
        database
          .prepare(
            `SELECT seq, data FROM scaling_facts WHERE kind IN (${kinds.map(() => '?').join(', ')}) AND at BETWEEN ? AND ? ORDER BY seq DESC LIMIT ?`,
          )
          .all(...kinds, between.since, between.until, limit),
      ),
  };
}

const rows = (found: readonly Record<string, unknown>[]): (ScalingFact & { readonly seq: number })[] =>
  found.toReversed().map((row) => ({ ...factOf(row['data']), seq: Number(row['seq']) }));

/** Where times stand in a fact. Those of earlier versions are not always whole. */
const timeNames = new Set(['at', 'since', 'until', 'last', 'requestedAt']);
const broken = /"(?:at|since|until|last|requestedAt)":\d+\.\d/;

function factOf(data: unknown): ScalingFact {
  const text = String(data);
  if (!broken.test(text)) return JSON.parse(text) as ScalingFact;
  return JSON.parse(text, (name, value: unknown) =>
    typeof value === 'number' && timeNames.has(name) ? Math.floor(value) : value,
  ) as ScalingFact;
}

/** What `why` may ask a fact for. */
function subjectsOf(fact: ScalingFact): string[] {
  switch (fact.kind) {
    case 'launch':
      return [fact.token, ...fact.records.map((record) => record.id)];
    case 'instance':
    case 'adopted':
    case 'end':
      return [fact.record.id, fact.record.providerId, fact.record.node].filter((subject) => subject !== undefined);
    case 'planned':
      return [fact.fact.instance];
    default:
      return [];
  }
}

/** What of a fact a later start must know, by key; undefined clears the key. */
function remains(fact: ScalingFact): (readonly [string, ScalingFact | undefined])[] {
  switch (fact.kind) {
    case 'launch':
      return fact.records.map((record) => [
        `instance:${record.id}`,
        { kind: 'instance', at: fact.at, record, moves: [] },
      ]);
    case 'instance':
    case 'adopted':
    case 'end': {
      const { record, at } = fact;
      const gone = isFinal(record.status) ? ([[`unneeded:${record.id}`, undefined]] as const) : [];
      return [[`instance:${record.id}`, { kind: 'instance', at, record, moves: [] }], ...gone];
    }
    case 'refused':
      return [[refusalKey(fact.refusal), fact]];
    case 'granted':
      return [[refusalKey(fact), undefined]];
    case 'planned':
      return [[`unneeded:${fact.fact.instance}`, fact.fact.kind === 'unneeded' ? fact : undefined]];
  }
}
