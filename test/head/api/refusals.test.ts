import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check } from '../../../src/api/check.ts';
import { errorAnswer } from '../../../src/api/error.ts';
import { GatewayBed } from '../gateway/bed.ts';

test('whoever refuses a request to Manta’s own API, the answer has the documented shape', async (t) => {
  const bed = await GatewayBed.open(t);
  const own = '/api/manta/v1';
  const json = { 'content-type': 'application/json' };
  const cases = [
    [400, 'MANTA_GATEWAY_BAD_REQUEST', `${own}/jobs/a%2fb`, {}],
    [400, 'MANTA_GATEWAY_BAD_REQUEST', `/manta${own}/jobs/%00`, {}],
    [401, 'MANTA_API_UNAUTHENTICATED', `${own}/jobs`, { as: null }],
    [403, 'MANTA_API_DENIED', `${own}/jobs`, { as: 'wrong' }],
    [403, 'MANTA_API_UNKNOWN_HOST', `${own}/jobs`, { headers: { host: 'evil.example' } }],
    [403, 'MANTA_API_CROSS_SITE', `${own}/jobs`, { method: 'POST', headers: { origin: 'http://evil.example' } }],
    [404, 'MANTA_API_NOT_FOUND', `${own}/nothing`, {}],
    [404, 'MANTA_JOB_NOT_FOUND', `${own}/jobs/none`, {}],
    [400, 'MANTA_JOB_INVALID', `${own}/jobs?limit=abc`, {}],
    [400, 'MANTA_API_BAD_VALUE', `${own}/events?limit=abc`, {}],
    [400, 'MANTA_API_BAD_VALUE', `${own}/events?after=-1`, {}],
    [400, 'MANTA_API_BAD_VALUE', `${own}/history?since=yesterday`, {}],
    [400, 'MANTA_API_BAD_VALUE', `${own}/journal?limit=1e3`, {}],
    [400, 'MANTA_API_BAD_VALUE', `${own}/nodes?limit=x`, {}],
    [400, 'MANTA_API_BAD_VALUE', `${own}/stream?after=x`, {}],
    [
      400,
      'MANTA_HEAD_NO_EXTENSION',
      `${own}/extend`,
      { method: 'POST', headers: json, body: '{"until":58579797551402880}' },
    ],
    [400, 'MANTA_HEAD_NO_EXTENSION', `${own}/extend`, { method: 'POST', headers: json, body: '{"until":1.5}' }],
    [
      400,
      'MANTA_HEAD_NO_EXTENSION',
      `${own}/extend`,
      { method: 'POST', headers: json, body: '{"constructor":{"by":1}}' },
    ],
    [
      400,
      'MANTA_HEAD_BAD_BUNDLES',
      `${own}/request-resources`,
      { method: 'POST', headers: json, body: '{"bundles":[{"resources":{}}]}' },
    ],
    [400, 'MANTA_HEAD_BAD_BUNDLES', `${own}/request-resources`, { method: 'POST', headers: json, body: '{' }],
    [400, 'MANTA_HEAD_BAD_DRAIN', `${own}/nodes/n/drain`, { method: 'POST', headers: json, body: '{"within":-1}' }],
    [413, 'MANTA_API_TOO_LARGE', `${own}/extend`, { method: 'POST', headers: json, body: `"${'x'.repeat(70_000)}"` }],
  ] as const;
  for (const [status, code, path, options] of cases) {
    const answer = await bed.ask(path, options);
    assert.equal(answer.status, status, `${path}: ${answer.text}`);
    assert.match(answer.headers['content-type'] ?? '', /^application\/json/, path);
    const result = check(errorAnswer, JSON.parse(answer.text), 'the answer');
    assert.ok('value' in result, `${path}: ${answer.text}`);
    assert.equal(result.value.error.code, code, path);
  }
  assert.match(
    (await bed.ask('/api/v0/%00')).text,
    /\(MANTA_GATEWAY_BAD_REQUEST\)/,
    'Ray’s clients are told in plain text',
  );
});
