import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { kubeErrors } from '../../../src/base/kube/errors.ts';
import { type WatchStep, watch } from '../../../src/base/kube/watch.ts';
import { clientOf, clock, say } from './api-server.ts';

const object = (uid: string, version: string): object => ({ metadata: { uid, name: uid, resourceVersion: version } });
const event = (type: string, of: object): string => `${JSON.stringify({ type, object: of })}\n`;

const told = (step: WatchStep): string =>
  step.changes
    .map(({ kind, object: of }) => `${kind} ${(of as { metadata: { uid: string } }).metadata.uid}`)
    .join(', ');

test('a watch goes on after closed connections, and lists again on 410 with what changed meanwhile', async (t) => {
  const abort = new AbortController();
  t.after(() => abort.abort());
  const asked: string[] = [];
  const lists = [
    [object('a', '1'), object('b', '2')],
    [object('b', '9'), object('c', '8')],
  ];
  const watches: ((response: ServerResponse) => void)[] = [
    // Cut in the middle of a line: that event is not seen before the next connection.
    (response) =>
      void response.end(event('MODIFIED', object('a', '4')) + event('BOOKMARK', object('', '5')) + '{"type":'),
    (response) => void response.end(event('DELETED', object('a', '6'))),
    (response) => void response.end(event('ERROR', { code: 410, message: 'too old' })),
    (response) => void response.write(event('ADDED', object('d', '11'))),
  ];
  const client = await clientOf(t, (request, response) => {
    const { searchParams } = new URL(request.url!, 'http://x');
    if (searchParams.get('watch') === null) {
      asked.push('list');
      return say(response, 200, { metadata: { resourceVersion: '3' }, items: lists.shift() });
    }
    asked.push(`watch ${searchParams.get('resourceVersion')}`);
    watches.shift()!(response);
  });
  const steps: string[] = [];
  const names: string[] = [];
  for await (const step of watch(client, { path: '/x', call: 'follow x', signal: abort.signal }, { clock })) {
    steps.push(told(step));
    names.splice(0, names.length, ...step.items.keys());
    if (steps.length === 5) break;
  }
  assert.deepEqual(steps, ['added a, added b', 'changed a', 'deleted a', 'changed b, added c', 'added d']);
  assert.deepEqual(names, ['b', 'c', 'd']);
  assert.deepEqual(asked, ['list', 'watch 3', 'watch 5', 'watch 6', 'list', 'watch 3']);
});

test('a refusal ends a watch at once, and a server that stays away ends it when patience is over', async (t) => {
  let status = 403;
  let now = 0;
  const passing = { now: () => now, sleep: async (time: number) => void (now += time) };
  const client = await clientOf(t, (_, response) => say(response, status, { message: 'no' }));
  const next = () =>
    watch(
      client,
      { path: '/x', call: 'follow x', signal: new AbortController().signal },
      { clock: passing, patience: 60_000 },
    ).next();
  await assert.rejects(next(), (error) => kubeErrors.Forbidden.is(error));
  assert.equal(now, 0);
  status = 503;
  await assert.rejects(next(), (error) => kubeErrors.Failed.is(error));
  assert.ok(now >= 60_000);
});
