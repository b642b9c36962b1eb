import { closeSync, fstatSync, openSync, readSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { JournalAnswer } from '../../../api/types.ts';
import { namesIn } from '../../../base/files/json-file.ts';
import { secretsInText } from '../../../base/redact.ts';
import { version } from '../../../base/version.ts';
import { clientErrors } from '../../../client/errors.ts';
import { HttpClient } from '../../../client/http.ts';
import { openJobs } from '../../../client/jobs.ts';
import { type Target, targetFor } from '../../../client/target.ts';
import { readCluster } from '../../../state/cluster-record.ts';
import { stateErrors } from '../../../state/errors.ts';
import { servingOf, supervisorOf } from '../../../state/serving.ts';
import type { StateFolder } from '../../../state/state-folder.ts';
import type { Io, Run } from '../../command.ts';
import { headMeant } from '../../shared/cluster-connection.ts';
import { type ArchiveEntry, archiveOf } from './archive.ts';
import type { clusterDumpOptions } from './declaration.ts';
import { cleanText, cleanValue, cleanYaml, knownSecrets, secretsInValue } from './secrets.ts';

const logBytes = 1 << 20;
const jobsKept = 1_000;
const factsKept = 2_000;
/** A log that is full of what looks like secrets must not take a dump minutes. */
const mostSecrets = 1_000;

export const run: Run<typeof clusterDumpOptions> = async (invocation, io) => {
  const meant = await headMeant(invocation, io);
  const target = targetFor(meant, io.env, io.events, invocation.options);
  const token = await target.place(io.signal).then(
    (place) => place.token,
    () => undefined,
  );
  const record = target.folder && readCluster(target.folder);
  const values = Object.values(record?.config?.env ?? {});
  const pack = new Pack(knownSecrets(target.folder, [token, io.env['RAY_AUTH_TOKEN'], ...values]));
  const now = Date.now();
  pack.json('versions.json', 'versions of Manta and Node, and the platform', {
    manta: version,
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
    madeAt: new Date(now).toISOString(),
  });
  await askHead(target, pack, io);
  if (target.folder !== undefined) await readFolder(target.folder, pack);
  if (record?.role === 'laptop' || invocation.options.local) {
    const { nodeFiles } = await import('./nodes.ts');
    for (const { name, what, text } of await nodeFiles('name' in meant ? meant : undefined, invocation.options, io))
      pack.text(name, what, text);
  }

  const file = invocation.options.output ?? `manta-dump-${new Date(now).toISOString().replaceAll(/[:.]/g, '-')}.tar.gz`;
  const bytes = archiveOf(pack.entries(), now);
  writeFileSync(resolve(io.cwd, file), bytes, { mode: 0o600 });
  io.out(
    io.json
      ? `${JSON.stringify({ file, bytes: bytes.length, entries: pack.listed() })}\n`
      : `${linesOf(pack.listed())}wrote ${file} (${bytes.length} bytes); review it before you send it\n`,
  );
  return 0;
};

/** One line a file, and one line a node for what came from it. */
function linesOf(listed: readonly { readonly name: string; readonly what: string }[]): string {
  const lines = new Map<string, string>();
  const counts = new Map<string, number>();
  for (const { name, what } of listed) {
    const node = /^nodes\/[^/]+\//.exec(name)?.[0];
    const count = (counts.get(node ?? name) ?? 0) + 1;
    counts.set(node ?? name, count);
    lines.set(node ?? name, node === undefined ? what : `files of this node (${count})`);
  }
  return [...lines].map(([name, what]) => `  ${name.padEnd(22)} ${what}\n`).join('');
}

/** Files on their way into the archive. They are cleaned of secrets once all are there: one file may tell those of another. */
class Pack {
  readonly #secrets: Set<string>;
  readonly #entries: { name: string; what: string; text: (secrets: readonly string[]) => string }[] = [];

  constructor(secrets: readonly string[]) {
    this.#secrets = new Set(secrets);
  }

  text(name: string, what: string, text: string): void {
    this.#learn(secretsInText(text, 'any'));
    this.#entries.push({ name, what, text: (secrets) => cleanText(text, secrets) });
  }

  yaml(name: string, what: string, text: string): void {
    this.#learn(secretsInText(text, 'cluster-file'));
    this.#entries.push({ name, what, text: (secrets) => cleanYaml(text, secrets) });
  }

  json(name: string, what: string, value: unknown): void {
    this.#learn(secretsInValue(value));
    const text = (secrets: readonly string[]): string =>
      `${JSON.stringify(cleanValue(value, secrets), undefined, 2)}\n`;
    this.#entries.push({ name, what, text });
  }

  lines(name: string, what: string, values: readonly unknown[]): void {
    this.#learn(values.flatMap((value) => secretsInValue(value)));
    const text = (secrets: readonly string[]): string =>
      values.map((value) => `${JSON.stringify(cleanValue(value, secrets))}\n`).join('');
    this.#entries.push({ name, what: `${what} (${values.length})`, text });
  }

  #learn(secrets: readonly string[]): void {
    for (const secret of secrets) if (this.#secrets.size < mostSecrets) this.#secrets.add(secret);
  }

  has(name: string): boolean {
    return this.#entries.some((entry) => entry.name === name);
  }

  listed(): { name: string; what: string }[] {
    return this.#entries.map(({ name, what }) => ({ name, what }));
  }

  entries(): ArchiveEntry[] {
    const contents = this.#entries.map(({ name, what }) => `${name.padEnd(22)} ${what}\n`).join('');
    const secrets = [...this.#secrets];
    const files = this.#entries.map(({ name, text }) => ({ name, text: text(secrets) }));
    return [{ name: 'CONTENTS.txt', text: contents }, ...files].map(({ name, text }) => ({
      name: `manta-dump/${name}`,
      content: Buffer.from(text),
    }));
  }
}

/** What the head answers. A part that fails is noted and the others go on: a head in trouble is why this is run. */
async function askHead(target: Target, pack: Pack, io: Io): Promise<void> {
  const http = new HttpClient(target, io.signal);
  const problems: string[] = [];
  const part = async (name: string, work: () => Promise<void>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      io.signal.throwIfAborted();
      problems.push(`${name}: ${(error as Error).message}`);
      return !clientErrors.Unreachable.is(error) && !stateErrors.NotRunning.is(error);
    }
  };
  const ask = (path: string): Promise<unknown> => http.json('GET', `/api/manta/v1/${path}`, { silence: 10_000 });
  try {
    const answers = await part('cluster', async () =>
      pack.json('cluster.json', 'overview of the cluster', await ask('cluster')),
    );
    if (answers) {
      await part('status', async () => {
        const { verboseText } = (await ask('status')) as { verboseText: string };
        pack.text('status.txt', 'the verbose status', verboseText);
      });
      await part('nodes', async () => pack.json('nodes.json', 'instances and nodes', await ask('nodes')));
      await part('demand', async () => pack.json('demand.json', 'waiting demand and its reasons', await ask('demand')));
      await part('events', async () => {
        const { events } = (await ask('events?limit=2000')) as { events: unknown[] };
        pack.lines('events.jsonl', 'the newest events', events);
      });
      await part('history', async () =>
        pack.json('history.json', 'nodes and usage over the last hour', await ask('history')),
      );
      await part('journal', async () => {
        const { scaling, jobs } = (await ask(`journal?limit=${factsKept}`)) as JournalAnswer;
        packFacts(pack, scaling, jobs);
      });
      await part('jobs', async () => {
        const jobs = await openJobs({ http, signal: io.signal, events: io.events });
        const rows: unknown[] = [];
        for await (const job of jobs.list({ limit: jobsKept })) rows.push(job.answer);
        pack.lines('jobs.jsonl', 'the newest jobs, without their output', rows);
      });
    }
  } finally {
    http.close();
  }
  if (problems.length > 0) pack.text('problems.txt', 'what could not be collected', `${problems.join('\n')}\n`);
}

/** What the state folder holds, whether the head runs or not. */
async function readFolder(folder: StateFolder, pack: Pack): Promise<void> {
  const { config, ...record } = readCluster(folder) ?? {};
  pack.json('state.json', 'the state folder: record, head, supervisor', {
    record,
    head: servingOf(folder) ?? 'not running',
    supervisor: supervisorOf(folder) ?? 'not running',
  });
  if (config !== undefined) pack.yaml('cluster.yaml', 'the cluster file, secrets masked', config.text);
  const log = endOf(folder.files.daemonLog);
  if (log !== undefined) pack.text('mantad.log', "the end of the head's log", log);
  // A head that answered has told the journal as it is now.
  if (!pack.has(scalingFile)) await readJournal(folder, pack);
}

const scalingFile = 'scaling.jsonl';

function packFacts(pack: Pack, scaling: readonly unknown[], jobs: readonly unknown[]): void {
  pack.lines(scalingFile, 'the newest scaling decisions and their outcomes', scaling);
  pack.lines('job-facts.jsonl', 'the newest job state changes', jobs);
}

function endOf(path: string): string | undefined {
  try {
    const file = openSync(path, 'r');
    try {
      const { size } = fstatSync(file);
      const bytes = Buffer.alloc(Math.min(size, logBytes));
      readSync(file, bytes, 0, bytes.length, size - bytes.length);
      return bytes.toString('utf8');
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

/** A running head keeps the journal to itself, and a damaged one cannot be read: the newest backup answers then. */
async function readJournal(folder: StateFolder, pack: Pack): Promise<void> {
  const { journal, backups } = folder.files;
  const [newest] = namesIn(backups)
    .filter((name) => /\.\d+$/.test(name))
    .sort()
    .toReversed();
  const places = [
    ...(servingOf(folder) === undefined ? [journal] : []),
    ...(newest === undefined ? [] : [join(backups, newest)]),
  ];
  const problems: string[] = [];
  for (const path of places) {
    try {
      await packJournal(path, path !== journal, pack);
      break;
    } catch (error) {
      problems.push(`${path}: ${(error as Error).message}\n`);
    }
  }
  if (problems.length > 0) pack.text('journal-problem.txt', 'why the journal could not be read', problems.join(''));
}

async function packJournal(path: string, isBackup: boolean, pack: Pack): Promise<void> {
  const file = pathToFileURL(path);
  // Without this SQLite leaves files of its own beside a backup.
  if (isBackup) file.searchParams.set('immutable', '1');
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(file, { readOnly: true, timeout: 2_000 });
  const newestOf = (table: 'scaling_facts' | 'facts'): Record<string, unknown>[] =>
    database.prepare(`SELECT * FROM ${table} ORDER BY seq DESC LIMIT ?`).all(factsKept).toReversed();
  const dataOf = (row: Record<string, unknown>): object => JSON.parse(String(row['data'])) as object;
  try {
    packFacts(
      pack,
      newestOf('scaling_facts').map((row) => ({ ...dataOf(row), seq: row['seq'] })),
      newestOf('facts').map((row) => ({ ...row, data: dataOf(row) })),
    );
  } finally {
    database.close();
  }
}
