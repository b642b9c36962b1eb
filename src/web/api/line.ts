import { type ServerEvent, SseReader } from '../../base/sse.ts';
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
  /** Asked anew at each connect: a resumed line may need another address. */
  readonly url: () => string;
  readonly onMessage: (message: ServerEvent) => void;
  readonly onState?: (state: LineState) => void;
  /** Return true to give up: the failure is not one that time mends. */
  readonly onFailure?: (failure: RequestFailure) => boolean;
  /** Last-Event-ID of the first connect. */
  readonly from?: string;
}

export interface Line {
  /** Connects at once instead of waiting for the next attempt. */
  retryNow(): void;
  close(): void;
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
export function openLine(options: LineOptions): Line {
  let lastId = options.from ?? '';
  let failures = 0;
  let closed = false;
  let paused = false;
  let attempt: AbortController | undefined;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;
  let hiddenTimer: ReturnType<typeof setTimeout> | undefined;

  const say = (state: LineState): void => options.onState?.(state);

  const connect = async (): Promise<void> => {
    clearTimeout(retryTimer);
    attempt?.abort();
    const mine = new AbortController();
    attempt = mine;
    if (failures === 0) say({ kind: 'connecting' });
    try {
      await read(mine);
      if (!mine.signal.aborted) lost('the head closed the connection');
    } catch (problem) {
      if (closed || paused || attempt !== mine) return;
      const failure = problem instanceof RequestFailure ? problem : undefined;
      if (failure !== undefined && options.onFailure?.(failure) === true) return close();
      lost(failure?.message ?? 'the connection broke');
    }
  };

  const read = async (mine: AbortController): Promise<void> => {
    const headers: Record<string, string> = { accept: 'text/event-stream' };
    if (lastId !== '') headers['last-event-id'] = lastId;
    const response = await send(options.url(), { headers, signal: mine.signal });
    const reader = response.body?.getReader();
    if (reader === undefined) {
      const { code, message } = pageErrors.NoBody({});
      throw new RequestFailure(response.status, code, message);
    }
    failures = 0;
    say({ kind: 'open' });
    const events = new SseReader();
    let silence = setTimeout(() => mine.abort(), silenceLimit);
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        clearTimeout(silence);
        silence = setTimeout(() => mine.abort(), silenceLimit);
        for (const message of events.take(value)) {
          if (message.id !== '') lastId = message.id;
          if (!mine.signal.aborted) options.onMessage(message);
        }
      }
    } finally {
      clearTimeout(silence);
    }
  };

  const lost = (reason: string): void => {
    if (closed || paused) return;
    failures += 1;
    const delay = Math.min(longestDelay, firstDelay * 2 ** (failures - 1)) * (0.75 + Math.random() / 2);
    say({ kind: 'lost', retryAt: Date.now() + delay, reason });
    retryTimer = setTimeout(() => void connect(), delay);
  };

  const retryNow = (): void => {
    if (!closed && !paused) void connect();
  };

  const onVisibility = (): void => {
    clearTimeout(hiddenTimer);
    if (document.hidden) {
      hiddenTimer = setTimeout(() => {
        paused = true;
        clearTimeout(retryTimer);
        attempt?.abort();
        say({ kind: 'paused' });
      }, hiddenLimit);
    } else if (paused) {
      paused = false;
      failures = 0;
      void connect();
    }
  };

  const close = (): void => {
    closed = true;
    clearTimeout(retryTimer);
    clearTimeout(hiddenTimer);
    document.removeEventListener('visibilitychange', onVisibility);
    window.removeEventListener('online', retryNow);
    attempt?.abort();
    say({ kind: 'closed' });
  };

  document.addEventListener('visibilitychange', onVisibility);
  window.addEventListener('online', retryNow);
  void connect();
  return { retryNow, close };
}
