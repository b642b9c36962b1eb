/** The head daemon of one cluster. Started by the supervisor: `node mantad.js <state home> <cluster>`. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeJson } from '../base/json-file.ts';
import { takeLock } from '../base/lock.ts';
import { identify, type ProcessIdentity } from '../base/process.ts';
import { version } from '../base/version.ts';
import { wallClock } from '../base/wall-clock.ts';
import { headErrors } from './errors.ts';
import { headEvents } from './events.ts';
import { type Head, openHead } from './head.ts';
import { serve } from './server.ts';
import { readCluster, type Serving, stateFolder } from './state-folder.ts';

/** The user that `manta up` acts as. */
const owner = 'owner';

const [home, name] = process.argv.slice(2);
if (home === undefined || name === undefined) throw new Error('usage: mantad <home> <cluster>');

const folder = stateFolder(home, name);
const record = readCluster(folder);
if (record === undefined) throw headErrors.NotRunning({ name });
const taken = takeLock(folder.files.mantadLock);
if ('holder' in taken) throw headErrors.AlreadyServed({ folder: folder.path, pid: taken.holder.pid });

const head = await openHead(folder, wallClock, process.env);
await ensureOwner(head);
const serving = await serve(head, record.port);
writeJson(folder.files.serving, {
  mantad: identify(process.pid) as ProcessIdentity,
  url: serving.url,
  version,
  startedAt: head.startedAt,
} satisfies Serving);
head.events.emit(headEvents.started, {
  version,
  pid: process.pid,
  url: serving.url,
  adopted: (await head.engine.state(AbortSignal.timeout(10_000)).catch(() => undefined))?.nodes.length ?? 0,
});

let ending = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void end(signal));
process.on('SIGHUP', () => head.reload());

async function end(why: string): Promise<void> {
  if (ending) return;
  ending = true;
  head.events.emit(headEvents.ending, { why });
  rmSync(folder.files.serving, { force: true });
  await serving.close();
  await head.close();
  process.exit(0);
}

/** One user is made with the cluster; its token is a file that only this user can read. */
async function ensureOwner({ users }: Head): Promise<void> {
  const file = join(folder.files.tokens, owner);
  if (existsSync(file)) return;
  const known = users.list().some((user) => user.name === owner);
  const token = known ? await users.issue(owner) : (await users.add(owner, { admin: true })).token;
  writeFileSync(file, `${token}\n`, { mode: 0o600 });
}
