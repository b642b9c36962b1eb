// needs: cluster

/** Pages of the journal are overwritten with rubbish while nobody looks. */
import assert from 'node:assert/strict';
import { closeSync, existsSync, openSync, readdirSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { eventually, kill, seeded, seedOf, TestCluster, workersYaml } from './test-cluster.ts';

const pageSize = 4096;

/** Overwrites leaf pages of a table, those that hold its rows. */
function damage(path: string, table: string, share: number, random: () => number): number {
  const sql = new DatabaseSync(path, { readOnly: true });
  const root = (sql.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table) as { rootpage: number })
    .rootpage;
  sql.close();
  const pages = statSync(path).size / pageSize;
  const fd = openSync(path, 'r+');
  let hit = 0;
  for (let page = 2; page <= pages; page++) {
    // The root of the table stays, so that the damage has to be found on the way.
    if (page === root || random() > share) continue;
    writeSync(fd, Buffer.alloc(pageSize - 100, 0xa5), 0, pageSize - 100, (page - 1) * pageSize);
    hit += 1;
  }
  closeSync(fd);
  return hit;
}

test('a damaged journal is found at the start and mended from the backup, what is lost is named, jobs go on', async (t) => {
  const random = seeded(seedOf(t, 'damaged-journal.test.ts'));
  const cluster = await TestCluster.start(t, { yaml: workersYaml({ min: 1, max: 1 }) });
  const { journal, backups } = cluster.folder.files;
  const done: string[] = [];
  for (let index = 0; index < 60; index++) {
    const job = await cluster.submit({ id: `done-${index}`, entrypoint: `echo ${'words '.repeat(100)}` });
    done.push(job.id);
  }
  for (const id of done) await cluster.finish(id);
  const go = join(cluster.home.path, 'go');
  await cluster.submit({
    id: 'runs-on',
    entrypoint: `while [ ! -e ${go} ]; do sleep 0.05; done; echo end`,
    resources: { CPU: 1 },
  });
  await cluster.submit({ id: 'waits', entrypoint: 'echo waited', depends_on: ['runs-on'] });
  await cluster.reach('runs-on', 'running');

  // A start makes a backup; the one after the next crash has everything up to here.
  const old = new Set(readdirSync(backups));
  kill(cluster.mantad as number);
  await eventually('a backup was made', () =>
    readdirSync(backups).some((name) => !old.has(name) && !name.endsWith('.new')),
  );
  await cluster.finish((await cluster.submit({ id: 'after-the-backup', entrypoint: 'echo late' })).id);

  // An end in good order brings everything into the main file; agents and the job live on.
  const supervisor = cluster.supervisor as number;
  kill(supervisor, 'SIGTERM');
  await eventually('the daemon has ended', () => cluster.supervisor === undefined && cluster.mantad === undefined);
  const agents = [...cluster.agents().values()];
  assert.ok(damage(journal, 'jobs', 0.25, random) > 0);

  const again = await TestCluster.up(cluster.home, workersYaml({ min: 1, max: 1 }));
  assert.deepEqual([...again.agents().values()], agents, 'the nodes are the same processes as before');
  const repaired = (await again.events()).find((event) => event.code === 'MANTA_HEAD_JOURNAL_REPAIRED');
  assert.ok(repaired, 'the repair is told');
  assert.match(repaired.text, /the backup of \d{4}-/);
  t.diagnostic(repaired.text);
  const kept = readdirSync(again.folder.path).filter((name) => name.startsWith('journal.db.damaged-'));
  assert.ok(
    kept.length > 0 && existsSync(join(again.folder.path, kept[0] as string)),
    'the damaged file is kept aside',
  );

  for (const id of done) assert.equal((await again.job(id)).state, 'succeeded', id);
  assert.equal((await again.job('runs-on')).state, 'running');
  const late = await again.ask('GET', '/api/manta/v1/jobs/after-the-backup');
  if (late.status !== 200) assert.match(repaired.text, /jobs: .*rows \d+ (?:to \d+|and later) were unreadable/);

  closeSync(openSync(go, 'w'));
  assert.equal((await again.finish('runs-on')).attempts.length, 1);
  assert.equal((await again.finish('waits')).state, 'succeeded');
  assert.equal((await again.log('runs-on', 1)).toString(), 'end\n');
  const fresh = await again.submit({ entrypoint: 'true' });
  assert.equal((await again.finish(fresh.id)).state, 'succeeded');
});
