import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silent } from '../../src/base/events.ts';
import { wallClock } from '../../src/base/time/wall-clock.ts';
import { launcherErrors } from '../../src/launcher/errors.ts';
import { planHere, type UpRequest, up } from '../../src/launcher/up/this-machine.ts';
import { createCluster, type RemoteHead } from '../../src/state/cluster-record.ts';
import { readConfig } from '../../src/state/load-spec.ts';
import { stateFolder } from '../../src/state/state-folder.ts';

const config = {
  path: 'here.yaml',
  text: `cluster_name: team
provider: {type: process}
head_node_type: head
available_node_types:
  head: {resources: {CPU: 0}, node_config: {}}
`,
  env: {},
};

test('the record of a cluster whose head is elsewhere is not lost to one of this machine', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'manta-here-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const folder = stateFolder(home, 'team');
  const request = (engine: 'embedded' | 'ray'): UpRequest => ({
    home,
    file: readConfig(config),
    overrides: {},
    engine,
    findRay: () => assert.fail('nothing is started'),
    clock: wallClock,
    events: silent,
  });
  const never = new AbortController().signal;
  const isMoved = (before: string) => (error: unknown) =>
    launcherErrors.HeadMoved.is(error) && error.data.before === before && error.data.now === 'this machine';
  for (const [remote, before] of [
    [{ address: '10.0.0.1' }, '10.0.0.1'],
    [{ clusterId: 'c', launchToken: 'head-1' }, 'a cloud'],
  ] satisfies [RemoteHead, string][]) {
    createCluster(folder, { role: 'laptop', createdAt: 1, engine: 'ray', remote });
    const text = readFileSync(folder.files.cluster, 'utf8');
    await assert.rejects(up(request('ray'), never), isMoved(before));
    await assert.rejects(up(request('embedded'), never), (error) => launcherErrors.VenvEngineFixed.is(error));
    assert.throws(() => planHere(request('ray')), isMoved(before));
    assert.equal(readFileSync(folder.files.cluster, 'utf8'), text);
  }
});
