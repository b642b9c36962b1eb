import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { rayVersion } from '../../scripts/ray-venv.ts';
import { noRay, rayPythons } from '../jobs/ray-python.ts';

/** What keeps a Ray of the test's own from running here; undefined when nothing does. */
function obstacle(): string | undefined {
  if (process.platform !== 'linux') return 'a Ray of its own needs the namespaces of Linux';
  if (process.getuid?.() !== 0) return 'a namespace of its own for Ray needs root';
  const unshare = spawnSync('unshare', ['-p', '-f', '-m', '-n', 'true'], { stdio: 'ignore' });
  return unshare.status === 0 ? undefined : "'unshare' cannot make namespaces here";
}

/**
 * An ordinary user on a machine of its own: no other process, no network, empty folders for what is temporary. Of the home
 * of the user who runs the tests it sees what it is told of (`$2` and on), read-only by its rights.
 */
const machine = `set -e
inside=$1 home=$2; shift 2
ip link set lo up
mount -t tmpfs -o size=2g,mode=1777 shm /dev/shm
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
  const python = rayPythons().find((each) => each.version === rayVersion)?.python;
  const problem = python === undefined ? `${noRay} (${rayVersion})` : obstacle();
  if (python === undefined || problem !== undefined) return t.skip(problem);

  const inside = fileURLToPath(new URL('./one-machine-inside.ts', import.meta.url));
  const needed = [python, realpathSync(python), inside, process.execPath]
    .map((path) => relative(homedir(), path).split('/')[0] as string)
    .filter((top) => top !== '..');
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const run = spawn(
    'unshare',
    ['-p', '-f', '--mount-proc', '-m', '-n', '--kill-child', '--', 'sh', '-c', machine, 'sh', inside, homedir()].concat(
      [...new Set(needed)],
    ),
    { env: { ...env, NODE: process.execPath, MANTA_RAY_PYTHON: python }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  t.after(() => run.kill('SIGKILL'));
  const hang = setTimeout(() => run.kill('SIGKILL'), 600_000);
  t.after(() => clearTimeout(hang));
  let said = '';
  for (const stream of [run.stdout, run.stderr]) stream.on('data', (bytes: Buffer) => (said += bytes.toString()));
  const code = await new Promise((resolve) => run.on('close', resolve));
  assert.equal(code, 0, said);
  assert.match(said, /skipped 0/);
  t.diagnostic(said.match(/ℹ (?:pass|fail) \d+/g)?.join(', ') ?? '');
});
