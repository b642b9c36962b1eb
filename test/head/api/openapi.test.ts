import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import { openapiDocument, routes } from '../../../src/api/openapi.ts';
import { everyRoute } from '../../../src/api/route.ts';
import { mountHeadApi } from '../../../src/head/api/routes.ts';
import { headStatuses } from '../../../src/head/api/statuses.ts';
import type { Head } from '../../../src/head/head.ts';
import type { JobsApiDeps } from '../../../src/jobs/api.ts';
import { jobStatuses } from '../../../src/jobs/api-answer.ts';
import { mountMantaApi } from '../../../src/jobs/manta-api/routes.ts';
import type { JobsEnv } from '../../../src/jobs/users/auth.ts';

const document = openapiDocument('0.0.0');
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, path, operation })),
);

test('every declared route is mounted, and no other', () => {
  const app = new Hono<JobsEnv>();
  mountMantaApi(app, {} as JobsApiDeps);
  mountHeadApi(app, {} as Head);
  const mounted = new Set(
    app.routes.map(
      (route) => `${route.method} ${route.path.replace('/api/manta/v1', '').replaceAll(/:(\w+)/g, '{$1}')}`,
    ),
  );
  assert.deepEqual(operations.map(({ name }) => name).sort(), [...mounted].sort());
});

test('every schema that the document refers to is in it, and every one in it is referred to', () => {
  const { schemas } = document['components'] as { schemas: Record<string, unknown> };
  const references = JSON.stringify(document).matchAll(/#\/components\/schemas\/(\w+)/g);
  assert.deepEqual([...new Set([...references].map(([, name]) => String(name)))].sort(), Object.keys(schemas).sort());
  assert.doesNotMatch(JSON.stringify(document), /\$defs/);
});

test('every operation has an id of its own, says who may ask, and describes each part of its path', () => {
  const ids = operations.map(({ operation }) => operation['operationId']);
  assert.equal(new Set(ids).size, ids.length);
  for (const { name, path, operation } of operations) {
    const { parameters = [], summary } = operation as {
      parameters?: { name: string; in: string; description?: string }[];
      summary?: string;
    };
    const inPath = parameters.filter((each) => each.in === 'path').map((each) => each.name);
    assert.deepEqual(
      inPath,
      [...path.matchAll(/\{(\w+)\}/g)].map(([, part]) => part),
      name,
    );
    for (const each of parameters) assert.match(each.description ?? '', /\S/, `${name} ${each.name}`);
    assert.match(summary ?? '', /\S/, name);
    assert.match(String(operation['description']), /^For /, name);
    assert.match(String(operation['operationId']), /^[a-z][A-Za-z]+$/, name);
  }
});

test('what only administrators may do says what that is, and every body has a limit', () => {
  for (const { id, role, action, body, bodyLimit } of routes) {
    assert.equal(action !== undefined, role === 'admin', id);
    assert.equal(bodyLimit !== undefined, body !== undefined, id);
  }
});

test('times are whole numbers wherever they stand', () => {
  const wrong: string[] = [];
  const look = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, each] of Object.entries(value)) {
      const { type } = (each ?? {}) as { type?: unknown };
      if (/(^at|At|[uU]ntil|[sS]ince|^now|Before|After)$/.test(name) && type === 'number')
        wrong.push(`${path}.${name}`);
      look(each, `${path}.${name}`);
    }
  };
  look(document, '');
  assert.deepEqual(wrong, []);
});

test('every route says that it may answer too much at once', () => {
  for (const { name, operation } of operations) assert.ok('429' in (operation['responses'] as object), name);
});

test('every status that an error of the API has is described', () => {
  const described = new Set([...everyRoute, 413, ...routes.flatMap(({ refusals = [] }) => refusals)]);
  for (const [status, kinds] of [...jobStatuses, ...headStatuses])
    assert.ok(described.has(status), `${status} of ${kinds.map(({ code }) => code).join(', ')}`);
});
