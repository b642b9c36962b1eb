import type { Migration } from '../../base/sqlite/sqlite.ts';

/**
 * The tables of the jobs layer. Rows hold what is queried as columns and the rest as JSON: a job's spec never changes,
 * its status changes with every event, and its attempts are rows of their own.
 */
export const jobsSchema: Migration = (sql) => {
  sql.exec(`
    CREATE TABLE jobs (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      id TEXT NOT NULL UNIQUE,
      state TEXT NOT NULL,
      spec TEXT NOT NULL,
      status TEXT NOT NULL
    ) STRICT;
    CREATE TABLE attempts (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      id TEXT NOT NULL UNIQUE,
      job TEXT NOT NULL,
      number INTEGER NOT NULL,
      data TEXT NOT NULL
    ) STRICT;
    CREATE INDEX attempts_by_job ON attempts (job);
    CREATE TABLE facts (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      at INTEGER NOT NULL,
      kind TEXT NOT NULL,
      job TEXT,
      data TEXT NOT NULL
    ) STRICT;
    CREATE INDEX facts_by_job ON facts (job) WHERE job IS NOT NULL;
    CREATE TABLE users (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL UNIQUE,
      admin INTEGER NOT NULL,
      weight REAL NOT NULL,
      created_at INTEGER NOT NULL,
      revoked_at INTEGER
    ) STRICT;
    CREATE TABLE tokens (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      hash TEXT NOT NULL UNIQUE,
      user TEXT NOT NULL,
      kind TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER
    ) STRICT;
    CREATE TABLE packages (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      owner TEXT NOT NULL,
      name TEXT NOT NULL,
      sha256 TEXT NOT NULL,
      size INTEGER NOT NULL,
      used_at INTEGER NOT NULL,
      UNIQUE (owner, name)
    ) STRICT;
  `);
};
