import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import type { JobsApiDeps } from '../../src/jobs/api.ts';
import type { JobsEnv } from '../../src/jobs/auth.ts';
import { jobPaths, jobSchemas } from '../../src/jobs/manta-api/openapi.ts';
import { mountMantaApi } from '../../src/jobs/manta-api/routes.ts';

test('the OpenAPI document names every route of the jobs part, and no other', () => {
  const app = new Hono<JobsEnv>();
  mountMantaApi(app, {} as JobsApiDeps);
  const mounted = new Set(
    app.routes.map(
      (route) => `${route.method} ${route.path.replace('/api/manta/v1', '').replaceAll(/:(\w+)/g, '{$1}')}`,
    ),
  );
  const described = new Set(
    Object.entries(jobPaths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    ),
  );
  assert.deepEqual([...mounted].sort(), [...described].sort());
});

test('every schema that the document refers to is in it', () => {
  const references = [...JSON.stringify([jobPaths, jobSchemas]).matchAll(/#\/components\/schemas\/(\w+)/g)].map(
    (match) => match[1] ?? '',
  );
  assert.deepEqual(
    [...new Set(references)].filter((name) => !(name in jobSchemas)),
    [],
  );
});
