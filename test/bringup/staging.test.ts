// needs: posix-shells, mounts
import assert from 'node:assert/strict';
import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { readShell, shellCommand } from '../../src/base/shell/shell-file.ts';
import { removeStagingText, stagingIn, usualStaging } from '../../src/bringup/sync/staging.ts';
import { ShellBed, shells } from '../base/shell-bed.ts';

const program = readShell(new URL('../../src/bringup/sync/staging.sh', import.meta.url));
const somebody = 1234;

for (const shell of shells)
  describe(`in ${shell} the file mounts of containers lie`, () => {
    const bedOf = (t: TestContext) => {
      const bed = new ShellBed(t, shell);
      const shared = join(bed.home, '..', 'ray_tmp_mount');
      const own = join(shared, 'c1');
      const find = (): string | undefined => {
        const { code, stdout, stderr } = bed.run(shellCommand(program, { shared, cluster: 'c1', private: '.manta/m' }));
        assert.equal(code, 0, stderr);
        return stagingIn(stdout);
      };
      return { shared, own, instead: join(bed.home, '.manta/m'), find };
    };
    const writable = (path: string): number => lstatSync(path).mode & 0o022;

    test('where Ray has them, and others cannot write there', (t) => {
      const { shared, own, find } = bedOf(t);
      assert.equal(find(), own);
      assert.deepEqual([writable(shared), writable(own)], [0, 0]);
      assert.equal(find(), own);
      chmodSync(own, 0o777);
      assert.equal(find(), own);
      assert.equal(writable(own), 0);
    });

    test('there too where the folder of all clusters is one that nobody can touch the folders of others in', (t) => {
      const { shared, own, find } = bedOf(t);
      mkdirSync(shared);
      chmodSync(shared, 0o1777);
      assert.equal(find(), own);
    });

    test('at a private place where the folder of all clusters belongs to somebody else', (t) => {
      const { shared, own, instead, find } = bedOf(t);
      mkdirSync(own, { recursive: true });
      chownSync(shared, somebody, somebody);
      assert.equal(find(), instead);
      assert.equal(writable(instead), 0);
      // Also when the other has gone: containers have been made with it.
      rmSync(shared, { recursive: true });
      assert.equal(find(), instead);
    });

    test('at a private place where others can change that folder, or it is a link', (t) => {
      const open = bedOf(t);
      mkdirSync(open.shared);
      chmodSync(open.shared, 0o777);
      assert.equal(open.find(), open.instead);
      const group = bedOf(t);
      mkdirSync(group.shared);
      chmodSync(group.shared, 0o775);
      assert.equal(group.find(), group.instead);
      const linked = bedOf(t);
      mkdirSync(join(linked.shared, '..', 'real'));
      symlinkSync('real', linked.shared);
      assert.equal(linked.find(), linked.instead);
    });

    test("at a private place where the cluster's own folder is somebody else's, a link, or no folder", (t) => {
      const foreign = bedOf(t);
      mkdirSync(foreign.own, { recursive: true });
      chownSync(foreign.own, somebody, somebody);
      assert.equal(foreign.find(), foreign.instead);
      const linked = bedOf(t);
      mkdirSync(linked.shared);
      symlinkSync('/etc', linked.own);
      assert.equal(linked.find(), linked.instead);
      const file = bedOf(t);
      mkdirSync(file.shared);
      writeFileSync(file.own, '');
      assert.equal(file.find(), file.instead);
    });
  });

test("the end of a cluster removes its own folder of mounts, and never somebody else's", (t) => {
  const cluster = `staging-test-${process.pid}`;
  const folder = usualStaging(cluster);
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'files'), { recursive: true });
  chownSync(folder, somebody, somebody);
  const bed = new ShellBed(t, 'dash');
  assert.equal(bed.run(removeStagingText(cluster)).stdout, '');
  assert.equal(existsSync(join(folder, 'files')), true);
  chownSync(folder, 0, 0);
  assert.equal(bed.run(removeStagingText(cluster)).stdout, '');
  assert.equal(existsSync(folder), false);
});
