// needs: cluster, chromium, ray, hosts

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildWeb } from '../../../scripts/build-web.ts';
import { rayVersion } from '../../../scripts/ray-venv.ts';
import { isPublicOfRay, needsAdmin } from '../../../src/head/gateway/access.ts';
import { hasBlanks, withBlanks } from '../../../src/head/gateway/blanks.ts';
import { readTarget, routeOf } from '../../../src/head/gateway/path.ts';
import { aloneRay, testAlone } from '../../engines/ray/alone.ts';
import { rayPythons, runPython } from '../../jobs/ray-python.ts';

/** GETs of Ray's that do something, or show what somebody's job was given or has said. */
const acting = [
  '/api/serve/applications/',
  '/api/train/v2/runs',
  '/api/train/v2/runs/v1',
  '/api/v0/cluster_events',
  '/api/v0/delay/{delay_s}',
  '/api/v0/jobs',
  '/api/v0/logs',
  '/api/v0/logs/{media_type}',
  '/api/v0/runtime_envs',
  '/api/v0/tasks/timeline',
  '/events',
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

/** What everybody may see of a thing of Ray's: who, where, when and how much, and Ray's own word for what went wrong. */
const columns: Readonly<Record<string, string>> = {
  ActorState: `actor_id call_site class_name fallback_strategy is_detached job_id label_selector name node_id num_restarts
    num_restarts_due_to_lineage_reconstruction num_restarts_due_to_node_preemption pid placement_group_id ray_namespace
    repr_name required_resources state`,
  NodeState: `end_time_ms is_head_node labels node_id node_ip node_name resources_total start_time_ms state state_message`,
  ObjectState: 'attempt_number call_site ip object_id object_size pid reference_type task_status type',
  PlacementGroupState: `bundles creator_job_id is_detached name placement_group_id state stats topology_assignments
    topology_strategy`,
  TaskState: `actor_id attempt_number call_site creation_time_ms end_time_ms error_type events fallback_strategy
    func_or_class_name is_debugger_paused job_id label_selector language name node_id parent_task_id placement_group_id
    required_resources start_time_ms state task_id task_log_info type worker_id worker_pid`,
  WorkerState: `debugger_port end_time_ms exit_type ip is_alive node_id num_paused_threads pid start_time_ms worker_id
    worker_launch_time_ms worker_launched_time_ms worker_type`,
};

for (const { python, version } of rayPythons())
  test(`every column of the state of Ray ${version} is seen by everybody or blank, on purpose`, () => {
    const list = `import dataclasses, json, ray.util.state.common as c
print(json.dumps({n: [f.name for f in dataclasses.fields(getattr(c, n))] for n in ${JSON.stringify(Object.keys(columns))}}))`;
    const found = JSON.parse(runPython(python, list)) as Record<string, readonly string[]>;
    for (const [type, names] of Object.entries(found)) {
      const row = Object.fromEntries(names.map((name) => [name, 'a secret']));
      const shown = JSON.parse(withBlanks(JSON.stringify({ data: { result: [row] } }))) as {
        data: { result: Record<string, string | null>[] };
      };
      const seen = names.filter((name) => shown.data.result[0]?.[name] !== null);
      const known = columns[type]?.split(/\s+/) ?? [];
      assert.deepEqual(
        seen.filter((name) => !known.includes(name)),
        [],
        `${type} has something new: is it output, an error or an environment?`,
      );
      const path = `/api/v0/${type.replace(/State$/, 's').toLowerCase()}`;
      if (seen.length < names.length) assert.ok(hasBlanks(path), path);
    }
  });

test('the real clients of Ray, its page and Manta’s work through the gateway in front of a real Ray', async (t) => {
  const python = aloneRay(t, rayVersion);
  if (python === undefined) return;
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  if (!existsSync(join(root, 'dist/web/index.html'))) await buildWeb();
  await testAlone(t, python, fileURLToPath(new URL('./inside.ts', import.meta.url)));
});
