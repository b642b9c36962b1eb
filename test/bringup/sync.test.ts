// needs: sshd

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { suite, test } from 'node:test';
import type { Host } from '../../src/base/host.ts';
import { sshErrors } from '../../src/base/ssh/errors.ts';
import { sshHost } from '../../src/base/ssh/host.ts';
import { thisHost } from '../../src/base/this-host.ts';
import { bringupErrors } from '../../src/bringup/errors.ts';
import type { NodeFiles } from '../../src/bringup/node/node.ts';
import { contentsFingerprint } from '../../src/bringup/sync/contents.ts';
import { rsyncCommand, runRsync } from '../../src/bringup/sync/rsync.ts';
import { stagedPath, syncFiles } from '../../src/bringup/sync/sync.ts';
import type { TestSshd } from '../base/test-sshd.ts';
import { missing, startSshd } from '../base/test-sshd.ts';
import { never as signal, until } from '../contract/waiting.ts';

interface Bed {
  readonly sshd: TestSshd;
  readonly host: Host;
  /** A folder of files on this side. */
  readonly here: string;
  /** One on the other side, which is not there yet. */
  readonly there: string;
}

async function bed(t: TestContext, where: 'over SSH' | 'on this machine' = 'over SSH'): Promise<Bed> {
  const sshd = await startSshd(t);
  const here = join(sshd.folder, 'here');
  write(join(here, 'code/main.py'), 'main');
  write(join(here, 'code/lib/a.py'), 'a');
  write(join(here, 'code/lib/cache/b.pyc'), 'b');
  write(join(here, 'code/.git/HEAD'), 'ref');
  write(join(here, 'code/.gitignore'), 'cache/\n');
  write(join(here, 'key.pem'), 'secret');
  write(join(here, 'my token'), 'token');
  chmodSync(join(here, 'key.pem'), 0o600);
  const host = where === 'over SSH' ? sshHost(sshd.target()) : thisHost();
  return { sshd, host, here, there: join(sshd.folder, 'there') };
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const files = (...mounts: NodeFiles['mounts']): NodeFiles => ({ mounts, exclude: [], filter: [] });
const tree = (folder: string): string[] =>
  (
    readdirSync(folder, { recursive: true, withFileTypes: true }) as {
      parentPath: string;
      name: string;
      isFile(): boolean;
    }[]
  )
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
const is = (kind: { is(value: unknown): boolean }) => (error: unknown) => {
  assert.ok(kind.is(error), String(error));
  return true;
};
const skip = missing() ?? false;

for (const where of ['over SSH', 'on this machine'] as const)
  suite(`files are copied ${where}`, { skip }, () => {
    test('folders by their contents, files under the name asked for, with folders above them made', async (t) => {
      const { host, here, there } = await bed(t, where);
      symlinkSync(join(here, 'key.pem'), join(here, 'link.pem'));
      const seen: number[] = [];
      await syncFiles(
        host,
        files(
          { remote: `${there}/a/b/code`, local: `${here}/code`, directory: true },
          { remote: `${there}/c/other.pem`, local: `${here}/key.pem`, directory: false },
          { remote: `${there}/d e/key.pem`, local: `${here}/key.pem`, directory: false },
          { remote: `${there}/d e/my token`, local: `${here}/my token`, directory: false },
          { remote: `${there}/f/link.pem`, local: `${here}/link.pem`, directory: false },
        ),
        { signal, onProgress: ({ done, total }) => void seen.push(done / total) },
      );
      assert.deepEqual(tree(there), [
        'a/b/code/.git/HEAD',
        'a/b/code/.gitignore',
        'a/b/code/lib/a.py',
        'a/b/code/lib/cache/b.pyc',
        'a/b/code/main.py',
        'c/other.pem',
        'd e/key.pem',
        'd e/my token',
        'f/link.pem',
      ]);
      assert.equal(readFileSync(join(there, 'f/link.pem'), 'utf8'), 'secret');
      assert.equal(seen.at(-1), 1);
    });

    test('what is there and not here stays, what has changed is replaced', async (t) => {
      const { host, here, there } = await bed(t, where);
      const mounts = files({ remote: `${there}/code/`, local: `${here}/code/`, directory: true });
      await syncFiles(host, mounts, { signal });
      write(join(there, 'code/made-there'), 'x');
      write(join(here, 'code/main.py'), 'changed');
      await syncFiles(host, mounts, { signal });
      assert.equal(readFileSync(join(there, 'code/main.py'), 'utf8'), 'changed');
      assert.ok(existsSync(join(there, 'code/made-there')));
    });

    test('excludes and filters mean what rsync means by them', async (t) => {
      const { host, here, there } = await bed(t, where);
      const mounts = [{ remote: `${there}/code`, local: `${here}/code`, directory: true }];
      await syncFiles(host, { mounts, exclude: ['**/.git', '**/.git/**'], filter: ['.gitignore'] }, { signal });
      assert.deepEqual(tree(there), ['code/.gitignore', 'code/lib/a.py', 'code/main.py']);
    });

    test('a file that is not here is named before anything is touched', async (t) => {
      const { host, here, there } = await bed(t, where);
      const mounts = files(
        { remote: `${there}/code`, local: `${here}/code`, directory: true },
        { remote: `${there}/x`, local: `${here}/absent`, directory: false },
      );
      await assert.rejects(syncFiles(host, mounts, { signal }), is(bringupErrors.SyncLocalMissing));
      assert.ok(!existsSync(there));
    });

    test('a container is reached through its host, and from home means its home', async (t) => {
      const { host, here, sshd } = await bed(t, where);
      const bin = join(sshd.folder, 'bin');
      const home = join(sshd.folder, 'home of the container');
      mkdirSync(home);
      write(
        join(bin, 'podman'),
        `#!/bin/sh\n[ "$*" != "\${*#exec -i box sh }" ] || exit 9\nshift 3\nHOME='${home}' exec "$@"\n`,
      );
      chmodSync(join(bin, 'podman'), 0o755);
      writeFileSync(join(sshd.home, '.bashrc'), `PATH=${bin}:$PATH\n`);
      const path = process.env['PATH'];
      process.env['PATH'] = `${bin}:${path}`;
      t.after(() => {
        process.env['PATH'] = path;
      });
      const place = { kind: 'container', engine: 'podman', name: 'box' } as const;
      const odd = "~/it's $HOME; (odd)";
      await runRsync(host, rsyncCommand(host, 'up', [join(here, 'my token')], odd, { place }), odd, signal);
      assert.equal(readFileSync(join(home, odd.slice(2)), 'utf8'), 'token');
      const back = join(here, 'back');
      await runRsync(host, rsyncCommand(host, 'down', [odd], back, { place }), odd, signal);
      assert.equal(readFileSync(back, 'utf8'), 'token');
    });

    test('rsync up and down take paths as they are', async (t) => {
      const { host, here, there } = await bed(t, where);
      const odd = "it's $HOME; (odd)";
      write(join(here, odd), 'odd');
      mkdirSync(there);
      await runRsync(host, rsyncCommand(host, 'up', [join(here, odd)], `${there}/`), odd, signal);
      const back = join(here, 'back');
      await runRsync(host, rsyncCommand(host, 'down', [join(there, odd)], back), odd, signal);
      assert.equal(readFileSync(back, 'utf8'), 'odd');
      const absent = rsyncCommand(host, 'down', [join(there, 'absent')], back);
      await assert.rejects(runRsync(host, absent, 'absent', signal), is(bringupErrors.SyncFailed));
    });
  });

suite('files on a host', { skip }, () => {
  test('a path from home, and one laid out for a container', async (t) => {
    const { host, here, sshd } = await bed(t);
    const mounts = files(
      { remote: '~/code', local: `${here}/code`, directory: true },
      { remote: '~/.ssh dir/key.pem', local: `${here}/key.pem`, directory: false },
      { remote: '~/at-home', local: `${here}/my token`, directory: false },
    );
    await syncFiles(host, mounts, { signal });
    assert.ok(existsSync(join(sshd.home, 'code/main.py')));
    assert.ok(existsSync(join(sshd.home, '.ssh dir/key.pem')));
    assert.equal(readFileSync(join(sshd.home, 'at-home'), 'utf8'), 'token');
    const into = join(sshd.folder, 'staged');
    await syncFiles(host, mounts, { signal, into });
    assert.ok(existsSync(join(into, '~', 'code/main.py')));
    const inode = statSync(join(into, '~', '.ssh dir/key.pem')).ino;
    write(join(here, 'key.pem'), 'another');
    await syncFiles(host, mounts, { signal, into });
    assert.equal(readFileSync(join(into, '~', '.ssh dir/key.pem'), 'utf8'), 'another');
    assert.equal(
      statSync(join(into, '~', '.ssh dir/key.pem')).ino,
      inode,
      'a container would go on seeing the old file',
    );
    assert.equal(stagedPath(`${into}/`, '/etc/x'), `${into}/etc/x`);
  });

  test('over IPv6 and through a jump host', async (t) => {
    const { here, there, sshd } = await bed(t);
    const gate = await startSshd(t);
    const jump = gate.target({ pin: { file: join(gate.folder, 'pins', 'gate'), alias: 'gate' } });
    const mounts = files({ remote: `${there}/code`, local: `${here}/code`, directory: true });
    await syncFiles(sshHost(sshd.target({ jump })), mounts, { signal });
    assert.ok(existsSync(join(there, 'code/main.py')));
    const six = await startSshd(t, { listen: '::1' }).catch(() => undefined);
    if (!six) return t.skip('this machine has no IPv6 loopback address, which is optional');
    const again = files({ remote: `${there}/6`, local: `${here}/code`, directory: true });
    await syncFiles(sshHost(six.target()), again, { signal });
    assert.ok(existsSync(join(there, '6/main.py')));
  });

  test('a connection that is lost on the way is told as such, and the next copy completes it', async (t) => {
    const { host, here, there, sshd } = await bed(t);
    await host.connect({ signal, within: 60_000 });
    // Slow enough to be cut in the middle.
    writeFileSync(
      join(sshd.home, '.bashrc'),
      'case "$SSH_ORIGINAL_COMMAND" in rsync*) : >~/rsync-is-on; sleep 1;; esac\n',
    );
    const mounts = files({ remote: `${there}/code`, local: `${here}/code`, directory: true });
    const syncing = assert.rejects(syncFiles(host, mounts, { signal }), is(sshErrors.Dropped));
    await until('rsync is on', () => existsSync(join(sshd.home, 'rsync-is-on')));
    writeFileSync(join(sshd.home, '.bashrc'), '');
    assert.ok(sshd.cutConnections() > 0);
    await syncing;
    await syncFiles(host, mounts, { signal });
    assert.ok(existsSync(join(there, 'code/main.py')));
  });

  test('each thing that stops it is told apart', async (t) => {
    const { host, here, there, sshd } = await bed(t);
    const mount = (remote: string): NodeFiles => files({ remote, local: `${here}/code`, directory: true });
    write(join(there, 'file'), '');
    await assert.rejects(syncFiles(host, mount(`${there}/file/below/it`), { signal }), is(bringupErrors.SyncDenied));

    writeFileSync(join(sshd.home, '.bashrc'), 'echo Welcome\n');
    await assert.rejects(syncFiles(host, mount(`${there}/x`), { signal }), is(bringupErrors.SyncNoisyShell));

    writeFileSync(join(sshd.home, '.bashrc'), 'PATH=/nowhere\n');
    await assert.rejects(syncFiles(host, mount(`${there}/x`), { signal }), is(bringupErrors.SyncNoRsyncThere));
    const command = rsyncCommand(host, 'up', [`${here}/code`], `${there}/x`);
    await assert.rejects(runRsync(host, command, 'x', signal), is(bringupErrors.SyncNoRsyncThere));
    rmSync(join(sshd.home, '.bashrc'));

    const path = process.env['PATH'];
    process.env['PATH'] = '/nowhere';
    const here2 = runRsync(host, command, 'x', signal);
    process.env['PATH'] = path;
    await assert.rejects(here2, is(bringupErrors.SyncNoRsyncHere));

    sshd.killMasters();
    await sshd.stop();
    await assert.rejects(runRsync(host, command, 'x', signal), is(sshErrors.Refused));
  });

  test('a full disk is said to be one', async (t) => {
    if (process.getuid?.() !== 0) return t.skip('needs root, to mount a small disk; optional');
    const { host, here, there } = await bed(t);
    mkdirSync(there);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', there]);
    try {
      writeFileSync(join(here, 'code/large'), Buffer.alloc(1_000_000, 1));
      const mount = files({ remote: `${there}/code`, local: `${here}/code`, directory: true });
      await assert.rejects(syncFiles(host, mount, { signal }), is(bringupErrors.SyncNoSpace));
    } finally {
      execFileSync('umount', ['-l', there]);
    }
  });
});

suite('the fingerprint of files', { skip }, () => {
  for (const patterns of [[], ['.git', '*.log']])
    test(`changes with what would be copied, and not without (${patterns.length} excludes)`, async (t) => {
      const { here } = await bed(t);
      const mounts = [
        { remote: '~/code', local: `${here}/code`, directory: true },
        { remote: '~/key.pem', local: `${here}/key.pem`, directory: false },
      ];
      const look = (): Promise<string> => contentsFingerprint({ mounts, exclude: patterns, filter: [] });
      let last = await look();
      assert.equal(await look(), last);
      const changes: [string, () => void][] = [
        ['a new file', () => write(join(here, 'code/ä\nodd'), '')],
        ['other contents', () => write(join(here, 'code/lib/a.py'), 'longer')],
        ['another time', () => utimesSync(join(here, 'code/lib/a.py'), 1, 1)],
        ['another mode', () => chmodSync(join(here, 'code/main.py'), 0o755)],
        ['a link', () => symlinkSync('main.py', join(here, 'code/link'))],
        ['a file that is gone', () => rmSync(join(here, 'code/link'))],
        ['a file mount', () => write(join(here, 'key.pem'), 'other')],
      ];
      for (const [what, change] of changes) {
        change();
        const now = await look();
        assert.notEqual(now, last, what);
        last = now;
      }
      if (patterns.length === 0) return;
      write(join(here, 'code/.git/HEAD'), 'another');
      write(join(here, 'code/new.log'), 'another');
      assert.equal(await look(), last);
    });
});
