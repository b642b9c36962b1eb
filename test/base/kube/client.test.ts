import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { KubeClient } from '../../../src/base/kube/client.ts';
import { openKubeAccess } from '../../../src/base/kube/config.ts';
import { kubeErrors } from '../../../src/base/kube/errors.ts';
import { listAll } from '../../../src/base/kube/list.ts';
import { never } from '../../contract/waiting.ts';
import { type Answer, access, clientOf, clock, configOf, folderFor, say, serve } from './api-server.ts';

const pods = { path: '/api/v1/pods', call: 'list pods', signal: never };

test('files of KUBECONFIG are merged as kubectl does: the first that names a thing counts, missing files do not', (t) => {
  const texts = [configOf('https://a', {}), configOf('https://b', {}), configOf('https://c', {}, 'two')];
  const first = access(t, texts);
  assert.deepEqual([first.server, first.context, first.namespace], ['https://a', 'one', 'of-one']);
  const second = access(t, texts, { context: 'two', namespace: 'mine' });
  assert.deepEqual([second.server, second.namespace], ['https://c', 'mine']);
  assert.throws(
    () => access(t, texts, { context: 'three' }),
    (error) => kubeErrors.NoContext.is(error) && error.hint?.includes('one, two'),
  );
});

test('without a kubeconfig, or with one that is none, it is said which file was meant', (t) => {
  const missing = join(folderFor(t), 'config');
  assert.throws(
    () => openKubeAccess({ env: { KUBECONFIG: missing } }),
    (error) => kubeErrors.NoConfig.is(error) && error.message.includes(missing),
  );
  assert.throws(
    () => access(t, ['clusters: [']),
    (error) => kubeErrors.BadConfig.is(error),
  );
});

test('a list is read page by page, and whole when the server forgot where it was', async (t) => {
  const asked: string[] = [];
  const client = await clientOf(t, (request, response) => {
    const { searchParams } = new URL(request.url!, 'http://x');
    const from = searchParams.get('continue');
    asked.push(`${searchParams.get('limit') ?? 'all'} ${from ?? 'start'}`);
    assert.equal(request.headers.authorization, 'Bearer secret-1');
    if (from === 'lost') return say(response, 410, { kind: 'Status', message: 'too old' });
    if (!searchParams.has('limit')) return say(response, 200, { metadata: { resourceVersion: '9' }, items: [1, 2, 3] });
    const next = from === null ? 'second' : request.url!.includes('forget') ? 'lost' : undefined;
    say(response, 200, { metadata: { resourceVersion: '7', continue: next }, items: from === null ? [1] : [2] });
  });
  assert.deepEqual(await listAll(client, pods), { items: [1, 2], resourceVersion: '7' });
  const forgotten = await listAll(client, { ...pods, query: { forget: 'yes' } });
  assert.deepEqual(forgotten, { items: [1, 2, 3], resourceVersion: '9' });
  assert.deepEqual(asked, ['500 start', '500 second', '500 start', '500 second', '500 lost', 'all start']);
});

test('a list whose pages do not end is given up', async (t) => {
  const client = await clientOf(t, (_, response) => say(response, 200, { metadata: { continue: 'more' }, items: [1] }));
  await assert.rejects(
    listAll(client, pods),
    (error) => kubeErrors.Failed.is(error) && /1000 pages/.test(error.message),
  );
});

test('a busy server is asked again as long as it says so, and a change is not made twice after a fault', async (t) => {
  let calls = 0;
  const client = await clientOf(t, (request, response) => {
    calls++;
    if (request.method === 'PATCH') return say(response, 500, { message: 'etcd is gone' });
    if (calls < 3) return say(response, 429, { message: 'slow down' }, { 'retry-after': '1' });
    say(response, 200, { fine: true });
  });
  assert.equal(((await client.json(pods)) as { fine: boolean }).fine, true);
  assert.equal(calls, 3);
  const patch = client.json({ ...pods, method: 'PATCH', body: {}, call: 'patch a pod' });
  await assert.rejects(patch, (error) => kubeErrors.Failed.is(error) && error.message.includes('etcd is gone'));
  assert.equal(calls, 4);
});

test('refusals are told apart by their status', async (t) => {
  let status = 0;
  const client = await clientOf(t, (_, response) => say(response, status, { kind: 'Status', message: 'because' }));
  for (const [code, kind] of [
    [401, kubeErrors.LoginRefused],
    [403, kubeErrors.Forbidden],
    [404, kubeErrors.NotFound],
    [409, kubeErrors.Conflict],
    [410, kubeErrors.Expired],
    [422, kubeErrors.Invalid],
  ] as const) {
    status = code;
    await assert.rejects(client.json(pods), (error) => kind.is(error), String(code));
  }
});

test('a server that is not there is unreachable, and an abort ends the waiting', async (t) => {
  const client = new KubeClient(access(t, [configOf('http://127.0.0.1:1', {})]), clock);
  await assert.rejects(client.json(pods), (error) => kubeErrors.Unreachable.is(error));
  const asked = Promise.withResolvers<void>();
  const silent = await clientOf(t, () => asked.resolve());
  const abort = new AbortController();
  const waiting = silent.json({ ...pods, signal: abort.signal });
  await asked.promise;
  abort.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
});

test('an answer that stops in the middle ends with an error, and so does one without an end', async (t) => {
  const half = await serve(t, (_, response) => void response.writeHead(200).write('{"items": ['));
  const client = new KubeClient(access(t, [configOf(half, {})]), clock, 100);
  t.after(() => client.close());
  // On a busy machine not even the beginning may come in time.
  await assert.rejects(client.json(pods), /no data for|no answer within/);
  const endless = await clientOf(t, (_, response) => void Readable.from(forEver()).pipe(response));
  await assert.rejects(endless.text(pods, 1 << 20), /more than 1048576 bytes/);
});

function* forEver(): Generator<Buffer> {
  for (const block = Buffer.alloc(64 << 10, 'x'); ; ) yield block;
}

test('a server that names a date to come back at is asked again, after a pause', async (t) => {
  let calls = 0;
  const server = await serve(t, (_, response) => {
    const date = { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' };
    if (++calls === 1) return say(response, 429, { message: 'slow down' }, date);
    say(response, 200, {});
  });
  const pauses: number[] = [];
  const slow = { ...clock, sleep: async (duration: number) => void pauses.push(duration) };
  const client = new KubeClient(access(t, [configOf(server, {})]), slow);
  t.after(() => client.close());
  await client.json(pods);
  assert.deepEqual(pauses, [1_000]);
});

test('a login plugin is told what is expected of it, and its absence or failure is told by name', async (t) => {
  const folder = folderFor(t);
  const plugin = join(folder, 'plugin');
  writeFileSync(
    plugin,
    `#!/bin/sh
case $KUBERNETES_EXEC_INFO in *client.authentication.k8s.io/v1beta1*) ;; *) echo "not told" >&2; exit 1 ;; esac
echo '{"kind": "ExecCredential", "status": {"token": "from-plugin"}}'
`,
  );
  chmodSync(plugin, 0o755);
  const apiVersion = 'client.authentication.k8s.io/v1beta1';
  const answer: Answer = (request, response) => say(response, 200, { token: request.headers.authorization });
  const works = await clientOf(t, answer, { exec: { apiVersion, command: plugin } });
  assert.equal(((await works.json(pods)) as { token: string }).token, 'Bearer from-plugin');
  const absent = await clientOf(t, answer, {
    exec: { apiVersion, command: 'gke-gcloud-auth-plugin-that-is-not-here', installHint: 'install it so' },
  });
  await assert.rejects(absent.json(pods), (error) => kubeErrors.NoPlugin.is(error) && error.hint === 'install it so');
  const broken = await clientOf(t, answer, { exec: { apiVersion: 'other', command: plugin } });
  await assert.rejects(
    broken.json(pods),
    (error) => kubeErrors.PluginFailed.is(error) && /not told/.test(error.message),
  );
});
