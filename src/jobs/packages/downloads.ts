import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type MantaError, messageOf } from '../../base/errors.ts';
import type { Clock, Duration } from '../../base/time/clock.ts';
import { doubling, retry } from '../../base/time/retry.ts';
import { durationWords } from '../../core/duration.ts';
import { jobErrors } from '../errors.ts';

export interface DownloadLimits {
  /** Of one archive. @default 10 GiB */
  readonly uploadBytes?: number;
  /** From the first try to the last byte. @default 30 min */
  readonly downloadWithin?: Duration;
  /** How long a server may send nothing. @default 1 min */
  readonly downloadSilence?: Duration;
  /** After a lost connection, a cut body or an overloaded server. @default 4 */
  readonly downloadTries?: number;
}

export interface Downloads {
  readonly clock: Clock;
  readonly limits: DownloadLimits;
  /** @default that of node:https */
  readonly request?: typeof request;
}

const mostHops = 5;

/**
 * Downloads an https archive and gives its bytes to `take`, from the first byte again at every try. Throws SetupFailed, with
 * what happened, when the server does not deliver within the limits; the reason of the signal when that is aborted; and
 * what `take` throws by itself.
 */
export async function download<Taken>(
  url: string,
  take: (body: Readable) => Promise<Taken>,
  { clock, limits, request: ask = request }: Downloads,
  signal: AbortSignal,
): Promise<Taken> {
  const within = limits.downloadWithin ?? 30 * 60_000;
  const tries = limits.downloadTries ?? 4;
  const over = new AbortController();
  const late = new AbortController();
  const until = AbortSignal.any([signal, late.signal]);
  void clock.sleep(within, AbortSignal.any([signal, over.signal])).then(
    () => late.abort(),
    () => {},
  );
  const failed = (detail: string, cause?: unknown): MantaError =>
    jobErrors.SetupFailed({ problem: `could not download '${url}': ${detail}` }, cause);
  let tried = 0;
  const work = (): Promise<Taken> => {
    tried += 1;
    return tryOnce(url, take, { clock, limits, request: ask }, until);
  };
  const again = (error: unknown): boolean => error instanceof ServerFault && !error.final && tried < tries;
  try {
    return await retry(work, { clock, signal: until, pause: doubling(1_000, 30_000), again });
  } catch (error) {
    signal.throwIfAborted();
    if (late.signal.aborted) throw failed(`it took longer than ${durationWords(within)}`, error);
    if (!(error instanceof ServerFault)) throw error;
    throw failed(`${error.message}${tried > 1 ? ` (tried ${tried} times)` : ''}`, error.cause);
  } finally {
    over.abort();
  }
}

/** What the server, or the way to it, did; `final` when asking again would bring the same. */
class ServerFault extends Error {
  readonly final: boolean;

  constructor(message: string, final: boolean, cause?: unknown) {
    super(message, { cause });
    this.final = final;
  }
}

async function tryOnce<Taken>(
  url: string,
  take: (body: Readable) => Promise<Taken>,
  { clock, limits, request: ask }: Required<Downloads>,
  signal: AbortSignal,
): Promise<Taken> {
  const silence = limits.downloadSilence ?? 60_000;
  const ending = new AbortController();
  const until = AbortSignal.any([signal, ending.signal]);
  let heard = 0;
  let silent = false;
  const watch = async (): Promise<void> => {
    for (let before = -1; before !== heard; ) {
      before = heard;
      await clock.sleep(silence, until);
    }
    silent = true;
    ending.abort();
  };
  watch().catch(() => {});
  const wordsFor = (error: unknown): string =>
    silent ? `the server sent nothing for ${durationWords(silence)}` : messageOf(error);
  try {
    const answer = await answerTo(url, ask, until, mostHops).catch((error: unknown) => {
      throw error instanceof ServerFault ? error : new ServerFault(wordsFor(error), false, error);
    });
    heard += 1;
    const size = answer.headers['content-length'];
    if (limits.uploadBytes !== undefined && Number(size) > limits.uploadBytes)
      throw jobErrors.PackageTooLarge({ limit: limits.uploadBytes });
    let got = 0;
    let fault: ServerFault | undefined;
    const counted = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        heard += 1;
        got += chunk.length;
        done(null, chunk);
      },
    });
    answer.on('error', (error) => {
      // Otherwise it is `take` that wants no more.
      if (counted.destroyed) return;
      const words = silent ? wordsFor(error) : `the connection was cut (${messageOf(error)})`;
      fault = new ServerFault(`${words} after ${got}${size === undefined ? '' : ` of ${size}`} bytes`, false, error);
    });
    pipeline(answer, counted).catch(() => {});
    return await take(counted).catch((error: unknown) => {
      throw fault ?? error;
    });
  } finally {
    ending.abort();
  }
}

function answerTo(url: string, ask: typeof request, signal: AbortSignal, hops: number): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = ask(url, { signal, headers: { 'user-agent': 'manta' } }, (answer) => {
      const status = answer.statusCode ?? 0;
      const next = answer.headers.location;
      if (status === 200) return resolve(answer);
      answer.on('error', () => {}).destroy();
      if (status < 300 || status >= 400 || next === undefined) {
        const overloaded = status >= 500 || status === 429 || status === 408;
        return reject(new ServerFault(`the server answered ${status}`, !overloaded));
      }
      const target = URL.parse(next, url);
      if (hops === 0 || target?.protocol !== 'https:')
        reject(new ServerFault('too many redirects, or one away from https', true));
      else answerTo(target.href, ask, signal, hops - 1).then(resolve, reject);
    });
    sent.on('error', reject);
    sent.end();
  });
}
