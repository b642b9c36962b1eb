import type { Agent } from 'node:https';
import type { AuthClient } from 'google-auth-library';
import { messageOf } from '../../../base/errors.ts';
import type { Clock, Duration } from '../../../base/time/clock.ts';
import { orAborted } from '../../../base/time/deadline.ts';
import { doubling, retry } from '../../../base/time/retry.ts';
import { wallClock } from '../../../base/time/wall-clock.ts';
import type { PlainMap } from '../../../core/spec/cluster.ts';
import { CallBucket } from '../../call-bucket.ts';
import type { CloudIdentity } from '../../clouds.ts';
import { providerErrors } from '../../errors.ts';
import { googleErrors } from '../errors.ts';
import { agentFor, authFor, environmentOf } from './credentials.ts';
import { type AboutGoogleCall, failureOf, googleFailure, isThrottle, refusalOf } from './refusals.ts';

export interface GoogleClientOptions {
  readonly identity: CloudIdentity;
  /** `gcp_credentials` of the cluster file. */
  readonly given?: PlainMap | undefined;
  /** @default that of this machine */
  readonly clock?: Clock;
  /** Shared by all clients of one cluster. @default one of its own */
  readonly bucket?: CallBucket;
  /** How long one call may take. @default 30 s */
  readonly deadline?: Duration;
}

export interface GoogleRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Whole: see `links.ts`. */
  readonly url: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
}

/** How long a call that can wait is repeated while Google throttles. */
const patience: Duration = 60_000;

/** Google's APIs under one identity, behind one bucket. Each call is made once: who calls knows how long the answer is wanted. */
export class GoogleClient {
  readonly #options: GoogleClientOptions;
  readonly #clock: Clock;
  readonly #bucket: CallBucket;
  readonly #deadline: Duration;
  readonly #agent: Agent;
  #auth: Promise<AuthClient> | undefined;

  constructor(options: GoogleClientOptions) {
    const { identity, clock = wallClock, bucket, deadline = 30_000 } = options;
    this.#options = options;
    this.#clock = clock;
    this.#bucket = bucket ?? new CallBucket({ clock });
    this.#deadline = deadline;
    this.#agent = agentFor(environmentOf(identity));
  }

  /** Makes one call. Every failure is one of `providers/errors.ts` or `errors.ts`, with Google's own refusal as its cause. */
  async ask<Result>(about: AboutGoogleCall, request: GoogleRequest, signal: AbortSignal): Promise<Result> {
    signal.throwIfAborted();
    return await this.#bucket.call(
      async () => {
        const late = AbortSignal.timeout(this.#deadline);
        try {
          const ended = AbortSignal.any([signal, late]);
          // Looking for a token, the library does not hear of the signal.
          return (await orAborted(this.#send(request, ended), ended)) as Result;
        } catch (error) {
          signal.throwIfAborted();
          const { call } = about;
          if (googleErrors.NoLogin.is(error) || googleErrors.BadCredentials.is(error)) throw error;
          if (late.aborted && googleFailure(error) === undefined)
            throw providerErrors.Unreachable({ call, detail: `no response within ${this.#deadline} ms` }, error);
          throw refusalOf(about, error);
        }
      },
      isThrottle,
      signal,
    );
  }

  /** The same for a call whose answer can wait: while Google throttles, it is made again. */
  async askPatiently<Result>(about: AboutGoogleCall, request: GoogleRequest, signal: AbortSignal): Promise<Result> {
    const until = this.#clock.now() + patience;
    return await retry(() => this.ask<Result>(about, request, signal), {
      clock: this.#clock,
      signal,
      pause: doubling(250, 4_000),
      again: (error) => providerErrors.Throttled.is(error) && this.#clock.now() < until,
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  async #send({ method, url, query = {}, body }: GoogleRequest, signal: AbortSignal): Promise<unknown> {
    const auth = await this.#login();
    const target = new URL(url);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) target.searchParams.set(name, String(value));
    const headers = await this.#headers(auth);
    const { status, data } = await auth.transporter.request<unknown>({
      ...{ method, url: target, headers, signal, agent: this.#agent, retry: false },
      ...(body !== undefined && { data: body }),
      validateStatus: () => true,
    });
    if (status < 200 || status >= 300) throw failureOf(status, data);
    return data;
  }

  async #login(): Promise<AuthClient> {
    const { identity, given = {} } = this.#options;
    this.#auth ??= authFor(identity, given, this.#agent);
    try {
      return await this.#auth;
    } catch (error) {
      this.#auth = undefined;
      throw googleErrors.BadCredentials.is(error) ? error : googleErrors.NoLogin({ detail: messageOf(error) }, error);
    }
  }

  /** That a token could not be had is not an answer of the API that is asked. */
  async #headers(auth: AuthClient): Promise<Headers> {
    try {
      return await auth.getRequestHeaders();
    } catch (error) {
      const { response } = error as { readonly response?: { readonly status?: number } };
      if (response?.status === undefined || response.status >= 500) throw error;
      throw googleErrors.NoLogin({ detail: messageOf(error) }, error);
    }
  }
}
