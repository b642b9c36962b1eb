import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { rayPython } from '../../jobs/ray-python.ts';

/** What keeps a Ray of the test's own from running here; undefined when nothing does. */
function obstacle(): string | undefined {
  if (process.platform !== 'linux') return 'a Ray of its own needs the namespaces of Linux';
  if (process.getuid?.() !== 0) return 'a namespace of its own for Ray needs root';
  const unshare = spawnSync('unshare', ['-p', '-f', '-m', '-n', 'true'], { stdio: 'ignore' });
  return unshare.status === 0 ? undefined : "'unshare' cannot make namespaces here";
}

/** Ray is started where it sees no other process and no network: its `stop`, and its ports, touch nobody else. */
test('the reading half of the engine contract holds on a real Ray', async (t) => {
  const ray = rayPython();
  const problem = 'missing' in ray ? ray.missing : obstacle();
  if ('missing' in ray || problem !== undefined) return t.skip(problem);
  const { python } = ray;

  const inside = fileURLToPath(new URL('./inside-namespace.ts', import.meta.url));
  const setUp = 'ip link set lo up && mount -t tmpfs -o size=2g shm /dev/shm && exec "$@"';
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const run = spawn(
    'unshare',
    ['-p', '-f', '--mount-proc', '-m', '-n', '--kill-child', '--', 'sh', '-c', setUp, 'sh'].concat([
      process.execPath,
      '--test',
      '--test-reporter=spec',
      inside,
    ]),
    { env: { ...env, MANTA_RAY_PYTHON: python }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  t.after(() => run.kill('SIGKILL'));
  const hang = setTimeout(() => run.kill('SIGKILL'), 240_000);
  t.after(() => clearTimeout(hang));
  let said = '';
  for (const stream of [run.stdout, run.stderr]) stream.on('data', (bytes: Buffer) => (said += bytes.toString()));
  const code = await new Promise((resolve) => run.on('close', resolve));
  assert.equal(code, 0, said);
  assert.match(said, /pass 1[0-9]/);
  t.diagnostic(said.match(/ℹ (pass|fail) \d+/g)?.join(', ') ?? '');
});
