import { signal } from '@preact/signals';
import type { LogChunk, WireJobState } from '../../api/types.ts';
import { apiUrl, RequestFailure, send } from '../api/client.ts';
import { Line, type LineState } from '../api/line.ts';
import { LogLines } from './log-lines.ts';

const linesAtFirst = 2000;
const earlierBytes = 512 * 1024;

export interface LogEnd {
  readonly exitCode?: number;
  readonly state: WireJobState;
}

/** The log of one attempt: its tail, what is written from now on, and earlier parts on request. */
export class LogFollower {
  readonly lines = new LogLines();
  /** Grows with every change of `lines`: what draws them reads it. */
  readonly version = signal(0);
  readonly connection = signal<LineState>({ kind: 'connecting' });
  readonly end = signal<LogEnd | undefined>(undefined);
  readonly failure = signal<RequestFailure | undefined>(undefined);
  readonly loadingEarlier = signal(false);
  /** Called with the number of lines that came (positive) or went (negative) at the front. */
  onFrontChange: (by: number) => void = () => {};
  readonly #job: string;
  readonly #attempt: number;
  #next = 0;
  #line: Line | undefined;
  #decoder = new TextDecoder();
  #closed = false;

  constructor(job: string, attempt: number) {
    this.#job = job;
    this.#attempt = attempt;
  }

  /** All of the log as the head holds it, piece by piece: one answer has a limit. */
  async whole(): Promise<Blob> {
    const pieces: Blob[] = [];
    let offset = 0;
    for (;;) {
      const response = await send(this.#url('logs', { offset }));
      const piece = await response.blob();
      const next = Number(response.headers.get('manta-next') ?? offset + piece.size);
      pieces.push(piece);
      if (next <= offset || piece.size === 0) return new Blob(pieces, { type: 'text/plain' });
      offset = next;
    }
  }

  async open(): Promise<void> {
    try {
      const response = await send(this.#url('logs', { tail: linesAtFirst }));
      const bytes = new Uint8Array(await response.arrayBuffer());
      if (this.#closed) return;
      const offset = Number(response.headers.get('manta-offset') ?? 0);
      this.#next = Number(response.headers.get('manta-next') ?? offset + bytes.length);
      this.lines.clear(offset);
      this.lines.append(this.#decoder.decode(bytes, { stream: true }), offset);
      this.failure.value = undefined;
      this.version.value += 1;
    } catch (problem) {
      if (!(problem instanceof RequestFailure)) throw problem;
      this.failure.value = problem;
      return;
    }
    this.#follow();
  }

  /** Puts what was written before the first line held in front of it. */
  async loadEarlier(): Promise<void> {
    const until = this.lines.firstOffset;
    if (until === 0 || this.loadingEarlier.value) return;
    this.loadingEarlier.value = true;
    try {
      const offset = Math.max(0, until - earlierBytes);
      const response = await send(this.#url('logs', { offset, limit: until - offset }));
      const from = Number(response.headers.get('manta-offset') ?? offset);
      const bytes = new Uint8Array(await response.arrayBuffer());
      if (this.#closed || this.lines.firstOffset !== until) return;
      // The piece may begin inside a line, and inside a character: both are left for the next one.
      const cut = from === 0 ? 0 : bytes.indexOf(10) + 1;
      const text = new TextDecoder().decode(bytes.subarray(cut));
      this.onFrontChange(this.lines.prepend(text, from + cut));
      this.version.value += 1;
    } catch (problem) {
      if (!(problem instanceof RequestFailure)) throw problem;
      this.failure.value = problem;
    } finally {
      this.loadingEarlier.value = false;
    }
  }

  retryNow(): void {
    if (this.#line === undefined) void this.open();
    else this.#line.retryNow();
  }

  close(): void {
    this.#closed = true;
    this.#line?.close();
  }

  #follow(): void {
    this.#line = new Line({
      url: () => this.#url('logs/follow', { offset: this.#next }),
      onMessage: (message) => {
        if (message.event === 'end') {
          this.end.value = JSON.parse(message.data) as LogEnd;
          this.#line?.close();
          return;
        }
        this.#take(JSON.parse(message.data) as LogChunk);
      },
      onState: (state) => {
        this.connection.value = state;
      },
      onFailure: (failure) => {
        const final = failure.status >= 400 && failure.status < 500;
        if (final) this.failure.value = failure;
        return final;
      },
    });
  }

  /** Bytes that are here already are not shown twice, whatever the server sends after a resume. */
  #take(chunk: LogChunk): void {
    if (chunk.next <= this.#next) return;
    const known = Math.max(0, this.#next - chunk.offset);
    const text =
      chunk.text !== undefined && known === 0
        ? chunk.text
        : this.#decoder.decode(bytesOf(chunk).subarray(known), { stream: true });
    const gone = this.lines.append(text, chunk.offset + known);
    this.#next = chunk.next;
    if (gone > 0) this.onFrontChange(-gone);
    this.version.value += 1;
  }

  #url(path: string, query: Readonly<Record<string, number>>): string {
    return apiUrl(`jobs/${encodeURIComponent(this.#job)}/${path}`, { attempt: this.#attempt, ...query });
  }
}

function bytesOf(chunk: LogChunk): Uint8Array<ArrayBuffer> {
  if (chunk.text !== undefined) return new TextEncoder().encode(chunk.text);
  return Uint8Array.from(atob(chunk.bytes ?? ''), (character) => character.charCodeAt(0));
}
