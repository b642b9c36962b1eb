import type { Context } from 'hono';
import type { jobRoutes, LogChunk, LogEnd } from '../../api/jobs.ts';
import { limits } from '../../api/limits.ts';
import type { QueryOf } from '../../api/route.ts';
import type { LogPiece } from '../../base/files/log-segments.ts';
import { type Attempt, isOver, type Job } from '../../core/jobs/job.ts';
import type { JobsApiDeps } from '../api.ts';
import { whenJob } from '../logs/job-log.ts';

/** Keeps proxies from cutting a quiet line. */
const commentEvery = 15_000;

/** `GET /jobs/{id}/logs`: bytes with their offsets in the headers. */
export async function readLogs(
  c: Context,
  deps: JobsApiDeps,
  job: Job,
  query: QueryOf<typeof jobRoutes.logs>,
): Promise<Response> {
  const { logs } = deps;
  const { attempt = job.attempts.length, since, tail: lines, grep } = query;
  const limit = Math.min(limits.logBytes, query.limit ?? limits.logBytes);
  const offset = query.offset ?? (since === undefined ? 0 : await logs.offsetAt(job.id, attempt, since));
  const before = await logs.extent(job.id, attempt);
  let piece: LogPiece;
  if (lines !== undefined) piece = await logs.tail(job.id, attempt, lines, limit);
  else if (grep !== undefined) piece = await logs.grep(job.id, attempt, grep, offset, { bytes: limit });
  else piece = await logs.read(job.id, attempt, offset, limit);
  return c.body(new Uint8Array(piece.bytes), 200, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'manta-attempt': String(attempt),
    'manta-offset': String(piece.offset),
    'manta-next': String(piece.next),
    'manta-end': String(before.ended && piece.next >= before.size),
  });
}

/** `GET /jobs/{id}/logs/follow`: server-sent events of one attempt, from an offset to its true end. */
export function followLogs(
  c: Context,
  deps: JobsApiDeps,
  job: Job,
  { attempt: wanted, offset = 0 }: QueryOf<typeof jobRoutes.follow>,
): Response {
  const resumed = c.req.header('last-event-id');
  const from = resumed !== undefined && /^\d+$/.test(resumed) ? Number(resumed) : offset;
  const gone = new AbortController();
  const events = eventsOf(deps, job, wanted, from, gone.signal);
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await events.next();
      if (done) controller.close();
      else controller.enqueue(Buffer.from(value));
    },
    cancel() {
      gone.abort();
    },
  });
  return c.body(stream, 200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
}

async function* eventsOf(
  deps: JobsApiDeps,
  job: Job,
  wanted: number | undefined,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<string> {
  yield 'retry: 1000\n\n';
  const started = yield* keepOpen(
    whenJob(deps.store, job.id, signal, (each) => each.attempts.length >= (wanted ?? 1) || isOver(each.state)),
  );
  const attempt = wanted ?? started?.attempts.length ?? 0;
  if (started && attempt > 0 && attempt <= started.attempts.length) {
    const pieces = deps.logs.follow(job.id, attempt, from, signal);
    for (;;) {
      const { value, done } = yield* keepOpen(pieces.next());
      if (done) break;
      yield `id: ${value.next}\ndata: ${JSON.stringify(chunkOf(value))}\n\n`;
    }
  }
  if (signal.aborted) return;
  const over = yield* keepOpen(
    whenJob(
      deps.store,
      job.id,
      signal,
      (each) => isOver(each.state) || each.attempts[attempt - 1]?.cause !== undefined,
    ),
  );
  if (over) yield `event: end\ndata: ${JSON.stringify(endOf(over, attempt))}\n\n`;
}

/** Says something now and then while a promise is open. */
async function* keepOpen<Value>(promise: Promise<Value>): AsyncGenerator<string, Value> {
  for (;;) {
    let timer: NodeJS.Timeout | undefined;
    const tick = new Promise<'tick'>((resolve) => {
      timer = setTimeout(() => resolve('tick'), commentEvery);
    });
    try {
      const first = await Promise.race([promise.then((value) => ({ value })), tick]);
      if (first !== 'tick') return first.value;
    } finally {
      clearTimeout(timer);
    }
    yield ': still here\n\n';
  }
}

/** Text where it is UTF-8, otherwise the bytes; a character cut by the end of a piece counts as bytes. */
function chunkOf(piece: LogPiece): LogChunk {
  try {
    return {
      offset: piece.offset,
      next: piece.next,
      text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(piece.bytes),
    };
  } catch {
    return { offset: piece.offset, next: piece.next, bytes: piece.bytes.toString('base64') };
  }
}

function endOf(job: Job, number: number): LogEnd {
  const attempt: Attempt | undefined = job.attempts[number - 1];
  const exitCode = attempt?.exitCode ?? job.exitCode;
  return {
    state: job.state,
    attempt: number,
    attempts: job.attempts.length,
    ...(attempt?.cause && { cause: attempt.cause }),
    ...(exitCode !== undefined && { exitCode }),
  };
}
