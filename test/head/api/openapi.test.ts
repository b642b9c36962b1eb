import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import { openapiDocument } from '../../../src/head/api/openapi.ts';
import { mountHeadApi } from '../../../src/head/api/routes.ts';
import type { Head } from '../../../src/head/head.ts';
import type { JobsApiDeps } from '../../../src/jobs/api.ts';
import type { JobsEnv } from '../../../src/jobs/auth.ts';
import { mountMantaApi } from '../../../src/jobs/manta-api/routes.ts';

const document = openapiDocument('0.0.0');
const paths = Object.entries(document.paths);

test('the OpenAPI document names every route of the API, and no other', () => {
  const app = new Hono<JobsEnv>();
  mountMantaApi(app, {} as JobsApiDeps);
  mountHeadApi(app, {} as Head);
  const mounted = new Set(
    app.routes.map(
      (route) => `${route.method} ${route.path.replace('/api/manta/v1', '').replaceAll(/:(\w+)/g, '{$1}')}`,
    ),
  );
  const described = paths.flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  assert.deepEqual(described.sort(), [...mounted].sort());
});

test('every schema that the document refers to is in it, and every one in it is referred to', () => {
  const { schemas } = document['components'] as { schemas: Record<string, unknown> };
  const references = JSON.stringify(document).matchAll(/#\/components\/schemas\/(\w+)/g);
  assert.deepEqual([...new Set([...references].map(([, name]) => String(name)))].sort(), Object.keys(schemas).sort());
});

test('every parameter of a path is described, and every route says what it is for', () => {
  for (const [path, methods] of paths)
    for (const [method, route] of Object.entries(methods)) {
      const { parameters = [], summary } = route as { parameters?: { name: string; in: string }[]; summary?: string };
      const inPath = parameters.filter((each) => each.in === 'path').map(({ name }) => name);
      assert.deepEqual(
        inPath,
        [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
        `${method} ${path}`,
      );
      assert.match(summary ?? '', /\S/, `${method} ${path}`);
    }
});
