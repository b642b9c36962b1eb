// needs: cluster, older-manta
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { ClusterAnswer } from '../../src/api/types.ts';
import { version } from '../../src/base/version.ts';
import { type Answer, eventually, TestCluster, TestHome } from '../head/test-cluster.ts';
import { deadlyMantad, newPackage, oldPackage, oldVersion } from './packages.ts';

let older: string;
let newer: string;
before(() => {
  older = oldPackage();
  newer = newPackage();
});
after(() => rmSync(newer, { recursive: true, force: true }));

/** Runs the `manta` of a package. */
const run = (home: TestHome, folder: string, ...words: readonly string[]): Promise<Answer> =>
  home.runBy(join(folder, 'bin', 'manta'), ...words);

/** A cluster of the older version with a job that is over, one that runs until `go` is there, and one held back. */
async function olderCluster(home: TestHome): Promise<TestCluster> {
  const cluster = await TestCluster.upBy(join(older, 'bin', 'manta'), home);
  await cluster.submit({ id: 'over', entrypoint: 'echo of the older version' });
  await cluster.finish('over');
  await cluster.submit({
    id: 'runs',
    entrypoint: `while [ ! -e ${join(home.path, 'go')} ]; do sleep 0.05; done; echo done`,
    resources: { CPU: 1 },
  });
  await cluster.reach('runs', 'running');
  await cluster.submit({ id: 'held', entrypoint: 'true', depends_on: ['runs'] });
  return cluster;
}

function setVersion(folder: string, to: string): void {
  for (const file of [join(folder, 'package.json'), join(folder, 'dist', 'package.json')])
    writeFileSync(file, readFileSync(file, 'utf8').replace(`"${version}"`, `"${to}"`));
}

const agentsOf = (home: TestHome): number[] =>
  home
    .processes()
    .filter(({ command }) => /\/agent\.js /.test(command))
    .map(({ pid }) => pid);

test('up brings a head of the older version to this one, and its jobs go on', async (t) => {
  const home = new TestHome(t);
  const cluster = await olderCluster(home);
  const agents = agentsOf(home);
  assert.ok(agents.length > 0);

  const asked = await run(home, newer, 'job', 'list');
  assert.equal(asked.code, 0, asked.err);
  assert.match(asked.out, /runs/);
  const skew = `runs Manta ${oldVersion}, older than ${version} here; 'manta up' upgrades it`;
  assert.equal(asked.err.split(skew).length, 2, `one line says so:\n${asked.err}`);

  assert.match(
    (await run(home, newer, 'up', '--plan')).out,
    new RegExp(`upgrade  mantad ${oldVersion} to ${version}; jobs keep running`),
  );
  const up = await run(home, newer, '--json', 'up');
  assert.equal(up.code, 0, up.err);
  assert.match(up.err, /MANTA_LAUNCHER_UPGRADING/);
  assert.equal((await cluster.get<ClusterAnswer>('/cluster')).mantaVersion, version);
  assert.deepEqual(agentsOf(home), agents, 'no node was touched');
  const job = await cluster.job('runs');
  assert.deepEqual([job.state, job.attempts.length], ['running', 1]);
  assert.equal((await cluster.log('over', 1)).toString(), 'of the older version\n');

  const byOlder = await run(home, older, 'job', 'submit', '--', 'echo', 'from the older client');
  assert.equal(byOlder.code, 0, byOlder.err);
  assert.match(byOlder.out, /from the older client/);
  assert.equal((await run(home, older, 'status')).code, 0);

  writeFileSync(join(home.path, 'go'), '');
  assert.equal((await cluster.finish('runs')).state, 'succeeded');
  assert.equal((await cluster.finish('held')).state, 'succeeded');
  const again = await run(home, newer, '--json', 'up');
  assert.doesNotMatch(again.err, /UPGRADING|VERSION_SKEW/);
  assert.equal((await run(home, newer, 'down', '-y')).code, 0);
  assert.deepEqual(home.processes(), []);
});

test('a version that does not come up gives way to the one before, which finds all that it wrote', async (t) => {
  const home = new TestHome(t);
  const cluster = await olderCluster(home);
  const broken = newPackage();
  t.after(() => rmSync(broken, { recursive: true, force: true }));
  writeFileSync(join(broken, 'dist', 'mantad.js'), deadlyMantad);
  const record = readFileSync(cluster.folder.files.cluster, 'utf8');

  const up = await run(home, broken, 'up', '--max-workers', '7');
  assert.equal(up.code, 6, up.out);
  assert.match(up.err, new RegExp(`mantad ${version} did not start.*rolled back to ${oldVersion}.*does not feel like`));
  await eventually('the older version serves again', async () => {
    const { status, body } = await cluster.ask('GET', '/api/manta/v1/cluster');
    return status === 200 && (body as ClusterAnswer).mantaVersion === oldVersion;
  });
  assert.deepEqual(JSON.parse(readFileSync(cluster.folder.files.cluster, 'utf8')), JSON.parse(record));
  assert.equal((await cluster.job('runs')).state, 'running');
  assert.equal((await cluster.job('over')).state, 'succeeded');

  // What could not be done now can be done later.
  assert.equal((await run(home, newer, 'up')).code, 0);
  writeFileSync(join(home.path, 'go'), '');
  assert.equal((await cluster.finish('held')).state, 'succeeded');
});

test('a package that is updated in place takes nothing from a daemon that runs, which comes back where the new one fails', async (t) => {
  const home = new TestHome(t);
  const installed = newPackage();
  t.after(() => rmSync(installed, { recursive: true, force: true }));
  const cluster = await TestCluster.upBy(join(installed, 'bin', 'manta'), home);
  await cluster.submit({ id: 'before', entrypoint: 'echo before' });
  await cluster.finish('before');
  setVersion(installed, '99.0.0');
  writeFileSync(join(installed, 'dist', 'mantad.js'), deadlyMantad);
  const up = await run(home, installed, 'up');
  assert.equal(up.code, 6, up.out);
  assert.match(up.err, /mantad 99\.0\.0 did not start/);
  const { mantaVersion } = await cluster.get<ClusterAnswer>('/cluster');
  assert.equal(mantaVersion, version);
  assert.equal((await cluster.job('before')).state, 'succeeded');
});

test('where the version before is gone, nobody claims that it runs again, and a later up goes on', async (t) => {
  const home = new TestHome(t);
  const installed = mkdtempSync(join(tmpdir(), 'manta-installed-'));
  t.after(() => rmSync(installed, { recursive: true, force: true }));
  cpSync(older, installed, { recursive: true });
  const cluster = await TestCluster.upBy(join(installed, 'bin', 'manta'), home);
  await cluster.submit({ id: 'before', entrypoint: 'echo before' });
  await cluster.finish('before');
  rmSync(installed, { recursive: true });
  cpSync(newer, installed, { recursive: true });
  writeFileSync(join(installed, 'dist', 'mantad.js'), "throw new Error('it does not feel like it')");
  const up = await run(home, installed, 'up');
  assert.notEqual(up.code, 0);
  assert.doesNotMatch(up.err, /rolled back/);
  const again = await run(home, newer, 'up');
  assert.equal(again.code, 0, again.err);
  assert.equal((await cluster.get<ClusterAnswer>('/cluster')).mantaVersion, version);
  assert.equal((await cluster.job('before')).state, 'succeeded');
});

test('a head that is newer than the client stays as it is, and up says so', async (t) => {
  const home = new TestHome(t);
  const later = newPackage();
  t.after(() => rmSync(later, { recursive: true, force: true }));
  for (const file of [join(later, 'package.json'), join(later, 'dist', 'package.json')])
    writeFileSync(
      file,
      readFileSync(file, 'utf8')
        .replace(`"${version}"`, '"99.0.0"')
        .replace(/: ?"99/, ':"99'),
    );
  const cluster = await TestCluster.upBy(join(later, 'bin', 'manta'), home);
  const { mantad } = cluster;
  const up = await run(home, newer, 'up');
  assert.equal(up.code, 4);
  assert.match(
    up.err,
    new RegExp(`runs Manta 99\\.0\\.0, which is newer than the ${version.replaceAll('.', '\\.')} on this machine`),
  );
  const status = await run(home, newer, 'status');
  assert.equal(status.code, 0);
  assert.match(status.err, /runs Manta 99\.0\.0, newer than .* here; upgrade Manta on this machine/);
  assert.equal(cluster.mantad, mantad);
});
