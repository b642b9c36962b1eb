import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { RayHttp } from '../../../src/engines/ray/jobs/http.ts';
import type { RayJob } from '../../../src/engines/ray/jobs/jobs-api.ts';
import { type OtherWork, otherWork } from '../../../src/engines/ray/jobs/other-work.ts';
import { never } from '../../contract/waiting.ts';

type Answers = Readonly<Record<string, unknown>>;

/** Ray's dashboard, as far as it is asked here. */
async function asked(t: TestContext, answers: Answers, jobs: readonly Partial<RayJob>[] = []): Promise<OtherWork> {
  const server = createServer((request, response) => {
    const answer = answers[new URL(request.url ?? '/', 'http://ray').pathname];
    response.statusCode = answer === undefined ? 501 : 200;
    response.end(JSON.stringify(answer ?? 'not installed'));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const http = new RayHttp(undefined);
  t.after(() => http.close());
  return await otherWork(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, http, jobs as RayJob[], never);
}

const actors = (...rows: readonly object[]): Answers => ({
  '/api/v0/actors': { result: true, msg: '', data: { result: { total: rows.length, result: rows } } },
});
const detached = (name: string, ray_namespace: string): object => ({ name, ray_namespace, is_detached: true });
const controller = detached('SERVE_CONTROLLER_ACTOR', 'serve');

test('drivers, detached actors and Serve applications are told; what has ended is not', async (t) => {
  const found = await asked(
    t,
    {
      ...actors(detached('stays', 'mine'), { name: 'goes', ray_namespace: 'mine', is_detached: false }, controller),
      '/api/serve/applications/': { applications: { greeter: { status: 'RUNNING' } } },
    },
    [
      { entrypoint: 'python train.py', status: 'RUNNING' },
      { entrypoint: 'python old.py', status: 'SUCCEEDED' },
    ],
  );
  assert.deepEqual(found, { drivers: ['python train.py'], actors: ['stays'], applications: ['greeter'] });
});

test('actors that Ray has made for itself are nobody', async (t) => {
  const own = [
    detached('_ray_internal_job_actor_a.1', 'SUPERVISOR_ACTOR_RAY_NAMESPACE'),
    controller,
    detached('SERVE_PROXY_ACTOR-1', 'serve'),
  ];
  const found = await asked(t, { ...actors(...own), '/api/serve/applications/': { applications: {} } });
  assert.deepEqual(found, { drivers: [], actors: [], applications: [] });
});

test('an answer that is not whole is none', async (t) => {
  await assert.rejects(asked(t, {}), /501/);
  await assert.rejects(asked(t, { '/api/v0/actors': { result: false, msg: 'GCS is down', data: {} } }), /GCS is down/);
  await assert.rejects(asked(t, actors(controller)), /serve\/applications/);
});
