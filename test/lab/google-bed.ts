// needs: openssl, google-discovery

/** A fake of Google for a test, with stand-ins for machines, and calls as plain HTTP. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type GoogleOptions, labProject, openStandInGoogle } from '../../lab/google/open.ts';
import { until } from '../contract/waiting.ts';

/** What Google answers. The fake has held it to its document, so a test takes of it what it looks at. */
export type Answer = ReturnType<typeof JSON.parse>;

export class Refused extends Error {
  readonly status: number;
  readonly answer: Answer;
  constructor(status: number, answer: Answer) {
    super(answer?.error?.message ?? JSON.stringify(answer));
    this.status = status;
    this.answer = answer;
  }

  /** Of Compute Engine. */
  get reason(): string | undefined {
    return this.answer?.error?.errors?.[0]?.reason;
  }
}

export type Ask = (verb: string, path: string, body?: unknown) => Promise<Answer>;

/** Calls with a token, as plain as they can be. */
export const asker =
  (endpoint: string, token: () => string): Ask =>
  async (verb, path, body) => {
    const response = await fetch(`${endpoint}${path}`, {
      method: verb,
      headers: { authorization: `Bearer ${token()}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const answer = text === '' ? undefined : JSON.parse(text);
    if (!response.ok) throw new Refused(response.status, answer);
    return answer;
  };

export const zone = 'us-west1-a';
export const compute = `/compute/v1/projects/${labProject}`;
export const tpu = `/v2/projects/${labProject}/locations`;

/** An instance as Ray asks for it. */
export const machine = (name: string, more: object = {}, where = zone): object => ({
  name,
  machineType: `zones/${where}/machineTypes/n1-standard-2`,
  disks: [
    {
      boot: true,
      autoDelete: true,
      type: 'PERSISTENT',
      initializeParams: {
        diskSizeGb: 50,
        sourceImage: 'projects/deeplearning-platform-release/global/images/family/common-cpu',
      },
    },
  ],
  networkInterfaces: [
    {
      subnetwork: `projects/${labProject}/regions/${where.slice(0, -2)}/subnetworks/default`,
      accessConfigs: [{ name: 'External NAT', type: 'ONE_TO_ONE_NAT' }],
    },
  ],
  ...more,
});

export const slice = (more: object = {}): object => ({
  acceleratorType: 'v4-16',
  runtimeVersion: 'tpu-ubuntu2204-base',
  networkConfig: { enableExternalIps: true },
  ...more,
});

export async function googleBed(t: TestContext, options: GoogleOptions = {}) {
  const google = await openStandInGoogle(options);
  t.after(() => google.close());
  const ask = asker(google.localEndpoint, google.token);
  /** The operation, when it has ended. */
  const wait = (operation: Answer): Promise<Answer> => {
    const path = new URL(operation.selfLink as string).pathname;
    return ask('POST', `${path}/wait`);
  };
  const insert = async (name: string, more: object = {}, where = zone): Promise<Answer> =>
    wait(await ask('POST', `${compute}/zones/${where}/instances`, machine(name, more, where)));
  const get = (name: string, where = zone): Promise<Answer> =>
    ask('GET', `${compute}/zones/${where}/instances/${name}`);
  const reaches = (name: string, status: string): Promise<unknown> =>
    until(`${name} is ${status}`, async () => (await get(name)).status === status);
  /** The same of TPUs, whose operations are asked for again and again. */
  const ended = (operation: Answer): Promise<Answer> =>
    until('the operation has ended', async () => {
      const now = await ask('GET', `/v2/${operation.name}`);
      return now.done && now;
    });
  return { ...google, ask, wait, insert, get, reaches, ended };
}

/** That a call is refused with this status and in these words; the answer is what was said. */
export async function refused(call: Promise<unknown>, status: number, words?: RegExp): Promise<Refused> {
  const error = await call.then(
    () => assert.fail(`the call was not refused with ${status}`),
    (each: unknown) => each as Refused,
  );
  assert.equal(error.status, status, error.message);
  if (words !== undefined) assert.match(error.message, words);
  return error;
}
