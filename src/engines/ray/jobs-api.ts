import { type RayHttp, refusalOf, refused } from './http.ts';
import type { JobInfo } from './job-info.ts';
import type { Submission } from './submission.ts';

/** A job that somebody submitted to Ray or a driver that was started by hand, in Ray's words. */
export interface RayJob extends JobInfo {
  readonly type: 'SUBMISSION' | 'DRIVER';
  readonly job_id: string | null;
  readonly submission_id: string | null;
  readonly entrypoint: string;
  readonly metadata: Readonly<Record<string, string>> | null;
}

/** Ray's jobs API. */
export class RayJobsApi {
  readonly #url: string;
  readonly #http: RayHttp;

  constructor(url: string, http: RayHttp) {
    this.#url = url;
    this.#http = http;
  }

  /** The same id again is no error. Returns why Ray will never take it; throws when it did not answer, or not now. */
  async submit(submission: Submission, signal: AbortSignal): Promise<{ readonly refused?: string }> {
    const answer = await this.#http.ask(
      this.#url,
      // Without the closing slash there is no such path.
      { method: 'POST', path: '/api/jobs/', body: JSON.stringify(submission), timeout: 60_000 },
      signal,
    );
    if (answer.status === 200) return {};
    const { kind, line } = refusalOf(answer);
    if (kind === 'exists') return {};
    if (kind === 'invalid') return { refused: line };
    throw refused('POST /api/jobs/', answer);
  }

  /** False when Ray knows no such job. */
  async stop(id: string, signal: AbortSignal): Promise<boolean> {
    const path = `/api/jobs/${encodeURIComponent(id)}/stop`;
    const answer = await this.#http.ask(this.#url, { method: 'POST', path }, signal);
    if (answer.status !== 200 && answer.status !== 404) throw refused(`POST ${path}`, answer);
    return answer.status === 200;
  }

  async delete(id: string, signal: AbortSignal): Promise<void> {
    const path = `/api/jobs/${encodeURIComponent(id)}`;
    const answer = await this.#http.ask(this.#url, { method: 'DELETE', path }, signal);
    if (answer.status !== 200 && answer.status !== 404) throw refused(`DELETE ${path}`, answer);
  }

  async list(signal: AbortSignal): Promise<readonly RayJob[]> {
    return (await this.#http.json(this.#url, { path: '/api/jobs/' }, signal)) as readonly RayJob[];
  }

  async version(signal: AbortSignal): Promise<string> {
    const answer = (await this.#http.json(this.#url, { path: '/api/version' }, signal)) as { ray_version?: string };
    return answer.ray_version ?? '';
  }
}
