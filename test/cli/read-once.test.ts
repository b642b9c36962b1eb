import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { main } from '../../src/cli/main.ts';
import { createCluster } from '../../src/state/cluster-record.ts';
import { stateFolder } from '../../src/state/state-folder.ts';
import { screen } from './screen.ts';

const root = mkdtempSync(join(tmpdir(), 'manta-once-'));
const home = join(root, 'home');
const here = 'cluster_name: here\nprovider: {type: process}\n';
const remote = `cluster_name: far
provider:
  type: local
  head_ip: 127.0.0.1
  worker_ips: [127.0.0.2]
auth: {ssh_user: nobody}
`;

const session = new Session();
const path = process.env['PATH'] ?? '';
before(async () => {
  // An ssh that nobody lets in, so that a command ends when it has done what it does with the file.
  const text = "#!/bin/sh\necho 'nobody@127.0.0.1: Permission denied (publickey).' >&2\nexit 255\n";
  await writeFile(join(root, 'ssh'), text, { mode: 0o755 });
  process.env['PATH'] = `${root}:${path}`;
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
});
after(async () => {
  await session.post('Profiler.stopPreciseCoverage');
  session.disconnect();
  process.env['PATH'] = path;
  rmSync(root, { recursive: true, force: true });
});

/** How often cluster files were read as such since this was last asked. */
async function timesRead(): Promise<number> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const functions = result.filter(({ url }) => url.endsWith('src/core/spec/read.ts')).flatMap((each) => each.functions);
  return functions.find(({ functionName }) => functionName === 'openCluster')?.ranges[0]?.count ?? 0;
}

let pipes = 0;
/** Runs a command with a file that gives its text once: to open it again would wait for ever. */
async function runOnce(text: string, words: (file: string) => readonly string[]) {
  const file = join(root, `${pipes++}.yaml`);
  execFileSync('sh', ['-c', 'mkfifo "$0"', file]);
  const written = writeFile(file, text);
  await timesRead();
  const on = screen({ env: { MANTA_HOME: home, HOME: root } });
  const exit = await main(words(file), on);
  await written;
  return { exit, read: await timesRead(), ...on.shown };
}

describe('a cluster file is opened once and read once by', { timeout: 120_000 }, () => {
  test('up and down of a cluster of this machine', async (t) => {
    t.after(() => main(['down', '-y', '-n', 'here'], screen({ env: { MANTA_HOME: home } })));
    const up = await runOnce(here, (file) => ['up', '-y', file]);
    assert.deepEqual([up.exit, up.read], [0, 1], up.stderr);
    const again = await runOnce(here, (file) => ['up', '-y', file, '--max-workers', '3']);
    assert.deepEqual([again.exit, again.read], [0, 1], again.stderr);
    const status = await runOnce(here, (file) => ['status', file]);
    assert.deepEqual([status.exit, status.read], [0, 1], status.stderr);
    const down = await runOnce(here, (file) => ['down', '-y', file]);
    assert.deepEqual([down.exit, down.read], [0, 1], down.stderr);
  });

  for (const words of [
    ['up', '-y'],
    ['up', '--plan'],
    ['down', '-y'],
    ['status'],
    ['attach', '--start'],
    ['get-worker-ips'],
    ['rsync-up'],
    ['cluster-dump', '-o', join(root, 'dump.tar.gz')],
  ])
    test(`${words.join(' ')} of a cluster of other machines`, async () => {
      const { read, stderr } = await runOnce(remote, (file) => [...words, file]);
      assert.equal(read, 1, stderr);
    });

  for (const words of [
    ['exec', '--start', '--stop'],
    ['submit', '--start'],
  ])
    test(words.join(' '), async () => {
      const { read, stderr } = await runOnce(remote, (file) => [...words, file, import.meta.filename]);
      assert.equal(read, 1, stderr);
    });
});

test('what is kept of a file is not read again where the same file is given', { timeout: 60_000 }, async () => {
  const file = join(root, 'same.yaml');
  await writeFile(file, remote);
  createCluster(stateFolder(home, 'far'), {
    role: 'laptop',
    createdAt: 0,
    engine: 'ray',
    config: { path: file, text: remote, env: {} },
    remote: { address: '127.0.0.1' },
  });
  for (const words of [['status'], ['down', '-y'], ['up', '-y']]) {
    await timesRead();
    const on = screen({ env: { MANTA_HOME: home, HOME: root } });
    await main([...words, file], on);
    assert.equal(await timesRead(), 1, `${words.join(' ')}: ${on.shown.stderr}`);
  }
});
