import type { JobAnswer, JobRow, JobsAnswer, LogChunk, OtherRow, SubmitBody } from '../api/types.ts';
import { readServerEvents } from '../base/network/sse.ts';
import { isOver } from '../core/jobs/job.ts';
import { clientEvents } from './events.ts';
import type { HeadAnswer, HttpClient } from './http.ts';
import type { Ending, JobFacts, JobsClient, JobsContext, ListQuery, OutputPiece, OutputQuery } from './jobs.ts';
import { readPersistently } from './persistent.ts';

const base = '/api/manta/v1/jobs';
const pathOf = (id: string): string => `${base}/${encodeURIComponent(id)}`;
/** The head says something every 15 s. */
const silence = 45_000;
const pageLength = 500;

/** Jobs by Manta's own API. */
export class MantaJobs implements JobsClient {
  readonly kind = 'manta';
  readonly #context: JobsContext;
  readonly #http: HttpClient;

  constructor(context: JobsContext) {
    this.#context = context;
    this.#http = context.http;
  }

  async submit(body: SubmitBody): Promise<JobFacts> {
    const answer = await this.#http.json<JobAnswer>('POST', base, { json: body, repeatable: body.id !== undefined });
    return factsOf(answer);
  }

  async get(id: string): Promise<JobFacts> {
    return factsOf(await this.#http.json<JobAnswer>('GET', pathOf(id)));
  }

  async *list({ limit = Number.POSITIVE_INFINITY, ...query }: ListQuery): AsyncGenerator<JobFacts> {
    let before: string | undefined;
    const isAll = Object.values(query).every((each) => each === undefined);
    for (let left = limit; left > 0; ) {
      const page = await this.#http.json<JobsAnswer>('GET', base, {
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
  }

  async stop(id: string): Promise<void> {
    await this.#http.json('POST', `${pathOf(id)}/stop`, { repeatable: true });
  }

  async remove(id: string): Promise<void> {
    (await this.#http.send('DELETE', pathOf(id))).body.resume();
  }

  async retry(id: string): Promise<JobFacts> {
    return factsOf(await this.#http.json<JobAnswer>('POST', `${pathOf(id)}/retry`));
  }

  async *read(id: string, query: OutputQuery): AsyncGenerator<OutputPiece> {
    const { attempts } = await this.#http.json<JobAnswer>('GET', pathOf(id));
    if (query.attempt !== undefined) return yield* this.#readAttempt(id, query.attempt, query);
    const shown = query.tail === undefined ? attempts : attempts.slice(-1);
    for (const { number, endedAt } of shown)
      if (query.since === undefined || endedAt === undefined || endedAt >= query.since)
        yield* this.#readAttempt(id, number, query);
  }

  async *follow(id: string, query: OutputQuery): AsyncGenerator<OutputPiece, Ending> {
    let attempt = query.attempt ?? query.from ?? 1;
    let offset = 0;
    if (query.tail !== undefined || query.since !== undefined) {
      attempt = query.attempt ?? Math.max(1, (await this.get(id)).attempts);
      offset = yield* this.#firstPart(id, attempt, query);
    }
    for (; ; attempt++, offset = 0) {
      const end = yield* this.#followAttempt(id, attempt, offset);
      if (query.attempt !== undefined || (isOver(end.state) && attempt >= (end.attempts ?? attempt))) return end;
    }
  }

  async *#readAttempt(id: string, attempt: number, query: OutputQuery): AsyncGenerator<OutputPiece> {
    const { tail, grep, since } = query;
    for (let offset: number | undefined; ; ) {
      const asked = offset === undefined ? { tail, since } : {};
      const answer = await this.#http.send('GET', `${pathOf(id)}/logs`, { query: { attempt, offset, grep, ...asked } });
      const bytes = await bytesOf(answer);
      const at = headerOf(answer, 'manta-offset') ?? offset ?? 0;
      const next = headerOf(answer, 'manta-next') ?? at + bytes.length;
      if (grep === undefined && tail === undefined && since === undefined) this.#gap(at - (offset ?? 0));
      if (bytes.length > 0) yield { attempt, offset: at, bytes };
      if (tail !== undefined || answer.headers['manta-end'] === 'true' || next === offset) return;
      if (bytes.length === 0 && grep === undefined) return;
      offset = next;
    }
  }

  /** The end of what is there, or nothing but the place where `since` begins; returns where to go on. */
  async *#firstPart(id: string, attempt: number, { tail, since }: OutputQuery): AsyncGenerator<OutputPiece, number> {
    const answer = await this.#http.send('GET', `${pathOf(id)}/logs`, {
      query: tail === undefined ? { attempt, since, limit: 1 } : { attempt, tail },
    });
    const bytes = await bytesOf(answer);
    const offset = headerOf(answer, 'manta-offset') ?? 0;
    if (tail === undefined) return offset;
    if (bytes.length > 0) yield { attempt, offset, bytes };
    return headerOf(answer, 'manta-next') ?? offset + bytes.length;
  }

  /** One attempt to its end. `from` moves with every byte given, so that a new line goes on behind the last one. */
  #followAttempt(id: string, attempt: number, from: number): AsyncGenerator<OutputPiece, AttemptEnd> {
    const { signal, events } = this.#context;
    const position = { at: from };
    return readPersistently<OutputPiece, AttemptEnd>((opened) => this.#followOnce(id, attempt, position, opened), {
      signal,
      events,
      address: () => this.#http.shown,
    });
  }

  async *#followOnce(
    id: string,
    attempt: number,
    position: { at: number },
    opened: () => void,
  ): AsyncGenerator<OutputPiece, AttemptEnd | undefined> {
    const answer = await this.#http.send('GET', `${pathOf(id)}/logs/follow`, {
      query: { attempt, offset: position.at },
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
      const fresh = bytes.subarray(Math.max(0, position.at - chunk.offset));
      this.#gap(chunk.offset - position.at);
      if (fresh.length > 0) yield { attempt, offset: Math.max(position.at, chunk.offset), bytes: fresh };
      position.at = Math.max(position.at, chunk.next);
    }
    // The line ended without the word that this is the end: the job may be gone, and asking says so.
    await this.get(id);
    return undefined;
  }

  #gap(bytes: number): void {
    if (bytes > 0) this.#context.events.emit(clientEvents.outputGap, { bytes });
  }
}

interface AttemptEnd extends Ending {
  readonly attempts?: number;
}

async function bytesOf(answer: HeadAnswer): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of answer.pieces()) parts.push(part);
  return Buffer.concat(parts);
}

function headerOf(answer: HeadAnswer, name: string): number | undefined {
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
