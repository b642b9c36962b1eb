// needs: posix-shells, mounts
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Host } from '../../src/base/host.ts';
import { authorizeKeyText, removeKeyText } from '../../src/bringup/node/authorized-keys.ts';
import type { HeadLook } from '../../src/launcher/head/look.ts';
import { startMantad } from '../../src/launcher/head/ship/ship.ts';
import { removeBootText } from '../../src/state/mantad/boot-entry.ts';
import { ShellBed, shells } from '../base/shell-bed.ts';
import { never } from '../contract/waiting.ts';

const publicKey = 'ssh-ed25519 AAAAmanta manta';
const withOurs = `mkdir .ssh; { i=0; while [ $i -lt 60 ]; do echo "ssh-ed25519 AAAA$i a-key-of-mine"; i=$((i + 1)); done; echo '${publicKey}'; } >.ssh/authorized_keys`;
const withoutOurs = withOurs.replace(/; echo '[^']*'/, '');
const filled = 'cat /dev/zero >fill 2>/dev/null; :';
const keys = "grep -c 'of-mine' .ssh/authorized_keys; ls -A .ssh";

for (const shell of shells)
  describe(`on a full disk, in ${shell}, the user's keys stay when`, () => {
    test("the cluster's key is to go, which is told to be left", (t) => {
      const program = removeKeyText(publicKey);
      const { stdout } = new ShellBed(t, shell).runOnDisk(8, `${withOurs}; ${filled}`, program, keys);
      assert.equal(stdout, 'manta-left key\n60\nauthorized_keys\n');
      const withRoom = new ShellBed(t, shell).runOnDisk(8, withOurs, program, `${keys}; grep -c manta .ssh/*`);
      assert.equal(withRoom.stdout, '60\nauthorized_keys\n0\n');
    });

    test("the cluster's key is to be let in, which fails with the reason", (t) => {
      const program = authorizeKeyText(publicKey, ['10.0.0.1']);
      const full = new ShellBed(t, shell).runOnDisk(8, `${withoutOurs}; ${filled}`, program, keys);
      assert.equal(full.code, 1);
      assert.match(full.stderr, /No space left[^]*the new text could not be written; .* was left as it was/);
      assert.equal(full.stdout, '60\nauthorized_keys\n');
      const withRoom = new ShellBed(t, shell).runOnDisk(8, withOurs, program, `${keys}; grep manta .ssh/*`);
      assert.equal(withRoom.code, 0);
      assert.equal(withRoom.stdout, `60\nauthorized_keys\nrestrict,pty,from="10.0.0.1" ${publicKey}\n`);
    });
  });

/** Its table is read in part, and it says so. */
const failingCrontab = `case $1 in
-l) head -n 1 "$HOME/table"; echo 'read error' >&2; exit 1 ;;
-) cat >"$HOME/table" ;;
-r) rm "$HOME/table" ;;
esac`;

describe('a table of cron that cannot be read to its end stays, when', () => {
  const table = "printf '%s\\n' '1 * * * * a # manta c1' '2 * * * * b' >table";
  const after = 'cat table';
  const kept = '1 * * * * a # manta c1\n2 * * * * b\n';

  test('mantad is to start at a boot; then it is told that it does not', async (t) => {
    const bed = new ShellBed(t, 'dash');
    bed.program('crontab', failingCrontab);
    bed.program('setsid', 'exit 0');
    bed.program('sleep', 'exit 0');
    const look = { boot: { systemd: false, cron: true }, home: bed.home } as unknown as HeadLook;
    let said = '';
    const host = {
      name: 'h',
      sh: async (program: string) => {
        const { code, stdout, stderr } = bed.runOnDisk(64, table, program, after);
        said = stdout;
        return { code, stdout, stderr };
      },
    } as unknown as Host;
    const runtime = { name: '0.1.0-x', archive: '' };
    assert.equal(await startMantad(host, 'c1', look, { node: 'node', runtime }, { signal: never }), 'none');
    assert.match(said, new RegExp(`${kept.replaceAll('*', '\\*')}$`));
  });

  test('the entry is to go', (t) => {
    const bed = new ShellBed(t, 'dash');
    bed.program('crontab', failingCrontab);
    assert.equal(bed.runOnDisk(64, table, `cd "$HOME"\n${removeBootText('c1')}`, after).stdout, kept);
  });
});
