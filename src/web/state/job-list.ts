import { signal } from '@preact/signals';
import type { JobRow } from '../../api/types.ts';
import { api, RequestFailure } from '../api/client.ts';
import { addPage, applyChanges, type JobFilter, type JobWindow } from './job-query.ts';

const countAgainAfter = 2000;

/** One list of jobs: filtered by the head, loaded page by page as it is scrolled, kept current by the stream. */
export class JobList {
  readonly window = signal<JobWindow | undefined>(undefined);
  readonly failure = signal<RequestFailure | undefined>(undefined);
  #filter: JobFilter;
  readonly #pageSize: number;
  #query: AbortController | undefined;
  #loading = false;
  #wanted = 0;
  /** Changes that arrived while the first page was under way; they are newer than it. */
  #missed: JobRow[] = [];
  #countTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(filter: JobFilter, pageSize = 500) {
    this.#filter = filter;
    this.#pageSize = pageSize;
  }

  setFilter(filter: JobFilter): void {
    this.#filter = filter;
    void this.reload();
  }

  /** Asks for the top of the list again; what is shown stays until the answer is here. */
  async reload(): Promise<void> {
    this.#query?.abort();
    const query = new AbortController();
    this.#query = query;
    this.#missed = [];
    try {
      const window = await this.#page(undefined, query.signal);
      this.#query = undefined;
      this.window.value = applyChanges(window, this.#missed, this.#filter).window;
      this.failure.value = undefined;
      this.#wanted = Math.min(this.#wanted, this.window.value.total);
      await this.#loadMore();
    } catch (problem) {
      if (query.signal.aborted) return;
      this.#query = undefined;
      if (!(problem instanceof RequestFailure)) throw problem;
      this.failure.value = problem;
    }
  }

  /** The reader looks at rows up to `index`. */
  wantRows(index: number): void {
    this.#wanted = index;
    void this.#loadMore();
  }

  takeChanges(rows: readonly JobRow[]): void {
    if (this.#query !== undefined) this.#missed.push(...rows);
    if (this.window.value === undefined) return;
    const { window, unsure } = applyChanges(this.window.value, rows, this.#filter);
    this.window.value = window;
    if (unsure) this.#countAgain();
  }

  remove(id: string): void {
    const window = this.window.value;
    if (window === undefined || !window.rows.some((row) => row.id === id)) return;
    this.window.value = { ...window, rows: window.rows.filter((row) => row.id !== id), total: window.total - 1 };
  }

  close(): void {
    this.#query?.abort();
    clearTimeout(this.#countTimer);
  }

  async #loadMore(): Promise<void> {
    if (this.#loading) return;
    this.#loading = true;
    try {
      for (;;) {
        const window = this.window.value;
        if (window?.next === undefined || this.#query !== undefined || window.rows.length > this.#wanted) return;
        const filter = this.#filter;
        const page = await this.#page(window.next, undefined, this.#pageSize * 2);
        if (filter !== this.#filter || this.#query !== undefined || this.window.value === undefined) return;
        this.window.value = addPage(this.window.value, page);
      }
    } catch (problem) {
      if (!(problem instanceof RequestFailure)) throw problem;
      this.failure.value = problem;
    } finally {
      this.#loading = false;
    }
  }

  #countAgain(): void {
    this.#countTimer ??= setTimeout(() => void this.#count(), countAgainAfter);
  }

  async #count(): Promise<void> {
    this.#countTimer = undefined;
    const filter = this.#filter;
    const { total } = await this.#page(undefined, undefined, 1).catch(() => ({ total: undefined }));
    const window = this.window.value;
    if (total === undefined || window === undefined || filter !== this.#filter) return;
    this.window.value = { ...window, total: Math.max(total, window.rows.length) };
  }

  async #page(before: string | undefined, signal?: AbortSignal, limit = this.#pageSize): Promise<JobWindow> {
    const { states, search } = this.#filter;
    const answer = await api.jobs({ state: states.join(','), search: search.trim(), limit, before }, signal);
    return { rows: answer.jobs, total: answer.total, next: answer.next };
  }
}
