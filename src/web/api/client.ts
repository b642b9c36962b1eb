import { apiErrors } from '../../api/errors.ts';
import type {
  ClusterAnswer,
  DemandAnswer,
  ErrorAnswer,
  EventAnswer,
  JobAnswer,
  JobsAnswer,
  Mark,
  NodesAnswer,
  SamplePoint,
  SubmitBody,
  WhyAnswer,
} from '../../api/types.ts';
import { pageErrors } from './errors.ts';

/** What went wrong with a request, in words for the page. `status` 0: no answer at all. */
export class RequestFailure extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;

  constructor(status: number, code: string, message: string, hint?: string) {
    super(message);
    this.name = 'RequestFailure';
    this.status = status;
    this.code = code;
    this.hint = hint;
  }

  /** The page must ask for a token: there is none, or the head does not know it. Other refusals concern one thing only. */
  get signedOut(): boolean {
    return this.status === 401 || (this.status === 403 && [apiErrors.Denied.code, 'HTTP_403'].includes(this.code));
  }
}

type Query = Readonly<Record<string, string | number | undefined>>;

/** Where the page was loaded from, so that any prefix in front of it works. */
export function apiUrl(path: string, query: Query = {}): string {
  const url = new URL(`api/manta/v1/${path}`, document.baseURI);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') url.searchParams.set(name, String(value));
  }
  return url.href;
}

/** Sends a request of the page; throws RequestFailure for anything but success. */
export async function send(url: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, { credentials: 'same-origin', cache: 'no-store', ...init });
  } catch (cause) {
    if (init.signal?.aborted === true) throw cause;
    const { code, message, hint } = pageErrors.NoAnswer({});
    throw new RequestFailure(0, code, message, hint);
  }
  if (!response.ok) throw await failureOf(response);
  return response;
}

async function failureOf(response: Response): Promise<RequestFailure> {
  const text = await response.text().catch(() => '');
  try {
    const { error } = JSON.parse(text) as ErrorAnswer;
    if (typeof error.message === 'string')
      return new RequestFailure(response.status, error.code, error.message, error.hint);
  } catch {
    // Not from mantad: a proxy's page, or Ray's plain text.
  }
  const words =
    text.length > 0 && text.length < 300 && !text.includes('<')
      ? text
      : `the head responded with HTTP ${response.status}`;
  return new RequestFailure(response.status, `HTTP_${response.status}`, words);
}

async function get<Answer>(path: string, query: Query = {}, signal?: AbortSignal): Promise<Answer> {
  const response = await send(apiUrl(path, query), signal === undefined ? {} : { signal });
  return (await response.json()) as Answer;
}

async function post<Answer>(path: string, body?: unknown): Promise<Answer> {
  const init: RequestInit =
    body === undefined
      ? { method: 'POST' }
      : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await send(apiUrl(path), init);
  return (await response.json()) as Answer;
}

export interface JobsQuery {
  /** Comma-separated. */
  readonly state?: string | undefined;
  readonly search?: string | undefined;
  readonly limit: number;
  readonly before?: string | undefined;
  /** Beside them those that were given to Ray itself. */
  readonly others?: '1';
}

export const api = {
  cluster: () => get<ClusterAnswer>('cluster'),
  nodes: async () => (await get<NodesAnswer>('nodes')).nodes,
  demand: () => get<DemandAnswer>('demand'),
  jobs: (query: JobsQuery, signal?: AbortSignal) => get<JobsAnswer>('jobs', { ...query }, signal),
  job: (id: string, signal?: AbortSignal) => get<JobAnswer>(`jobs/${encodeURIComponent(id)}`, {}, signal),
  submit: (body: SubmitBody) => post<JobAnswer>('jobs', body),
  stop: (id: string) => post<JobAnswer>(`jobs/${encodeURIComponent(id)}/stop`),
  retry: (id: string) => post<JobAnswer>(`jobs/${encodeURIComponent(id)}/retry`),
  remove: async (id: string) => {
    await send(apiUrl(`jobs/${encodeURIComponent(id)}`), { method: 'DELETE' });
  },
  events: async (after: number | undefined, limit: number) =>
    (await get<{ events: EventAnswer[] }>('events', { after, limit })).events,
  history: (since: number, points: number) =>
    get<{ samples: SamplePoint[]; marks: Mark[] }>('history', { since, points }),
  why: (kind: 'job' | 'node', id: string, signal?: AbortSignal) =>
    get<WhyAnswer>(`why/${kind}/${encodeURIComponent(id)}`, {}, signal),
};

/** Exchanges a token for the session cookie, which the page itself cannot read. */
export async function signIn(token: string): Promise<void> {
  const url = new URL('api/authenticate', document.baseURI).href;
  await send(url, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
}
