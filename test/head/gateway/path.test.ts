import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needsAdmin } from '../../../src/head/gateway/access.ts';
import { readTarget, routeOf } from '../../../src/head/gateway/path.ts';
import { fc } from '../../property.ts';

const pathOf = (text: string): string | undefined => readTarget(text)?.path;

test('each place has one spelling', () => {
  const spellings: readonly (readonly [string, string])[] = [
    ['/', '/'],
    ['/nodes', '/nodes'],
    ['//nodes', '/nodes'],
    ['/./nodes', '/nodes'],
    ['/a/../nodes', '/nodes'],
    ['/a/b/../../nodes/.', '/nodes/'],
    ['/../../nodes', '/nodes'],
    ['/%6eodes', '/nodes'],
    ['/%6Eodes', '/nodes'],
    ['/%2e%2E/nodes', '/nodes'],
    ['/api%2Djobs', '/api-jobs'],
    ['/api/jobs//', '/api/jobs/'],
    ['/a%20b', '/a%20b'],
    ['/a%c3%a4', '/a%C3%A4'],
    ['/%253a', '/%253a'],
    ['/a%3Ab', '/a:b'],
    ['/a|b', '/a%7Cb'],
  ];
  for (const [text, path] of spellings) assert.equal(pathOf(text), path, text);
  assert.deepEqual(readTarget('/nodes?view=summary&x=%2F..'), { path: '/nodes', query: '?view=summary&x=%2F..' });
  assert.deepEqual(readTarget('/nodes?'), { path: '/nodes', query: '' });
});

test('what could be read in two ways is not read at all', () => {
  const bad = [
    '',
    'nodes',
    '*',
    'http://localhost/nodes',
    '/a\\b',
    '/%5c',
    '/%5C..',
    '/%2f',
    '/api%2Fjobs/',
    '/%00',
    '/%0d%0a',
    '/%7f',
    '/%c2%85',
    '/%',
    '/%zz',
    '/%ff',
    '/%c0%af',
    '/a b',
    '/ä',
    '/a#b',
    '/nodes?x#y',
    '/nodes?a\u0000',
  ];
  for (const text of bad) assert.equal(readTarget(text), undefined, JSON.stringify(text));
});

/** Paths as somebody would write them who wants to be read in two ways. */
const crafted = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '/',
        '//',
        '.',
        '..',
        '%2e',
        '%2E%2e',
        '%2f',
        '%5c',
        '\\',
        ';',
        '%00',
        '%25',
        '%2525',
        '%',
        '?',
        '#',
      ),
      fc.constantFrom('api', 'API', 'jobs', 'Jobs', 'j%6fbs', 'manta', 'v0', 'v1', 'logs', 'static', 'nodes', 'x'),
      fc.string({ maxLength: 3 }),
      fc.integer({ min: 0, max: 255 }).map((byte) => `%${byte.toString(16).padStart(2, '0')}`),
    ),
    { maxLength: 14 },
  )
  .map((parts) => `/${parts.join('')}`);

test('reading what was read changes nothing, and nothing is left to decode, resolve or join', () => {
  fc.assert(
    fc.property(crafted, (text) => {
      const target = readTarget(text);
      if (target === undefined) return;
      const { path, query } = target;
      assert.deepEqual(readTarget(`${path}${query}`), target);
      assert.match(path, /^\/[\x21-\x7e]*$/);
      assert.doesNotMatch(path, /[\\?#]|\/\/|%(?:2[efEF]|5[cC]|00)/);
      assert.ok(!path.split('/').some((part) => part === '.' || part === '..'), path);
      // The spelling of the one reader that all browsers share.
      assert.equal(new URL(path, 'http://x').pathname, path);
    }),
    { numRuns: 5_000 },
  );
});

test('no spelling leads what is Manta’s to Ray', () => {
  fc.assert(
    fc.property(crafted, (text) => {
      const target = readTarget(text);
      if (target === undefined) return;
      const route = routeOf(target, true);
      // As loosely as any server could read it.
      const loose = decodeURIComponent(target.path).toLowerCase();
      if (/^\/(?:manta|api\/(?:manta|jobs|packages|authenticate|version))(?:\/|$)/.test(loose))
        assert.notEqual(route.to, 'ray', target.path);
    }),
    { numRuns: 5_000 },
  );
});

test('the jobs API is Manta’s in every spelling, the rest is Ray’s where there is one', () => {
  const to = (text: string, hasRay = true): string => routeOf(readTarget(text)!, hasRay).to;
  for (const path of [
    '/api/jobs/',
    '//api/jobs/',
    '/api/./jobs/x',
    '/static/../api/jobs/',
    '/API/Jobs/',
    '/api/j%6Fbs/x',
  ])
    assert.equal(to(path), 'manta', path);
  for (const path of [
    '/',
    '/static/js/x.js',
    '/api/serve/applications/',
    '/nodes',
    '/api/v0/jobs',
    '/api/jobsx',
    '/mantas',
  ])
    assert.equal(to(path), 'ray', path);
  for (const path of ['/', '/static/js/x.js', '/nodes']) assert.equal(to(path, false), 'manta', path);
  assert.deepEqual(routeOf({ path: '/manta/', query: '' }, true), { to: 'manta', path: '/' });
  assert.deepEqual(routeOf({ path: '/manta', query: '?a' }, true), { to: 'elsewhere', location: '/manta/?a' });
  assert.deepEqual(routeOf({ path: '/', query: '?ticket=x' }, true), { to: 'manta', path: '/' });
});

test('everything but a known plain read is for administrators', () => {
  for (const path of ['/nodes', '/nodes/abc', '/api/v0/tasks', '/static/js/main.js', '/api/v0/nodes'])
    for (const method of ['GET', 'HEAD']) assert.equal(needsAdmin(method, path), false, `${method} ${path}`);
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'])
    assert.equal(needsAdmin(method, '/nodes'), true, method);
  const acting = [
    '/worker/cpu_profile',
    '/worker/traceback',
    '/task/traceback',
    '/memory_profile',
    '/test/dump',
    '/api/v0/delay/5',
    '/api/v0/logs',
    '/api/v0/logs/file',
    '/api/v0/runtime_envs',
    '/api/v0/jobs',
    '/api/serve/applications/',
    '/events',
    '/api/v1/anything-new',
    '/NODES',
    '/nodes/',
    '/nodes/a/b',
  ];
  for (const path of acting) assert.equal(needsAdmin('GET', path), true, path);
});
