// needs: hosts

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { labProblem } from '../../lab/lab.ts';
import { type Bed, openBed } from './exec-bed.ts';

describe('manta rsync-up and rsync-down', { skip: labProblem() ?? false }, () => {
  let bed: Bed;
  before(async () => {
    bed = await openBed({
      more: 'file_mounts: {/opt/project: ./project, ~/one: ./one}\nrsync_exclude: ["*.tmp"]\n',
    });
    await bed.laptop.must(
      'mkdir -p project/deep; echo 1 > project/a; echo 2 > "project/deep/b c"; echo 3 > project/x.tmp; echo one > one',
    );
  });
  after(() => bed?.close());
  const files = async (path: string): Promise<string[]> =>
    (await bed.head.must(['sh', '-c', `cd ${path} && find . -type f | sort`])).trim().split('\n');

  it('copy what is in a folder with a slash, and the folder itself without', async () => {
    assert.equal((await bed.manta(['rsync-up', 'cluster.yaml', 'project/', '/srv/new/with/'])).code, 0);
    assert.deepEqual(await files('/srv/new/with'), ['./a', './deep/b c']);
    assert.equal((await bed.manta(['rsync-up', 'cluster.yaml', 'project', '~/without'])).code, 0);
    assert.deepEqual(await files('without'), ['./project/a', './project/deep/b c']);
    assert.equal((await bed.manta(['rsync_down', 'cluster.yaml', '~/without/', 'back/'])).code, 0);
    assert.equal(await bed.laptop.must(['cat', 'back/project/deep/b c']), '2\n');
  });

  it('copy all file mounts when no path is given, in either direction', async () => {
    assert.equal((await bed.manta(['rsync-up', 'cluster.yaml'])).code, 0);
    assert.deepEqual(await files('/opt/project'), ['./a', './deep/b c']);
    assert.equal(await bed.head.must(['cat', 'one']), 'one\n');
    await bed.head.must('echo changed > /opt/project/a');
    assert.equal((await bed.manta(['rsync-down', 'cluster.yaml'])).code, 0);
    assert.equal(await bed.laptop.must(['cat', 'project/a']), 'changed\n');
  });

  it('reach every node with -A', async () => {
    const { code, stderr } = await bed.manta(['rsync-up', 'cluster.yaml', '-A', 'one', '/srv/all']);
    assert.equal(code, 0, stderr);
    assert.equal(await bed.worker.must(['cat', '/srv/all']), 'one\n');
    assert.match(stderr, /nodes added later get only file_mounts/);
  });

  it('want both paths or none, and name what is not there', async () => {
    const half = await bed.manta(['rsync-up', 'cluster.yaml', 'project']);
    assert.deepEqual([half.code, /MANTA_RSYNC_HALF_PATHS/.test(half.stderr)], [2, true]);
    const here = await bed.manta(['rsync-up', 'cluster.yaml', 'nope', '/srv/nope']);
    assert.deepEqual([here.code, /MANTA_SYNC_LOCAL_MISSING/.test(here.stderr)], [2, true]);
    const there = await bed.manta(['rsync-down', 'cluster.yaml', '/srv/nope', '.']);
    assert.deepEqual([there.code, /\/srv\/nope/.test(there.stderr)], [1, true]);
  });
});
