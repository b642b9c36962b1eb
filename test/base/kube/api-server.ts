/** An API server of a test's own: what it answers is up to the test. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type WebSocket, WebSocketServer } from 'ws';
import { KubeClient } from '../../../src/base/kube/client.ts';
import { type KubeChoice, openKubeAccess } from '../../../src/base/kube/config.ts';

/** Time that passes at once. */
export const clock = { now: () => 0, sleep: async () => {} };

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export const folderFor = (t: TestContext): string => {
  const folder = mkdtempSync(join(tmpdir(), 'manta-kube-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
};

export const configOf = (server: string, user: object, name = 'one'): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: `of-${name}` } }],
    'current-context': name,
  });

/** What a test does with a WebSocket; the address is what was asked for. */
type Meet = (socket: WebSocket, url: URL) => void;

export async function serve(
  t: TestContext,
  answer: Answer,
  meet?: Meet,
  protocols = ['v5.channel.k8s.io'],
): Promise<string> {
  const server = createServer(answer);
  if (meet) upgrade(server, meet, protocols);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export function access(t: TestContext, texts: readonly string[], choice: Omit<KubeChoice, 'env'> = {}) {
  const folder = folderFor(t);
  const files = texts.map((text, at) => {
    const file = join(folder, `config-${at}`);
    writeFileSync(file, text);
    return file;
  });
  return openKubeAccess({ env: { KUBECONFIG: [join(folder, 'none'), ...files].join(':') }, ...choice });
}

/** The server takes the first protocol that it knows, as Kubernetes does. */
function upgrade(server: Server, meet: Meet, protocols: readonly string[]): void {
  const sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (asked) => [...asked].find((each) => protocols.includes(each)) ?? false,
  });
  server.on('upgrade', (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head, (opened) => meet(opened, new URL(request.url!, 'http://x')));
  });
}

/** A client of a server that takes WebSockets alone. */
export async function socketClient(t: TestContext, meet: Meet, protocols?: string[]): Promise<KubeClient> {
  const known = protocols ?? ['v5.channel.k8s.io', 'v4.channel.k8s.io'];
  const server = await serve(t, (_, response) => say(response, 404, {}), meet, known);
  const client = new KubeClient(access(t, [configOf(server, { token: 'secret-1' })]), clock);
  t.after(() => client.close());
  return client;
}

/** The kubeconfig of a server that has these objects by their paths, for programs. */
export async function configWith(t: TestContext, objects: Readonly<Record<string, object>>): Promise<string> {
  const server = await serve(t, (request, response) => {
    const found = objects[new URL(request.url!, 'http://x').pathname];
    say(response, found === undefined ? 404 : 200, found ?? { message: 'not found' });
  });
  const file = join(folderFor(t), 'config');
  writeFileSync(file, configOf(server, { token: 'secret-1' }));
  return file;
}

export async function clientOf(
  t: TestContext,
  answer: Answer,
  user: object = { token: 'secret-1' },
): Promise<KubeClient> {
  const client = new KubeClient(access(t, [configOf(await serve(t, answer), user)]), clock);
  t.after(() => client.close());
  return client;
}

export const say = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void => {
  response.writeHead(status, headers).end(JSON.stringify(body));
};
