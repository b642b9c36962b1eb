// needs: cluster, ray, hosts

import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { rayVersion } from '../../scripts/ray-venv.ts';
import { aloneRay, testAlone } from '../engines/ray/alone.ts';

/**
 * An ordinary user on a machine of its own: empty folders for what is temporary. Of the home
 * of the user who runs the tests it sees what it is told of (`$2` and on), read-only by its rights.
 */
const machine = `set -e
inside=$1 home=$2; shift 2
mount -t tmpfs -o mode=755 rest /mnt
mkdir /mnt/home /mnt/was
mount --bind "$home" /mnt/home
mount -t tmpfs -o mode=755 home "$home"
for each in "$@"; do
  mkdir -p "$home/$each"
  mount --bind "/mnt/home/$each" "$home/$each"
done
mount -t tmpfs -o mode=1777 tmp /tmp
mkdir -m 700 /tmp/u && chown 1000:1000 /tmp/u
exec setpriv --reuid 1000 --regid 1000 --clear-groups env HOME=/tmp/u USER=somebody LOGNAME=somebody \\
  "$NODE" --test --test-reporter=spec "$inside"
`;

test('an ordinary user runs a real Ray on one machine', async (t) => {
  const python = aloneRay(t, rayVersion);
  if (python === undefined) return;
  const inside = fileURLToPath(new URL('./one-machine-inside.ts', import.meta.url));
  const needed = [python, realpathSync(python), inside, process.execPath]
    .map((path) => relative(homedir(), path).split('/')[0] as string)
    .filter((top) => top !== '..');
  await testAlone(t, python, inside, ['sh', '-c', machine, 'sh', inside, homedir(), ...new Set(needed)]);
});
