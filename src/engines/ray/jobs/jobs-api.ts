import type { Driver } from '../../runner.ts';
import { type RayHttp, refusalOf, refused } from './http.ts';
import type { JobInfo } from './job-info.ts';
import type { RayJobBody } from './submission.ts';

/** A job that somebody submitted to Ray or a driver that was started by hand, in Ray's words. */
export interface RayJob extends JobInfo {
  readonly type: 'SUBMISSION' | 'DRIVER';
  readonly job_id: string | null;
  readonly submission_id: string | null;
  readonly entrypoint: string;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly driver_info?: { readonly id: string; readonly node_ip_address: string; readonly pid: string } | null;
}

/** The last program of a job that joined the cluster. */
export function driverOf({ driver_info: info }: RayJob): Driver | undefined {
  return info ? { id: info.id, address: info.node_ip_address, pid: info.pid } : undefined;
}

/** Ray's jobs API. */
export class RayJobsApi {
  readonly #url: string;
  readonly #http: RayHttp;

  constructor(url: string, http: RayHttp) {
    this.#url = url;
    this.#http = http;
  }

  /**
   * Returns why Ray will never take it, or that it has a job of that name already: this one by an earlier try, or one of
   * somebody else. Throws when it did not answer, or not now.
   */
  async submit(submission: RayJobBody, signal: AbortSignal): Promise<SubmitAnswer> {
    const answer = await this.#http.ask(
      this.#url,
      // Without the closing slash there is no such path.
      { method: 'POST', path: '/api/jobs/', body: JSON.stringify(submission), timeout: 60_000 },
      signal,
    );
    if (answer.status === 200) return {};
    const { kind, line } = refusalOf(answer);
    if (kind === 'exists') return { exists: true };
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

  /** By the name of its submission or by the id of its driver; undefined when Ray knows none such. */
  async find(id: string, signal: AbortSignal): Promise<RayJob | undefined> {
    const path = `/api/jobs/${encodeURIComponent(id)}`;
    const answer = await this.#http.ask(this.#url, { path }, signal);
    if (answer.status === 404) return undefined;
    if (answer.status !== 200) throw refused(`GET ${path}`, answer);
    return JSON.parse(answer.body.toString('utf8')) as RayJob;
  }

  async version(signal: AbortSignal): Promise<RayVersion> {
    const answer = (await this.#http.json(this.#url, { path: '/api/version' }, signal)) as Record<string, unknown>;
    const { ray_version: version, ray_commit: commit } = answer;
    return { version: textOr(version), commit: textOr(commit) };
  }
}

const textOr = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The Ray that runs. */
export interface RayVersion {
  readonly version: string;
  readonly commit: string;
}

export interface SubmitAnswer {
  readonly refused?: string;
  readonly exists?: boolean;
}
