import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import type { WebSocket } from 'ws';
import type { KubeClient } from '../../../src/base/kube/client.ts';
import { kubeErrors } from '../../../src/base/kube/errors.ts';
import { PodHost } from '../../../src/base/kube/pod-host.ts';
import { wallClock } from '../../../src/base/time/wall-clock.ts';
import { never } from '../../contract/waiting.ts';
import { configOf, folderFor, socketClient } from './api-server.ts';

/** A pod whose programs are those of this machine; its ports too. */
function meet(socket: WebSocket, url: URL): void {
  const send = (channel: number, bytes: Uint8Array): void => socket.send(Buffer.concat([Buffer.of(channel), bytes]));
  if (url.pathname.endsWith('/portforward')) {
    const port = Number(url.searchParams.get('ports'));
    for (const channel of [0, 1]) send(channel, Buffer.of(port & 255, port >> 8));
    const far = connect(port, '127.0.0.1');
    far.on('data', (bytes) => send(0, bytes));
    far.on('close', () => socket.close());
    socket.on('message', (data: Buffer) => far.write(data.subarray(1)));
    return;
  }
  const [program = '', ...words] = url.searchParams.getAll('command');
  const child = spawn(program, words);
  child.stdin.on('error', () => {});
  child.stdout.on('data', (bytes: Buffer) => send(1, bytes));
  child.stderr.on('data', (bytes: Buffer) => send(2, bytes));
  child.on('close', (code) => {
    const causes = [{ reason: 'ExitCode', message: String(code) }];
    const status = code === 0 ? { status: 'Success' } : { status: 'Failure', details: { causes } };
    send(3, Buffer.from(JSON.stringify(status)));
  });
  socket.on('message', (data: Buffer) => {
    if (data[0] === 255) child.stdin.end();
    else if (data[0] === 0) child.stdin.write(data.subarray(1));
  });
  socket.on('close', () => child.stdin.end());
}

async function podHost(t: TestContext, protocols?: string[]): Promise<{ host: PodHost; client: KubeClient }> {
  const client = await socketClient(t, meet, protocols);
  const host = new PodHost({ namespace: 'n', pod: 'p', container: 'c' }, { client, clock: wallClock });
  t.after(() => host.close());
  return { host, client };
}

for (const [words, protocols] of [
  ['a pod', undefined],
  ['a pod below Kubernetes 1.30', ['v4.channel.k8s.io']],
] as const) {
  test(`${words} runs programs as hosts do: output, code, an empty input`, async (t) => {
    const { host } = await podHost(t, protocols && [...protocols]);
    const ran = await host.sh('echo out; echo err >&2; cat; exit 3', { signal: never });
    assert.deepEqual(ran, { code: 3, stdout: 'out\n', stderr: 'err\n' });
    const home = await host.sh('pwd', { signal: never });
    assert.equal(home.stdout.trim(), process.env['HOME']);
  });

  test(`${words} gets files whole, with their mode`, async (t) => {
    const { host } = await podHost(t, protocols && [...protocols]);
    const path = join(folderFor(t), 'deep', 'file');
    const content = Buffer.alloc(200_000, 'abc\0');
    await host.put(path, content, 0o640, { signal: never });
    assert.deepEqual([readFileSync(path).equals(content), statSync(path).mode & 0o777], [true, 0o640]);
    await assert.rejects(host.put('/proc/none/file', content, 0o600, { signal: never }), (error) =>
      kubeErrors.Failed.is(error),
    );
  });
}

test('a program that takes too long ends the waiting, and so does an abort', async (t) => {
  const { host } = await podHost(t);
  await assert.rejects(host.sh('sleep 60', { signal: never, within: 300 }), /did not end within/);
  const abort = new AbortController();
  const waiting = host.sh('sleep 60', { signal: abort.signal });
  abort.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
});

test('a port of the pod is a socket here', async (t) => {
  const { host } = await podHost(t);
  const server = createServer((line) => line.end('hello'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const path = await host.forward({ port: (server.address() as { port: number }).port }, never);
  assert.equal(await text(connect(path)), 'hello');
  await host.close();
  assert.equal(existsSync(path), false);
});

test('open gives a child with its streams and its exit code, and rsync goes the same way', async (t) => {
  const { host, client } = await podHost(t);
  const before = process.env['KUBECONFIG'];
  const file = join(folderFor(t), 'config');
  writeFileSync(file, configOf(client.access.server, { token: 'secret-1' }));
  process.env['KUBECONFIG'] = file;
  t.after(() => {
    if (before === undefined) delete process.env['KUBECONFIG'];
    else process.env['KUBECONFIG'] = before;
  });
  const child = host.open('cat; echo end >&2; exit 5', { stdio: 'pipe' });
  child.stdin!.end('through');
  const [out, err, [code]] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'close')]);
  assert.deepEqual([out, err, code], ['through', 'end\n', 5]);
  const { shell, prefix } = host.rsync();
  assert.equal(prefix, 'p:');
  const words = shell!.split(' ');
  const asRsync = spawn(words[0]!, [...words.slice(1), 'p', 'echo', 'a', 'b']);
  assert.equal(await text(asRsync.stdout), 'a b\n');
});
