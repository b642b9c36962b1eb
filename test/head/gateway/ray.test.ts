import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildWeb } from '../../../scripts/build-web.ts';
import { rayVersion } from '../../../scripts/ray-venv.ts';
import { isPublicOfRay, needsAdmin } from '../../../src/head/gateway/access.ts';
import { readTarget, routeOf } from '../../../src/head/gateway/path.ts';
import { noRay, rayPythons, runPython } from '../../jobs/ray-python.ts';

/** GETs of Ray's that do something, or show what somebody's job was given or has said. */
const acting = [
  '/api/v0/delay/{delay_s}',
  '/api/v0/logs',
  '/api/v0/logs/{media_type}',
  '/api/v0/runtime_envs',
  '/memory_profile',
  '/task/cpu_profile',
  '/task/traceback',
  '/test/dump',
  '/worker/cpu_profile',
  '/worker/gpu_profile',
  '/worker/jax_profile',
  '/worker/traceback',
];

for (const { python, version } of rayPythons())
  test(`every route of Ray ${version} is somebody's on purpose`, () => {
    const folder = join(dirname(runPython(python, 'import ray; print(ray.__file__)')), 'dashboard');
    const routes = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      // Those of the agents are not the dashboard's.
      .filter((file) => file.endsWith('.py') && !/tests\/|_agent\.py$/.test(file))
      .flatMap((file) => [
        ...readFileSync(join(folder, file), 'utf8').matchAll(/routes\.(get|post|put|delete|patch)\(\s*"([^"]+)"/g),
      ])
      .map(([, method = '', path = '']) => ({ method: method.toUpperCase(), path }));
    assert.ok(routes.length > 50, `${routes.length} routes`);
    for (const { method, path } of routes) {
      const target = readTarget(path.replaceAll(/\{[^}]*\}/g, 'x'));
      assert.ok(target, path);
      if (routeOf(target, true).to === 'manta') continue;
      const isActing = method !== 'GET' || acting.includes(path);
      assert.equal(needsAdmin(method, target.path), isActing, `${method} ${path} is new: does it act?`);
      assert.ok(!(isActing && isPublicOfRay(target.path)), path);
    }
  });

test('the real clients of Ray, its page and Manta’s work through the gateway in front of a real Ray', async (t) => {
  const python = rayPythons().find((each) => each.version === rayVersion)?.python;
  if (python === undefined) return t.skip(`${noRay} (${rayVersion})`);
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return t.skip('a Ray of its own needs root on Linux');
  if (spawnSync('unshare', ['-p', '-f', '-m', '-n', 'true']).status !== 0)
    return t.skip("'unshare' cannot make namespaces here");
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  if (!existsSync(join(root, 'dist/web/index.html'))) await buildWeb();

  // Ray is started where it sees no other process and no network: its `stop`, and its ports, touch nobody else.
  const inside = fileURLToPath(new URL('./inside.ts', import.meta.url));
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
  const hang = setTimeout(() => run.kill('SIGKILL'), 600_000);
  t.after(() => clearTimeout(hang));
  let said = '';
  for (const stream of [run.stdout, run.stderr]) stream.on('data', (bytes: Buffer) => (said += bytes.toString()));
  const code = await new Promise((resolve) => run.on('close', resolve));
  assert.equal(code, 0, said);
  assert.match(said, /skipped 0/);
  t.diagnostic(said.match(/ℹ (pass|fail) \d+/g)?.join(', ') ?? '');
});
