import type { EventSink } from '../base/events.ts';
import { readOutsideJson } from '../base/outside-json.ts';
import { readWhole } from '../base/read-whole.ts';
import type { Clock, Duration } from '../base/time/clock.ts';
import { untilDone } from '../base/time/until-done.ts';
import type { Json, JsonMap } from '../core/kube/object.ts';
import type { Cause } from '../core/progress.ts';
import { servePath } from '../core/serve/api.ts';
import { serveErrors } from '../core/serve/errors.ts';
import { serveProgress } from '../core/serve/progress.ts';
import { clientErrors } from './errors.ts';
import { clientEvents } from './events.ts';
import type { HttpClient } from './http.ts';

/** Serve on a cluster, through its head. */
export class ServeOnHead {
  readonly #http: HttpClient;

  constructor(http: HttpClient) {
    this.#http = http;
  }

  get shown(): string {
    return this.#http.target.shown;
  }

  /** What Serve says of itself; everything is empty where it does not run. */
  async details(): Promise<Json> {
    const { status, words } = await this.#ask('GET');
    if (status >= 300) throw this.#refusal(status, words);
    return readOutsideJson(words) as Json;
  }

  /** Replaces all applications. Returns when Serve has taken the config, not when it runs. */
  async deploy(config: JsonMap): Promise<void> {
    this.#refuseManaged();
    const { status, words } = await this.#ask('PUT', config);
    if (status === 400) throw serveErrors.Refused({ words: words.slice(0, 2_000) });
    if (status >= 300) throw this.#refusal(status, words);
  }

  /** Ends all applications and Serve itself. */
  async shutdown(): Promise<void> {
    this.#refuseManaged();
    const { status, words } = await this.#ask('DELETE');
    if (status >= 300) throw this.#refusal(status, words);
  }

  /** KubeRay's operator puts the config of a RayService back. */
  #refuseManaged(): void {
    if (this.#http.target.onKube === 'RayService') throw serveErrors.Managed({ cluster: this.shown });
  }

  async #ask(method: 'GET' | 'PUT' | 'DELETE', json?: JsonMap): Promise<{ status: number; words: string }> {
    // Starting Serve takes its time, and all of them may be repeated.
    const answer = await this.#http.ask(method, servePath, { silence: 180_000, ...(json && { json }) });
    return { status: answer.status, words: (await readWhole(answer.body)).toString('utf8') };
  }

  #refusal(status: number, words: string): Error {
    const cluster = this.shown;
    if (status === 404) return serveErrors.NoRay({ cluster });
    if (status === 501) return serveErrors.NotInstalled({ cluster });
    if (status === 401)
      return clientErrors.Unauthenticated({ address: cluster, sent: true, words: words.slice(0, 300) });
    if (status < 500) return clientErrors.Refused({ words: words.slice(0, 300), status });
    return serveErrors.Down({ cluster, words: words.trim().split('\n').at(-1)?.slice(0, 300) ?? `status ${status}` });
  }
}

export interface ServeWait {
  readonly clock: Clock;
  readonly events: EventSink;
  readonly timeout: Duration;
  readonly signal: AbortSignal;
}

const pause = 500;

/** Waits until Serve runs these applications, and no others from a config; throws the first cause why it does not. */
export async function waitForServe(
  serve: ServeOnHead,
  applications: readonly Json[],
  waiting: ServeWait,
): Promise<void> {
  const { clock, events, timeout, signal } = waiting;
  const cluster = serve.shown;
  const id = `serve/${cluster}`;
  const last = await untilDone<Cause>({
    look: async () => {
      try {
        return serveProgress(await serve.details(), applications);
      } catch (error) {
        // Ray starts again when its head is replaced.
        if (serveErrors.Down.is(error)) return { state: 'waiting', says: error.message };
        throw error;
      }
    },
    tell: (seen) => {
      const cause = seen.state === 'done' || seen.cause === undefined ? {} : { cause: seen.cause.says };
      events.emit(
        clientEvents.serveWaits,
        { cluster, says: seen.says, ...cause },
        { id, state: seen.state === 'done' ? 'done' : 'running' },
      );
    },
    clock,
    timeout,
    pause,
    signal,
  });
  if (last.state === 'done') return;
  events.emit(clientEvents.serveWaits, { cluster, says: last.says }, { id, state: 'failed' });
  const { says, next } = last.cause ?? {
    says: `${last.says} when the time was up`,
    next: 'wait longer with --timeout',
  };
  throw serveErrors.Failed({ cluster, says, next });
}
