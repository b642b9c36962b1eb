/**
 * What Manta writes and trusts later. Run as a program, `scenarios.ts NAME FOLDER`, it does one of them in the folder and
 * says when each of its steps is acknowledged.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { unzip, writeZip } from '../../../src/base/archive/archive.ts';
import { makeFolder, moveDurably, syncTree, writeDurably } from '../../../src/base/files/durable.ts';
import { editLinesText } from '../../../src/base/files/edit-lines.ts';
import { createJson, readJson, writeJson } from '../../../src/base/files/json-file.ts';
import { logExtent, openLogWriter, readLog } from '../../../src/base/files/log-segments.ts';
import { readShell, shellProgram } from '../../../src/base/shell/shell-file.ts';
import { openDatabase } from '../../../src/base/sqlite/sqlite.ts';
import { thisHost } from '../../../src/base/this-host.ts';
import { AttemptRecords } from '../../../src/engines/ray/jobs/attempt-record.ts';
import { openLogStore } from '../../../src/jobs/logs/log-store.ts';
import { PackageStore } from '../../../src/jobs/packages/packages.ts';
import { jobsSchema } from '../../../src/jobs/queue/schema.ts';
import type { HeadLook } from '../../../src/launcher/head/look.ts';
import { shipRuntime } from '../../../src/launcher/head/ship/ship.ts';
import { claimProgram, claimTerms } from '../../../src/providers/local/claim-program.ts';
import { createCluster, readCluster } from '../../../src/state/cluster-record.ts';
import { removeCluster, stateFolder } from '../../../src/state/state-folder.ts';
import { saying } from './record.ts';

export interface Scenario {
  /** What is there, and on disk, before. */
  readonly before?: (folder: string, aside: string) => unknown;
  /** Calls `done` when a step is acknowledged. `aside` is a folder whose disk does not matter. */
  readonly act: (folder: string, done: () => void, aside: string) => unknown;
  /** How many steps are to be seen, each whole. Throws for anything else. */
  readonly seen: (folder: string) => number | Promise<number>;
}

const body = (word: string): string => `${word} `.repeat(40);
const files = ['top.py', 'pkg/__init__.py', 'pkg/deep/data.txt'];

function makeFiles(folder: string): void {
  for (const file of files) {
    mkdirSync(join(folder, file, '..'), { recursive: true });
    writeFileSync(join(folder, file), body(file));
  }
}

/** 0 where there is nothing, 1 where all of it is. */
function filesSeen(folder: string): number {
  if (!existsSync(folder)) return 0;
  for (const file of files) assert.equal(readFileSync(join(folder, file), 'utf8'), body(file));
  return 1;
}

const packagesIn = (folder: string, aside: string) =>
  new PackageStore({
    database: openDatabase(join(aside, 'journal.db'), [jobsSchema]),
    folder: join(folder, 'packages'),
    clock: { now: () => 0, sleep: async () => {} },
  });
const wheel = 'a-1-py3-none-any.whl';
const never = new AbortController().signal;
const attempt = { format: 1, id: 'a.1', submission: 'a.1', log: '', entrypoint: body('run') } as const;
const oldKey = 'ssh-ed25519 AAAA1 me\n';
const newKey = 'ssh-ed25519 AAAA2 manta';

export const scenarios: Readonly<Record<string, Scenario>> = {
  'a record that is written again': {
    before: (folder) => writeJson(join(folder, 'a.json'), 0),
    act(folder, done) {
      for (const value of [1, body('two')]) {
        writeJson(join(folder, 'a.json'), value);
        done();
      }
    },
    seen: (folder) => [0, 1, body('two')].indexOf(readJson(join(folder, 'a.json')) ?? 'none'),
  },
  'a record in a folder that is made for it': {
    act(folder, done) {
      assert.equal(createJson(join(makeFolder(join(folder, 'b', 'c')), 'a.json'), body('first')), true);
      done();
    },
    seen(folder) {
      const value = readJson(join(folder, 'b', 'c', 'a.json'));
      return value === undefined ? 0 : [undefined, body('first')].indexOf(value as string);
    },
  },
  'an archive that is unpacked': {
    async before(_, aside) {
      makeFiles(join(aside, 'files'));
      const packed = files.map((name) => ({ name, path: join(aside, 'files', name), mode: 0o644 }));
      await writeZip(packed, join(aside, 'a.zip'));
    },
    async act(folder, done, aside) {
      await unzip(join(aside, 'a.zip'), join(folder, 'unpacked'));
      done();
    },
    seen: (folder) => filesSeen(join(folder, 'unpacked')),
  },
  'a tree with a mark that it is whole': {
    async act(folder, done) {
      makeFiles(makeFolder(join(folder, 'venv')));
      await syncTree(join(folder, 'venv'));
      writeDurably(join(folder, 'venv.ready'), 'ready');
      done();
    },
    seen(folder) {
      if (!existsSync(join(folder, 'venv.ready'))) return 0;
      assert.equal(readFileSync(join(folder, 'venv.ready'), 'utf8'), 'ready');
      assert.equal(filesSeen(join(folder, 'venv')), 1);
      return 1;
    },
  },
  'a file that is put in its place': {
    async act(folder, done) {
      writeFileSync(join(folder, 'draft'), body('archive'));
      await moveDurably(join(folder, 'draft'), join(folder, 'archive.tar.gz'));
      done();
    },
    seen(folder) {
      if (!existsSync(join(folder, 'archive.tar.gz'))) return 0;
      assert.equal(readFileSync(join(folder, 'archive.tar.gz'), 'utf8'), body('archive'));
      return 1;
    },
  },
  'a wheel that is uploaded, and then used': {
    async act(folder, done, aside) {
      const packages = packagesIn(folder, aside);
      await packages.put('me', wheel, Readable.from([body('wheel')]));
      done();
      await packages.open('me', `gcs://${wheel}`, never);
      done();
    },
    async seen(folder) {
      const names = await readdir(join(folder, 'packages'), { recursive: true }).catch(() => []);
      const whole = (pattern: RegExp): number => {
        const found = names.filter((name) => pattern.test(name));
        for (const name of found) assert.equal(readFileSync(join(folder, 'packages', name), 'utf8'), body('wheel'));
        return found.length;
      };
      return whole(/^blobs\/[0-9a-f]{64}$/) + whole(/^wheels\/[0-9a-f]{64}\/.*\.whl$/);
    },
  },
  'the record of an attempt at Ray': {
    before: (folder) => new AttemptRecords(folder, () => {}),
    act(folder, done) {
      const records = new AttemptRecords(folder, () => {});
      records.write(attempt, true);
      done();
      records.write({ ...attempt, sent: true }, true);
      done();
    },
    seen(folder) {
      const [found] = new AttemptRecords(folder, () => {}).all();
      if (found === undefined) return 0;
      assert.equal(found.entrypoint, attempt.entrypoint);
      return found.sent === true ? 2 : 1;
    },
  },
  'the log of an attempt that has ended': {
    before: (folder) => makeFolder(join(folder, 'logs')),
    async act(folder, done) {
      const store = openLogStore(join(folder, 'logs'), () => 0);
      const writer = openLogWriter(store.folder('job', 1), { now: () => 0, segmentBytes: 150 });
      writer.write(Buffer.from(body('log')));
      writer.end();
      await store.end('job', 1);
      done();
    },
    async seen(folder) {
      const log = join(folder, 'logs', 'job', '1');
      const { ended, size, start } = await logExtent(log);
      // Before it is acknowledged nothing is said of it.
      if (!ended || start !== 0 || size !== body('log').length) return 0;
      let text = '';
      for (let at = 0; at < size; ) {
        const piece = await readLog(log, at, size);
        if (piece.offset !== at || piece.next === at) return 0;
        text += piece.bytes.toString();
        at = piece.next;
      }
      return text === body('log') ? 1 : 0;
    },
  },
  'a cluster that is removed': {
    before: (folder) =>
      createCluster(stateFolder(folder, 'c1'), { role: 'this-machine', createdAt: 0, engine: 'embedded' }),
    act(folder, done) {
      removeCluster(stateFolder(folder, 'c1'));
      done();
    },
    seen(folder) {
      const cluster = stateFolder(folder, 'c1');
      if (!existsSync(cluster.path)) return 1;
      assert.equal(readCluster(cluster)?.engine, 'embedded');
      for (const part of [cluster.files.tokens, cluster.files.packages, cluster.files.logs])
        assert.ok(existsSync(part));
      return 0;
    },
  },
  'what the launcher ships to a host, and the record that it is there': {
    before(_, aside) {
      makeFiles(join(aside, 'files'));
      const { status } = spawnSync('tar', ['-czf', join(aside, 'a.tar.gz'), '-C', join(aside, 'files'), '.']);
      assert.equal(status, 0);
    },
    async act(folder, done, aside) {
      process.env['HOME'] = folder;
      const look = {
        runtimes: [],
        platform: process.platform,
        arch: process.arch,
        home: folder,
      } as unknown as HeadLook;
      const runtime = { name: 'r1', archive: join(aside, 'a.tar.gz') };
      await shipRuntime(thisHost(), look, runtime, {}, { signal: never });
      done();
      await thisHost().put('~/.manta/record.json', Buffer.from(body('record')), 0o600, { signal: never });
      done();
    },
    seen(folder) {
      const shipped = filesSeen(join(folder, '.manta', 'runtime', 'r1'));
      const record = join(folder, '.manta', 'record.json');
      if (!existsSync(record)) return shipped;
      assert.equal(readFileSync(record, 'utf8'), body('record'));
      return shipped + 1;
    },
  },
  'the claim of a host': {
    before(folder) {
      mkdirSync(join(folder, 'proc'));
      mkdirSync(join(folder, 'claims'));
      chmodSync(join(folder, 'claims'), 0o1777);
    },
    act(folder, done) {
      const terms = { ...claimTerms, folder: join(folder, 'claims'), proc: join(folder, 'proc') };
      for (const act of ['claim', 'renew'] as const) {
        const text = claimProgram({ act, terms, clusterId: 'c1', instance: 'i-1', note: { cluster: body(act) } });
        assert.match(String(spawnSync('sh', ['-s'], { input: text }).stdout), /manta-claim (?:held|own)/);
        done();
      }
    },
    seen(folder) {
      const claims = join(folder, 'claims');
      const [name] = readdirSync(claims).filter((each) => !each.startsWith('.'));
      if (name === undefined) return 0;
      const { cluster } = JSON.parse(readFileSync(join(claims, name), 'utf8')) as { cluster: string };
      return [undefined, body('claim'), body('renew')].indexOf(cluster);
    },
  },
  'a host key on the head': {
    before(folder) {
      mkdirSync(join(folder, 'hosts'));
      writeFileSync(join(folder, 'hosts', 'h1'), oldKey);
    },
    act(folder, done) {
      const storing = readShell(new URL('../../../src/launcher/nodes/store-pin.sh', import.meta.url));
      const input = shellProgram(storing, { file: 'hosts/h1', text: newKey });
      assert.equal(spawnSync('sh', ['-s'], { input, env: { ...process.env, HOME: folder } }).status, 0);
      done();
    },
    seen: (folder) => [oldKey, newKey].indexOf(readFileSync(join(folder, 'hosts', 'h1'), 'utf8')),
  },
  "a file of the user's on a host": {
    before(folder) {
      mkdirSync(join(folder, '.ssh'));
      writeFileSync(join(folder, '.ssh', 'authorized_keys'), oldKey);
    },
    act(folder, done) {
      const program = editLinesText({ target: '.ssh/authorized_keys', pattern: 'AAAA2', line: newKey });
      const { status, stderr } = spawnSync('sh', ['-s'], { input: program, env: { ...process.env, HOME: folder } });
      assert.equal(status, 0, String(stderr));
      done();
    },
    seen: (folder) =>
      [oldKey, `${oldKey}${newKey}\n`].indexOf(readFileSync(join(folder, '.ssh', 'authorized_keys'), 'utf8')),
  },
};

if (import.meta.main) {
  const [name = '', folder = '', aside = ''] = process.argv.slice(2);
  const scenario = scenarios[name];
  assert.ok(scenario, `there is no scenario '${name}'`);
  const say = (word: string): void => void writeSync(1, `${saying}${word}\n`);
  await scenario.before?.(folder, aside);
  say('before');
  await scenario.act(folder, () => say('done'), aside);
}
