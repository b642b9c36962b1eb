// needs: openssl, google-discovery

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { CallRecord } from '../../../lab/cloud/call-log.ts';
import type { Credentials, GoogleOptions } from '../../../lab/google/open.ts';
import type { MantaError } from '../../../src/base/errors.ts';
import type { MantaEvent } from '../../../src/base/events.ts';
import type { Clock } from '../../../src/base/time/clock.ts';
import type { ClusterSpec } from '../../../src/core/spec/cluster.ts';
import type { PreparationPlan, PreparationRequest } from '../../../src/providers/clouds.ts';
import { planPreparation, prepare } from '../../../src/providers/google/prepare/prepare.ts';
import { type PreparedGoogle, readPrepared } from '../../../src/providers/google/prepared.ts';
import { specOf } from '../../core/spec/cluster-text.ts';
import { googleBed } from '../../lab/google-bed.ts';

export const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGc0rnVXlUj1ub4sMvW4Ifv1sPV0cSm8KjCkJ9BmYl1a manta one';

export interface Asked {
  /** Of the cluster file, or what it resolves to. */
  readonly text?: string;
  readonly spec?: ClusterSpec;
  readonly clusterId?: string;
  /** What an earlier preparation left. */
  readonly prepared?: PreparedGoogle;
  readonly as?: Credentials;
  readonly env?: Readonly<Record<string, string>>;
}

const boot = `disks: [{boot: true, autoDelete: true, initializeParams: {diskSizeGb: 50, sourceImage: projects/ubuntu-os-cloud/global/images/family/ubuntu-2204-lts}}]`;

/** A cluster of n2-standard-4; `head` and `worker` are added to their node_config, `provider` to the provider. */
export const cluster = ({
  head = '',
  worker = '',
  provider = '',
  more = '',
  machine = 'machineType: n2-standard-4',
  places = 'region: us-central1, availability_zone: us-central1-a',
} = {}): string => `cluster_name: demo
provider: {type: gcp, ${places}, project_id: lab-project${provider && `, ${provider}`}}
auth: {ssh_user: ubuntu}
available_node_types:
  head: {resources: {}, node_config: {machineType: n2-standard-4, ${boot}${head && `, ${head}`}}}
  worker: {min_workers: 0, max_workers: 2, resources: {}, node_config: {${machine}, ${machine.includes('accelerator') ? 'runtimeVersion: tpu-ubuntu2204-base' : boot}${worker && `, ${worker}`}}}
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

const reads = /\.(?:get\w*|list|aggregatedList|testIamPermissions)$/;
export const isChange = ({ operation = '' }: CallRecord): boolean => !reads.test(operation);

/** Google of stand-ins, with preparations of clusters against it from a machine that others see as 203.0.113.7. */
export async function preparationBed(t: TestContext, options: GoogleOptions = {}) {
  const bed = await googleBed(t, options);
  const here = { address: '203.0.113.7' };
  const page = createServer((_request, response) => response.end(`${here.address}\n`)).listen(0, '127.0.0.1');
  await new Promise((resolve) => page.once('listening', resolve));
  t.after(() => page.close());
  const url = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
  const events: MantaEvent[] = [];

  const requestOf = (asked: Asked): PreparationRequest => {
    const spec = asked.spec ?? specOf(asked.text ?? cluster());
    const env = { HOME: '/nonexistent', MANTA_CHECKIP_URL: url, ...bed.environment(asked.as), ...asked.env };
    return {
      cluster: spec.name,
      clusterId: asked.clusterId ?? '0123abcd4567',
      prepared: () => asked.prepared,
      spec: () => spec,
      login: () => ({ user: 'ubuntu', publicKey }),
      identity: () => ({ kind: 'user', env }),
      clock: hurried,
      events: {
        emit: (kind, data) =>
          void events.push({ code: kind.code, level: kind.level, at: 0, text: kind.text(data), data }),
      },
    };
  };
  const up = async (asked: Asked = {}, signal = AbortSignal.timeout(60_000)): Promise<PreparedGoogle> => {
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
