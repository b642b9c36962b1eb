// needs: openssl, ray, hosts, podman, kube

/**
 * Whether the answers that `test/kube/recorded.test.ts` plays back are still those of a real API server. With
 * MANTA_RECORD=yes they are written anew.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import {
  type Exchange,
  plainConfig,
  type Recording,
  readRecording,
  recordingFile,
  recordingText,
  type Scenario,
  scenarios,
} from '../kube/recordings.ts';
import { KubeBed, kubeProblem } from './kube-bed.ts';

const port = 8100;

describe('recorded answers', { skip: kubeProblem() ?? false }, () => {
  let bed: KubeBed;
  let exchanges: Exchange[] = [];
  before(async () => {
    bed = await KubeBed.open();
    const words = ['node', '/opt/kube-lab/recorder.ts', '/var/lib/containers/kube/pki', String(port)];
    const recorder = bed.kube.host.spawn(words, { user: 'root', stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise<void>((resolve) => {
      createInterface({ input: recorder.stdout! }).on('line', (line) => {
        const said = JSON.parse(line) as Exchange | string;
        if (typeof said === 'string') resolve();
        else exchanges.push(said);
      });
    });
  });
  after(() => bed?.close());

  async function record({ name, words, manifest, user }: Scenario): Promise<Recording> {
    exchanges = [];
    const file = `${name}.yaml`;
    bed.bed.write(file, manifest ?? '');
    const server = `http://${bed.kube.host.name}:${port}`;
    const token = user && /token: (\w+)/.exec(bed.kube.userConfig(user))![1]!;
    const told = words.map((word) => (word === 'FILE' ? file : word));
    const { code, stdout, stderr } = await bed.run(told, plainConfig(server, token));
    const plain = (text: string): string => text.replaceAll(file, 'FILE').replaceAll(server, 'http://SERVER');
    return { exit: code, stdout: plain(stdout), stderr: plain(stderr), exchanges };
  }

  for (const scenario of scenarios)
    test(`${scenario.name} is answered as it was`, async () => {
      const fresh = await record(scenario);
      assert.notEqual(fresh.exchanges.length, 0, fresh.stderr);
      if (process.env['MANTA_RECORD'] === 'yes') writeFileSync(recordingFile(scenario.name), recordingText(fresh));
      const recorded = readRecording(scenario.name);
      assert.equal(fresh.exit, recorded.exit, fresh.stderr);
      assert.deepEqual(untrueIn(recorded.exchanges, fresh.exchanges), []);
    });
});

/** Names that Kubernetes makes up, and what a request names them by. */
const madeUp = (path: string): string => decodeURIComponent(path).replaceAll(/-head-\w{5}\b/g, '-head-XXXXX');

const requestOf = ({ method, path }: Exchange): string => `${method} ${madeUp(path)}`;

/** What an answer is, and the fields that it has. */
const shapeOf = ({ status, type, body }: Exchange): readonly string[] => [
  `${status} ${type}`,
  ...(type.includes('json') ? fieldsOf(JSON.parse(body)) : []),
];

/**
 * What the last recorded answer to a request has and no fresh one does. What is asked for only while something is on its way
 * may be missing; what changes something may not.
 */
function untrueIn(recorded: readonly Exchange[], fresh: readonly Exchange[]): readonly string[] {
  const last = new Map(recorded.map((each) => [requestOf(each), each]));
  return [...last].flatMap(([request, exchange]) => {
    const answers = fresh.filter((each) => requestOf(each) === request);
    if (answers.length === 0) return exchange.method === 'GET' ? [] : [`${request} was not sent`];
    const has = new Set(answers.flatMap(shapeOf));
    return [...new Set(shapeOf(exchange))].filter((each) => !has.has(each)).map((each) => `${request}: ${each}`);
  });
}

/** Maps of free names, and what comes and goes while a node starts. */
const free = new Set('managedFields annotations labels allocatable capacity images conditions taints'.split(' '));

function fieldsOf(value: unknown, path = ''): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((each) => fieldsOf(each, path));
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([key, each]) =>
    free.has(key) ? [`${path}.${key}`] : fieldsOf(each, `${path}.${key}`),
  );
}
