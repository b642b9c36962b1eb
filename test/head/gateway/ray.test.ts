import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildWeb } from '../../../scripts/build-web.ts';
import { rayVersion } from '../../../scripts/ray-venv.ts';
import { isPublicOfRay, needsAdmin } from '../../../src/head/gateway/access.ts';
import { readTarget, routeOf } from '../../../src/head/gateway/path.ts';
import { aloneRay, testAlone } from '../../engines/ray/alone.ts';
import { rayPythons, runPython } from '../../jobs/ray-python.ts';

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
  const python = aloneRay(t, rayVersion);
  if (python === undefined) return;
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  if (!existsSync(join(root, 'dist/web/index.html'))) await buildWeb();
  await testAlone(t, python, fileURLToPath(new URL('./inside.ts', import.meta.url)));
});
