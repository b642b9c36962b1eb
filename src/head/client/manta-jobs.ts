import type { JobAnswer, JobRow, JobsAnswer, LogChunk, OtherRow } from '../../api/types.ts';
import { readServerEvents } from '../../base/sse.ts';
import { isOver } from '../../core/jobs/job.ts';
import { clientEvents } from './events.ts';
import type { Answer } from './http.ts';
import type { Ending, JobFacts, JobsClient, JobsContext, OutputPiece, OutputQuery } from './jobs.ts';
import { readPersistently } from './persistent.ts';

const base = '/api/manta/v1/jobs';
const pathOf = (id: string): string => `${base}/${encodeURIComponent(id)}`;
/** The head says something every 15 s. */
const silence = 45_000;
const pageLength = 500;

/** Jobs by Manta's own API. */
export function mantaJobs({ http, signal, events }: JobsContext): JobsClient {
  const get = async (id: string): Promise<JobFacts> => factsOf(await http.json<JobAnswer>('GET', pathOf(id)));
  const gap = (bytes: number): void => {
    if (bytes > 0) events.emit(clientEvents.outputGap, { bytes });
  };

  const readAttempt = async function* (id: string, attempt: number, query: OutputQuery): AsyncGenerator<OutputPiece> {
    const { tail, grep, since } = query;
    for (let offset: number | undefined; ; ) {
      const asked = offset === undefined ? { tail, since } : {};
      const answer = await http.send('GET', `${pathOf(id)}/logs`, { query: { attempt, offset, grep, ...asked } });
      const bytes = await bytesOf(answer);
      const at = headerOf(answer, 'manta-offset') ?? offset ?? 0;
      const next = headerOf(answer, 'manta-next') ?? at + bytes.length;
      if (grep === undefined && tail === undefined && since === undefined) gap(at - (offset ?? 0));
      if (bytes.length > 0) yield { attempt, offset: at, bytes };
      if (tail !== undefined || answer.headers['manta-end'] === 'true' || next === offset) return;
      if (bytes.length === 0 && grep === undefined) return;
      offset = next;
    }
  };

  /** The end of what is there, or nothing but the place where `since` begins; returns where to go on. */
  const firstPart = async function* (
    id: string,
    attempt: number,
    { tail, since }: OutputQuery,
  ): AsyncGenerator<OutputPiece, number> {
    const answer = await http.send('GET', `${pathOf(id)}/logs`, {
      query: tail === undefined ? { attempt, since, limit: 1 } : { attempt, tail },
    });
    const bytes = await bytesOf(answer);
    const offset = headerOf(answer, 'manta-offset') ?? 0;
    if (tail === undefined) return offset;
    if (bytes.length > 0) yield { attempt, offset, bytes };
    return headerOf(answer, 'manta-next') ?? offset + bytes.length;
  };

  /** One attempt to its end. `position` moves with every byte given, so that a new line goes on behind the last one. */
  const followAttempt = (id: string, attempt: number, from: number): AsyncGenerator<OutputPiece, AttemptEnd> => {
    let position = from;
    return readPersistently<OutputPiece, AttemptEnd>(
      async function* (opened) {
        const answer = await http.send('GET', `${pathOf(id)}/logs/follow`, {
          query: { attempt, offset: position },
          headers: { accept: 'text/event-stream' },
          silence,
        });
        opened();
        for await (const message of readServerEvents(answer.pieces())) {
          if (message.event === 'end') {
            answer.body.resume();
            return JSON.parse(message.data) as AttemptEnd;
          }
          const chunk = JSON.parse(message.data) as LogChunk;
          const bytes = chunk.text === undefined ? Buffer.from(chunk.bytes ?? '', 'base64') : Buffer.from(chunk.text);
          const fresh = bytes.subarray(Math.max(0, position - chunk.offset));
          gap(chunk.offset - position);
          if (fresh.length > 0) yield { attempt, offset: Math.max(position, chunk.offset), bytes: fresh };
          position = Math.max(position, chunk.next);
        }
        // The line ended without the word that this is the end: the job may be gone, and asking says so.
        await get(id);
        return undefined;
      },
      { signal, events, address: () => http.shown },
    );
  };

  return {
    kind: 'manta',
    submit: async (body) =>
      factsOf(await http.json<JobAnswer>('POST', base, { json: body, repeatable: body.id !== undefined })),
    get,
    async *list({ limit = Number.POSITIVE_INFINITY, ...query }) {
      let before: string | undefined;
      const isAll = Object.values(query).every((each) => each === undefined);
      for (let left = limit; left > 0; ) {
        const page = await http.json<JobsAnswer>('GET', base, {
          query: {
            ...query,
            before,
            limit: Math.min(left, pageLength),
            ...(isAll && before === undefined && { others: 1 }),
          },
        });
        yield* (page.others ?? []).map(factsOfOther);
        yield* page.jobs.map(factsOfRow);
        left -= page.jobs.length;
        before = page.next;
        if (before === undefined || page.jobs.length === 0) return;
      }
    },
    stop: async (id) => void (await http.json('POST', `${pathOf(id)}/stop`, { repeatable: true })),
    remove: async (id) => (await http.send('DELETE', pathOf(id))).body.resume() && undefined,
    retry: async (id) => factsOf(await http.json<JobAnswer>('POST', `${pathOf(id)}/retry`)),
    async *read(id, query) {
      const { attempts } = await http.json<JobAnswer>('GET', pathOf(id));
      if (query.attempt !== undefined) return yield* readAttempt(id, query.attempt, query);
      const shown = query.tail === undefined ? attempts : attempts.slice(-1);
      for (const { number, endedAt } of shown)
        if (query.since === undefined || endedAt === undefined || endedAt >= query.since)
          yield* readAttempt(id, number, query);
    },
    async *follow(id, query) {
      let attempt = query.attempt ?? query.from ?? 1;
      let offset = 0;
      if (query.tail !== undefined || query.since !== undefined) {
        attempt = query.attempt ?? Math.max(1, (await get(id)).attempts);
        offset = yield* firstPart(id, attempt, query);
      }
      for (; ; attempt++, offset = 0) {
        const end = yield* followAttempt(id, attempt, offset);
        if (query.attempt !== undefined || (isOver(end.state) && attempt >= (end.attempts ?? attempt))) return end;
      }
    },
  };
}

interface AttemptEnd extends Ending {
  readonly attempts?: number;
}

async function bytesOf(answer: Answer): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of answer.pieces()) parts.push(part);
  return Buffer.concat(parts);
}

function headerOf(answer: Answer, name: string): number | undefined {
  const value = answer.headers[name];
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : undefined;
}

function factsOf(job: JobAnswer): JobFacts {
  const last = job.attempts.at(-1);
  const {
    id,
    state,
    entrypoint,
    message,
    user,
    priority,
    submittedAt,
    startedAt,
    endedAt,
    notBefore,
    exitCode,
    errorType,
  } = job;
  return {
    id,
    state,
    entrypoint,
    message,
    user,
    priority,
    submittedAt,
    attempts: job.attempts.length,
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    ...(notBefore !== undefined && { notBefore }),
    ...(exitCode !== undefined && { exitCode }),
    ...(last?.cause !== undefined && { cause: last.cause }),
    ...(errorType !== undefined && { errorType }),
    ...(last?.node !== undefined && { node: last.node }),
    answer: job,
  };
}

/** Ray knows no users: what was submitted to it itself is nobody's here. */
const factsOfOther = (row: OtherRow): JobFacts => ({
  ...row,
  user: '(Ray)',
  message: 'submitted to Ray itself',
  attempts: 0,
  answer: row,
});

const factsOfRow = (row: JobRow): JobFacts => ({ ...row, answer: row });
