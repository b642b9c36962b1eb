// needs: cluster, ray, hosts

import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { rayVersion } from '../../scripts/ray-venv.ts';
import { aloneRay, testAlone } from '../engines/ray/alone.ts';

/**
 * An ordinary user on a machine of its own: empty folders for what is temporary and for the home of the user who runs the
 * tests. What the test itself is made of (`$3` and on) is seen where it stands, in one of them or not.
 */
const machine = `set -e
inside=$1 home=$2; shift 2
kept=/dev/shm/kept count=0
for each in "$@"; do
  count=$((count + 1))
  mkdir -p "$kept/$count"
  mount --bind "$each" "$kept/$count"
done
mount -t tmpfs -o mode=755 home "$home"
mount -t tmpfs -o mode=1777 tmp /tmp
count=0
for each in "$@"; do
  count=$((count + 1))
  [ -e "$each" ] && continue
  mkdir -p "$each"
  mount --bind "$kept/$count" "$each"
done
mkdir -m 700 /tmp/u && chown 1000:1000 /tmp/u
exec setpriv --reuid 1000 --regid 1000 --clear-groups env HOME=/tmp/u USER=somebody LOGNAME=somebody \\
  "$NODE" --test --test-reporter=spec "$inside"
`;

test('an ordinary user runs a real Ray on one machine', async (t) => {
  const python = aloneRay(t, rayVersion);
  if (python === undefined) return;
  const inside = fileURLToPath(new URL('./one-machine-inside.ts', import.meta.url));
  const repository = fileURLToPath(new URL('../..', import.meta.url));
  const programs = [python, realpathSync(python), process.execPath, realpathSync(process.execPath)];
  const kept = new Set([repository, realpathSync(`${repository}node_modules`), ...programs.map(prefixOf)]);
  await testAlone(t, python, inside, ['sh', '-c', machine, 'sh', inside, homedir(), ...kept]);
});

/** Where a program and its library are: the folder above its `bin`. */
const prefixOf = (program: string): string => dirname(dirname(program));
