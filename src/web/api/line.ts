import { type ServerEvent, SseReader } from '../../base/network/sse.ts';
import { RequestFailure, send } from './client.ts';
import { pageErrors } from './errors.ts';

export type LineState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open' }
  /** Lost, and asked for again at `retryAt`. */
  | { readonly kind: 'lost'; readonly retryAt: number; readonly reason: string }
  /** Closed because nobody looks: a browser has six connections to a host for all of its tabs. */
  | { readonly kind: 'paused' }
  | { readonly kind: 'closed' };

export interface LineOptions {
  /** Asked at each connect: a resumed line may need another address. */
  readonly url: () => string;
  readonly onMessage: (message: ServerEvent) => void;
  readonly onState?: (state: LineState) => void;
  /** Return true to give up: the failure is not one that time cures. */
  readonly onFailure?: (failure: RequestFailure) => boolean;
  /** Last-Event-ID of the first connect. */
  readonly from?: string;
}

const firstDelay = 500;
const longestDelay = 10_000;
/** The server sends at least a comment more often than this; silence means a dead connection. */
const silenceLimit = 45_000;
const hiddenLimit = 60_000;

/**
 * A stream of server-sent events that comes back by itself and resumes after the last id. Not EventSource: that one
 * hides the status of a refusal, gives up on some of them, and cannot be told to try now.
 */
export class Line {
  readonly #options: LineOptions;
  #lastId: string;
  #failures = 0;
  #closed = false;
  #paused = false;
  #attempt: AbortController | undefined;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #hiddenTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: LineOptions) {
    this.#options = options;
    this.#lastId = options.from ?? '';
    document.addEventListener('visibilitychange', this.#onVisibility);
    window.addEventListener('online', this.#onOnline);
    void this.#connect();
  }

  /** Connects at once instead of waiting for the next attempt. */
  retryNow(): void {
    if (!this.#closed && !this.#paused) void this.#connect();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#hiddenTimer);
    document.removeEventListener('visibilitychange', this.#onVisibility);
    window.removeEventListener('online', this.#onOnline);
    this.#attempt?.abort();
    this.#say({ kind: 'closed' });
  }

  #say(state: LineState): void {
    this.#options.onState?.(state);
  }

  async #connect(): Promise<void> {
    clearTimeout(this.#retryTimer);
    this.#attempt?.abort();
    const mine = new AbortController();
    this.#attempt = mine;
    if (this.#failures === 0) this.#say({ kind: 'connecting' });
    try {
      await this.#read(mine);
      if (!mine.signal.aborted) this.#lost('the head closed the connection');
    } catch (problem) {
      if (this.#closed || this.#paused || this.#attempt !== mine) return;
      const failure = problem instanceof RequestFailure ? problem : undefined;
      if (failure !== undefined && this.#options.onFailure?.(failure) === true) return this.close();
      this.#lost(failure?.message ?? 'lost the connection');
    }
  }

  async #read(mine: AbortController): Promise<void> {
    const headers: Record<string, string> = { accept: 'text/event-stream' };
    if (this.#lastId !== '') headers['last-event-id'] = this.#lastId;
    const response = await send(this.#options.url(), { headers, signal: mine.signal });
    const reader = response.body?.getReader();
    if (reader === undefined) {
      const { code, message } = pageErrors.NoBody({});
      throw new RequestFailure(response.status, code, message);
    }
    this.#failures = 0;
    this.#say({ kind: 'open' });
    const events = new SseReader();
    let silence = setTimeout(() => mine.abort(), silenceLimit);
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        clearTimeout(silence);
        silence = setTimeout(() => mine.abort(), silenceLimit);
        for (const message of events.take(value)) {
          if (message.id !== '') this.#lastId = message.id;
          if (!mine.signal.aborted) this.#options.onMessage(message);
        }
      }
    } finally {
      clearTimeout(silence);
    }
  }

  #lost(reason: string): void {
    if (this.#closed || this.#paused) return;
    this.#failures += 1;
    const delay = Math.min(longestDelay, firstDelay * 2 ** (this.#failures - 1)) * (0.75 + Math.random() / 2);
    this.#say({ kind: 'lost', retryAt: Date.now() + delay, reason });
    this.#retryTimer = setTimeout(() => void this.#connect(), delay);
  }

  #pause(): void {
    this.#paused = true;
    clearTimeout(this.#retryTimer);
    this.#attempt?.abort();
    this.#say({ kind: 'paused' });
  }

  readonly #onOnline = (): void => this.retryNow();

  readonly #onVisibility = (): void => {
    clearTimeout(this.#hiddenTimer);
    if (document.hidden) this.#hiddenTimer = setTimeout(() => this.#pause(), hiddenLimit);
    else if (this.#paused) {
      this.#paused = false;
      this.#failures = 0;
      void this.#connect();
    }
  };
}
