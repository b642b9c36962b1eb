import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import type { WebSocket } from 'ws';
import { kubeErrors } from '../../../src/base/kube/errors.ts';
import { execInPod } from '../../../src/base/kube/exec.ts';
import { followPodLog } from '../../../src/base/kube/logs.ts';
import { connectToPod, forwardToPod } from '../../../src/base/kube/port-forward.ts';
import { never } from '../../contract/waiting.ts';
import { clientOf, clock, folderFor, say, socketClient } from './api-server.ts';

const frame = (channel: number, body: string | Buffer): Buffer =>
  Buffer.concat([Buffer.of(channel), Buffer.from(body)]);
const status = (body: object): Buffer => frame(3, JSON.stringify(body));
const exit = (code: string): object => ({
  status: 'Failure',
  reason: 'NonZeroExitCode',
  details: { causes: [{ reason: 'ExitCode', message: code }] },
});

const pod = { namespace: 'a b', pod: 'p', container: 'c', signal: never };

test('exec hands over both outputs, the size of the terminal and the true exit code', async (t) => {
  const asked: URL[] = [];
  const sizes: string[] = [];
  const client = await socketClient(t, (socket, url) => {
    asked.push(url);
    socket.on('message', (data: Buffer) => {
      if (data[0] !== 4) return;
      sizes.push(data.subarray(1).toString());
      for (const each of [frame(1, 'out'), frame(2, 'err'), frame(1, ''), status(exit('7'))]) socket.send(each);
    });
  });
  const ran = await execInPod(client, { ...pod, command: ['echo', 'x y'] });
  ran.resize({ columns: 80, rows: 24 });
  const [out, err, code] = await Promise.all([text(ran.stdout), text(ran.stderr), ran.ended]);
  assert.deepEqual([out, err, code], ['out', 'err', 7]);
  assert.deepEqual(sizes, ['{"Width":80,"Height":24}']);
  assert.equal(asked[0]!.pathname, '/api/v1/namespaces/a%20b/pods/p/exec');
  assert.deepEqual(asked[0]!.searchParams.getAll('command'), ['echo', 'x y']);
});

test('the end of standard input reaches the command with v5, and v4 is told to be without it', async (t) => {
  const heard: Buffer[] = [];
  const meet = (socket: WebSocket): void => {
    socket.on('message', (data: Buffer) => {
      heard.push(data);
      if (data[0] === 255 || socket.protocol.startsWith('v4')) socket.send(status({ status: 'Success' }));
    });
  };
  const five = await execInPod(await socketClient(t, meet), { ...pod, command: ['cat'], stdin: true });
  five.stdin.end('all');
  assert.deepEqual([await five.ended, five.endsInput], [0, true]);
  assert.deepEqual(heard, [frame(0, 'all'), Buffer.of(255, 0)]);
  const older = await socketClient(t, meet, ['v4.channel.k8s.io']);
  const four = await execInPod(older, { ...pod, command: ['cat'], stdin: true });
  four.stdin.end('all');
  assert.deepEqual([await four.ended, four.endsInput], [0, false]);
  assert.equal(heard.length, 3);
});

test('a connection that is lost is no exit code, and a refusal is told by its status', async (t) => {
  const lost = await execInPod(await socketClient(t, (socket) => socket.terminate()), { ...pod, command: ['x'] });
  await assert.rejects(lost.ended, (error) => kubeErrors.Failed.is(error));
  const refusing = await clientOf(t, (_, response) => say(response, 403, { message: 'no create' }));
  await assert.rejects(execInPod(refusing, { ...pod, command: ['x'] }), (error) => kubeErrors.Forbidden.is(error));
  const broken = await socketClient(t, (socket) =>
    socket.send(status({ status: 'Failure', message: 'no sh', code: 500 })),
  );
  const failed = await execInPod(broken, { ...pod, command: ['x'] });
  await assert.rejects(failed.ended, (error) => kubeErrors.Failed.is(error) && /no sh/.test(error.message));
});

test('an abort drops a command whose pod says nothing', async (t) => {
  const abort = new AbortController();
  const ran = await execInPod(await socketClient(t, () => {}), { ...pod, command: ['x'], signal: abort.signal });
  abort.abort(new Error('enough'));
  await assert.rejects(ran.ended, /enough/);
});

/** What a kubelet does for a port: its number first, on both channels, then the bytes. */
const echoing = (socket: WebSocket, name: string): void => {
  const port = Buffer.of(0x49, 0x20);
  socket.send(frame(0, port));
  socket.send(frame(1, port));
  socket.on('message', (data: Buffer) => {
    socket.send(frame(0, `${name}:${data.subarray(1).toString()}`), () => socket.close(1000));
  });
};

test('a port of a pod is reached byte for byte, and what the far end says of a failure is the error', async (t) => {
  const client = await socketClient(t, (socket) => echoing(socket, 'p'), ['v4.channel.k8s.io']);
  const line = await connectToPod(client, { ...pod, port: 8265 }, never);
  line.write('hello');
  assert.equal(await text(line), 'p:hello');
  const refused = await socketClient(
    t,
    (socket) => {
      socket.send(frame(1, Buffer.of(0x49, 0x20)));
      socket.send(frame(1, 'connection refused'));
    },
    ['v4.channel.k8s.io'],
  );
  const closed = await connectToPod(refused, { ...pod, port: 8265 }, never);
  await assert.rejects(text(closed), (error) => kubeErrors.Failed.is(error) && /refused/.test(error.message));
});

test('a forwarded port asks again which pod it is, and its socket is of this user alone', async (t) => {
  const client = await socketClient(t, (socket, url) => echoing(socket, url.pathname.split('/')[6]!), [
    'v4.channel.k8s.io',
  ]);
  const path = join(folderFor(t), 'socket');
  const abort = new AbortController();
  let now = 'first';
  const asked: string[] = [];
  const failed: Error[] = [];
  const forward = await forwardToPod({
    client,
    clock,
    port: 8265,
    here: { path },
    signal: abort.signal,
    onFailure: (error) => failed.push(error),
    pod: async () => {
      asked.push(now);
      if (now === 'none') throw kubeErrors.NotFound({ call: 'find the head', detail: 'there is none' });
      return { namespace: 'n', pod: now };
    },
  });
  assert.ok(forward);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const say = async (word: string): Promise<string> => {
    const near = connect(path);
    near.write(word);
    return await text(near).catch(() => 'cut');
  };
  assert.deepEqual([await say('a'), await say('b')], ['first:a', 'first:b']);
  assert.deepEqual(asked, ['first']);
  forward.forget();
  now = 'none';
  assert.equal(await say('c'), 'cut');
  assert.ok(asked.length > 2 && kubeErrors.NotFound.is(failed[0]));
  now = 'second';
  assert.equal(await say('d'), 'second:d');
  abort.abort();
  await new Promise((resolve) => forward.server.once('close', resolve));
  assert.equal(existsSync(path), false);
});

test('a followed log that is cut goes on after the last line that came', async (t) => {
  const line = (second: number, word: string): string => `2026-01-01T00:00:0${second}.000000001Z ${word}\n`;
  const asked: (string | null)[] = [];
  const client = await clientOf(t, (request, response) => {
    const { searchParams } = new URL(request.url!, 'http://x');
    asked.push(searchParams.get('sinceTime'));
    if (asked.length === 1) {
      response.write(`${line(1, 'one')}${line(2, 'two')}`, () => setImmediate(() => response.destroy()));
      return;
    }
    response.end(`${line(2, 'two')}${line(2, 'also').replace('000001Z', '000002Z')}${line(3, 'three')}`);
  });
  const lines: string[] = [];
  for await (const each of followPodLog(client, pod, clock)) lines.push(each);
  assert.deepEqual(lines, ['one', 'two', 'also', 'three']);
  assert.deepEqual(asked, [null, '2026-01-01T00:00:02Z']);
});
