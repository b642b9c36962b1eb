// needs: botocore

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { AwsOptions } from '../../../../lab/aws/open.ts';
import type { Credentials } from '../../../../lab/aws/principals.ts';
import type { CallRecord } from '../../../../lab/cloud/call-log.ts';
import type { MantaError } from '../../../../src/base/errors.ts';
import type { MantaEvent } from '../../../../src/base/events.ts';
import type { Clock } from '../../../../src/base/time/clock.ts';
import type { ClusterSpec } from '../../../../src/core/spec/cluster.ts';
import { planPreparation, prepare } from '../../../../src/providers/aws/prepare/prepare.ts';
import { type PreparedAws, readPrepared } from '../../../../src/providers/aws/prepared.ts';
import type { PreparationPlan, PreparationRequest } from '../../../../src/providers/clouds.ts';
import { specOf } from '../../../core/spec/cluster-text.ts';
import { awsBed } from '../../../lab/aws-bed.ts';

/** Keys of two clusters. */
export const keys = [
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGc0rnVXlUj1ub4sMvW4Ifv1sPV0cSm8KjCkJ9BmYl1a manta one',
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ7eUQYh2xGqD3nKQ0Qy4Vd4v9B1mXxw5t8Qm0f3Wc2b manta two',
] as const;

export interface Asked {
  /** Of the cluster file, or what it resolves to. */
  readonly text?: string;
  readonly spec?: ClusterSpec;
  readonly clusterId?: string;
  readonly publicKey?: string;
  readonly as?: Credentials;
  readonly env?: Readonly<Record<string, string>>;
}

export const minimal = `cluster_name: demo
provider: {type: aws, region: us-west-2}
`;

/** A cluster of m5.large; `head` and `worker` are added to their node_config, `provider` to the provider. */
export const cluster = ({ head = '', worker = '', provider = '', more = '' } = {}): string => `cluster_name: demo
provider: {type: aws, region: us-west-2, cache_stopped_nodes: false${provider && `, ${provider}`}}
auth: {ssh_user: ubuntu}
available_node_types:
  head: {resources: {}, node_config: {InstanceType: m5.large${head && `, ${head}`}}}
  worker: {min_workers: 0, max_workers: 2, resources: {}, node_config: {InstanceType: m5.large${worker && `, ${worker}`}}}
head_node_type: head
${more}`;

/** Pauses between tries are not waited for. */
const hurried: Clock = {
  now: () => Date.now(),
  sleep: async (_duration, signal) => {
    await setImmediate();
    signal?.throwIfAborted();
  },
};

export const isChange = ({ operation = '' }: CallRecord): boolean => !/^(?:Describe|Get|List|Simulate)/.test(operation);

/** AWS of stand-ins, with preparations of clusters against it from a machine that others see as 203.0.113.7. */
export async function preparationBed(t: TestContext, options: AwsOptions = {}) {
  const bed = await awsBed(t, options);
  const here = { address: '203.0.113.7' };
  const page = createServer((_request, response) => response.end(`${here.address}\n`)).listen(0, '127.0.0.1');
  await new Promise((resolve) => page.once('listening', resolve));
  t.after(() => page.close());
  const url = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
  const before = { ...process.env };
  t.after(() => Object.assign(process.env, before));
  const events: MantaEvent[] = [];

  const requestOf = (asked: Asked): PreparationRequest => {
    const spec = asked.spec ?? specOf(asked.text ?? minimal);
    const env = { HOME: '/nonexistent', MANTA_CHECKIP_URL: url, ...bed.environment(asked.as), ...asked.env };
    // The SDK reads its endpoint and keys here.
    Object.assign(process.env, bed.environment(asked.as));
    return {
      cluster: spec.name,
      clusterId: asked.clusterId ?? '0123abcd4567',
      spec: () => spec,
      login: () => ({ user: 'ubuntu', publicKey: asked.publicKey ?? keys[0] }),
      identity: () => ({ kind: 'user', env }),
      clock: hurried,
      events: {
        emit: (kind, data) =>
          void events.push({ code: kind.code, level: kind.level, at: 0, text: kind.text(data), data }),
      },
    };
  };
  const up = async (asked: Asked = {}, signal = AbortSignal.timeout(60_000)): Promise<PreparedAws> => {
    const prepared = await prepare(requestOf(asked), signal);
    const read = readPrepared(JSON.parse(JSON.stringify(prepared)));
    assert.ok(read, 'what was prepared is of the form that is kept');
    return read;
  };
  const plan = (asked: Asked = {}, signal = AbortSignal.timeout(60_000)): Promise<PreparationPlan> =>
    planPreparation(requestOf(asked), signal);
  const calls = async (): Promise<readonly CallRecord[]> => await bed.admin.calls();
  const changes = async (): Promise<readonly string[]> =>
    (await calls()).filter(isChange).map(({ operation }) => operation ?? '');
  return { ...bed, here, events, up, plan, calls, changes };
}

/** That something is refused with this code and exit code; the error to look at further. */
export async function fails(work: Promise<unknown>, code: string, exit: number, words?: RegExp): Promise<MantaError> {
  const error = await work.then(
    () => assert.fail(`it was not refused with ${code}`),
    (each: MantaError) => each,
  );
  assert.equal(error.code, code, error.stack);
  assert.equal(error.exit, exit);
  assert.ok(error.hint);
  if (words !== undefined) assert.match(`${error.message}\n${error.hint}`, words);
  return error;
}
