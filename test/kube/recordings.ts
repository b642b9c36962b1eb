/** Commands and the answers that a real API server gave them, which stand beside this file and are played back by it. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

export interface Exchange {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

export interface Scenario {
  readonly name: string;
  /** What `manta` is told; FILE stands for the manifest. */
  readonly words: readonly string[];
  readonly manifest?: string;
  /** Somebody without rights, in place of the administrator. */
  readonly user?: 'ada';
}

export interface Recording {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly exchanges: readonly Exchange[];
}

const cluster = (name: string, more: { suspend?: boolean; cpu?: string } = {}): string => `
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: ${name}}
spec:
  rayVersion: 2.60.0
  suspend: ${more.suspend ?? false}
  headGroupSpec:
    rayStartParams: {}
    template: {spec: {containers: [{name: ray-head, image: lab/nothing, resources: {limits: {memory: 2Gi}, requests: {cpu: "${more.cpu ?? '1'}", memory: 1Gi}}}]}}
`;

const apply = ['kube', 'apply', '--yes', '--timeout', '4', 'FILE'];

/** In the order in which they are recorded: later ones find what earlier ones have left. */
export const scenarios: readonly Scenario[] = [
  { name: 'check', words: ['kube', 'check'] },
  { name: 'check-without-rights', words: ['kube', 'check'], user: 'ada' },
  { name: 'plan', words: ['kube', 'apply', '--plan', 'FILE'], manifest: cluster('asleep', { suspend: true }) },
  { name: 'suspended', words: apply, manifest: cluster('asleep', { suspend: true }) },
  { name: 'unchanged', words: apply, manifest: cluster('asleep', { suspend: true }) },
  { name: 'no-room', words: apply, manifest: cluster('large', { cpu: '64' }) },
  { name: 'forbidden', words: apply, manifest: cluster('asleep'), user: 'ada' },
  { name: 'delete', words: ['kube', 'delete', '--yes', 'raycluster/asleep', 'raycluster/large'] },
];

export const recordingFile = (name: string): string =>
  fileURLToPath(new URL(`recorded/${name}.jsonl`, import.meta.url));

/** The first line is what the command said, each other one an answer. */
export function readRecording(name: string): Recording {
  const [first = '', ...lines] = readFileSync(recordingFile(name), 'utf8').trim().split('\n');
  return { ...(JSON.parse(first) as Recording), exchanges: lines.map((line) => JSON.parse(line) as Exchange) };
}

/** Of equal answers to one request that follow each other, the first one. */
export function recordingText({ exchanges, ...said }: Recording): string {
  const last = new Map<string, string>();
  const changed = exchanges.filter(({ method, path, body }) => {
    const key = `${method} ${path}`;
    const isNew = last.get(key) !== body;
    last.set(key, body);
    return isNew;
  });
  return [said, ...changed].map((each) => `${JSON.stringify(each)}\n`).join('');
}

/** A kubeconfig for a server that is not asked for its certificate. */
export const plainConfig = (server: string, token?: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'recorded', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'recorded', user: token === undefined ? {} : { token } }],
    contexts: [{ name: 'recorded', context: { cluster: 'recorded', user: 'recorded' } }],
    'current-context': 'recorded',
  });

/** Answers as the recording has it: of several answers to one request each in its turn, and the last one for good. */
export async function replay(
  exchanges: readonly Exchange[],
): Promise<{ readonly url: string; readonly unknown: readonly string[]; close(): void }> {
  const left = new Map<string, Exchange[]>();
  for (const each of exchanges) {
    const key = `${each.method} ${each.path}`;
    left.set(key, [...(left.get(key) ?? []), each]);
  }
  const unknown: string[] = [];
  const server = createServer((asked, response) => {
    asked.resume();
    const key = `${asked.method} ${asked.url}`;
    const answers = left.get(key) ?? [];
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (answer === undefined) unknown.push(key);
    response
      .writeHead(answer?.status ?? 501, { 'content-type': answer?.type ?? 'text/plain' })
      .end(answer?.body ?? key);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, unknown, close: () => void server.close() };
}
