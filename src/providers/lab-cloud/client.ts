import { messageOf } from '../../base/errors.ts';
import { type Closing, providerErrors } from '../errors.ts';
import { isObject } from './answers.ts';
import { exchange } from './exchange.ts';

export interface ClientOptions {
  readonly endpoint: string;
  /** Asked at each call. */
  readonly token: () => string;
  /** How long a call may take, in milliseconds. */
  readonly deadline: number;
}

/** What a call is about, for its error. */
export interface LabCloudCall {
  readonly call: string;
  readonly type?: string;
  readonly zone?: string | undefined;
  readonly market?: string;
  readonly id?: string;
}

/** What the cloud says instead of what was asked for, as it says it. */
export class CloudRefusal extends Error {
  readonly status: number;
  readonly code: string;

  /** Of a quota: which one. */
  readonly quota: string | undefined;

  constructor(status: number, code: string, message: string, quota?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.quota = quota;
  }
}

/** Talks to a lab cloud: each failure is one of `providers/errors.ts`, with the cloud's own words. */
export class LabCloudClient {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  async ask(
    about: LabCloudCall,
    method: string,
    path: string,
    signal: AbortSignal,
    body?: unknown,
  ): Promise<Record<string, unknown>> {
    signal.throwIfAborted();
    const { endpoint, token, deadline } = this.#options;
    const { call } = about;
    const bearer = token();
    const late = AbortSignal.timeout(deadline);
    let answer: { readonly status: number; readonly text: string };
    try {
      answer = await exchange(endpoint, { method, path, body, token: bearer, signal: AbortSignal.any([signal, late]) });
    } catch (error) {
      signal.throwIfAborted();
      const detail = late.aborted ? `no response within ${deadline} ms` : messageOf(error);
      throw providerErrors.Unreachable({ call, detail }, error);
    }
    const read = parse(answer.text);
    if (answer.status === 200) {
      if (isObject(read)) return read;
      throw providerErrors.Unreachable({ call, detail: 'the response cannot be read' });
    }
    const error = isObject(read) && isObject(read['error']) ? read['error'] : {};
    const code = typeof error['code'] === 'string' ? error['code'] : '';
    const quota = typeof error['quota'] === 'string' ? error['quota'] : undefined;
    const words = typeof error['message'] === 'string' ? error['message'] : `HTTP status ${answer.status}`;
    throw refusalOf(about, new CloudRefusal(answer.status, code, words, quota));
  }
}

/** The kind of error that tells the caller what to do next. */
function refusalOf({ call, type = '', zone, market, id }: LabCloudCall, refusal: CloudRefusal): Error {
  const detail = refusal.message;
  const asked = { type, zone, market, detail };
  switch (refusal.code) {
    case 'InsufficientCapacity':
      return providerErrors.NoCapacity(asked, refusal);
    case 'QuotaExceeded':
      return providerErrors.Quota({ ...asked, closes: closedBy(refusal.quota) }, refusal);
    case 'Throttled':
      return providerErrors.Throttled({ call, detail }, refusal);
    case 'NotFound':
      if (id !== undefined) return providerErrors.NotFound({ id }, refusal);
  }
  if (refusal.status === 429) return providerErrors.Throttled({ call, detail }, refusal);
  // Whether it took effect is not known of what failed inside the cloud.
  if (refusal.status >= 500) return providerErrors.Unreachable({ call, detail }, refusal);
  return providerErrors.Denied({ call, detail }, refusal);
}

/** All quotas are of the account. One of CPUs or disks may still have room for a smaller type. */
const closedBy = (quota: string | undefined): Closing | undefined =>
  quota === undefined ? undefined : quota === 'instances' ? 'project' : 'region';

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
