import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { ClusterAnswer } from '../../src/api/types.ts';
import { writeJson } from '../../src/base/files/json-file.ts';
import { identify, type ProcessIdentity } from '../../src/base/process.ts';
import { ClusterWatch, knownClusters, type ListedCluster } from '../../src/launcher/dashboard/cluster-list.ts';
import { listPage } from '../../src/launcher/dashboard/cluster-pages-text.ts';
import { createCluster, type LaptopRecord, type RemoteHead } from '../../src/state/cluster-record.ts';
import { stateFolder } from '../../src/state/state-folder.ts';

const at = Date.UTC(2026, 4, 1, 12);
const minute = 60_000;

function homeOf(t: TestContext): string {
  const home = mkdtempSync(join(tmpdir(), 'manta-list-'));
  t.after(() => rmSync(home, { recursive: true }));
  const here = (name: string, engine: 'embedded' | 'ray'): void => {
    createCluster(stateFolder(home, name), { role: 'this-machine', createdAt: at, engine });
  };
  const elsewhere = (name: string, remote: RemoteHead, more: Partial<LaptopRecord> = {}): void => {
    createCluster(stateFolder(home, name), { role: 'laptop', createdAt: at, engine: 'ray', ...more, remote });
  };
  here('stopped', 'embedded');
  elsewhere('hosts', { address: '10.0.0.5' }, { until: at + 90 * minute });
  elsewhere('cloud', { address: '10.0.0.6', instance: 'i-1', clusterId: 'c' });
  elsewhere('leaving', { address: '10.0.0.7' }, { endingSince: at });
  elsewhere('over', { address: '10.0.0.8' }, { ended: { at, why: 'nothing ran & waited', left: [] } });
  here('serving', 'ray');
  writeJson(stateFolder(home, 'serving').files.serving, {
    mantad: identify(process.pid) as ProcessIdentity,
    url: 'http://127.0.0.1:1',
    version: '0',
    startedAt: at,
  });
  return home;
}

test('each cluster is listed with its kind and how it is, as far as that is written down', (t) => {
  const found = knownClusters(homeOf(t));
  assert.deepEqual(
    found.map(({ name, kind, state, where }) => [name, kind, state, where]),
    [
      ['serving', 'Ray on this machine', 'running', undefined],
      ['cloud', 'Ray in a cloud', 'not asked', '10.0.0.6'],
      ['hosts', 'Ray on your own hosts', 'not asked', '10.0.0.5'],
      ['leaving', 'Ray on your own hosts', 'shutting down', '10.0.0.7'],
      ['stopped', 'on this machine', 'down', undefined],
      ['over', 'Ray on your own hosts', 'ended', '10.0.0.8'],
    ],
  );
  const page = listPage(found, at + 30 * minute);
  assert.match(page, /\(30m ago\): nothing ran &#38; waited/);
  assert.match(page, /\(in 1h\)/);
  assert.match(page, /href="\/open\/cloud"/);
  assert.doesNotMatch(page, /href="\/open\/(?:over|stopped)"/, 'there is nothing to open');
});

const answer = (more: Partial<ClusterAnswer> = {}): ClusterAnswer =>
  ({
    nodes: { running: 3, pending: 2, draining: 0, failed: 0 },
    jobs: { running: 4, queued: 5 },
    ...more,
  }) as ClusterAnswer;
const listed = (name: string): ListedCluster => ({ name, kind: 'Ray on your own hosts', state: 'not asked' });

test('those that can be asked say how they are, and one that is slow holds up nobody', async (t) => {
  const ending = new AbortController();
  t.after(() => ending.abort());
  const asked: string[] = [];
  const late = Promise.withResolvers<ClusterAnswer>();
  const watch = new ClusterWatch(
    {
      isConnected: (name) => name !== 'far',
      ask: async (name) => {
        asked.push(name);
        if (name === 'slow') return await late.promise;
        if (name === 'broken') throw new Error('cannot reach the head');
        return answer({ turnOff: { at: at + minute, soon: true, text: 'ends soon' } });
      },
    },
    ending.signal,
  );
  const clusters = ['far', 'slow', 'broken', 'quick'].map(listed);
  const first = await watch.look(clusters, 50);
  const stateOf = (name: string, all = first): ListedCluster | undefined => all.find((each) => each.name === name);
  assert.deepEqual(
    first.map(({ name, state }) => [name, state]),
    [
      ['quick', 'running'],
      ['broken', 'silent'],
      ['far', 'not asked'],
      ['slow', 'not asked'],
    ],
  );
  assert.equal(stateOf('quick')?.until, at + minute);
  const page = listPage(first, at);
  assert.match(page, /nodes: 3, 2 starting; jobs: 4 running, 5 queued/);
  assert.match(page, /not responding: cannot reach the head/);
  await watch.look(clusters, 0);
  assert.deepEqual(asked.toSorted(), ['broken', 'quick', 'slow'], 'nobody is asked while an answer is out or fresh');
  late.resolve(answer());
  assert.equal(stateOf('slow', await watch.look(clusters, 10_000))?.state, 'running');
});
