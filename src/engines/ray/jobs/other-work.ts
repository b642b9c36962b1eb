import { rayErrors } from '../errors.ts';
import { type RayHttp, refused } from './http.ts';
import { isTerminal, supervisorNamespace } from './job-info.ts';
import type { RayJob } from './jobs-api.ts';

/** What lives in a Ray and was not handed over by Manta. */
export interface OtherWork {
  /** Drivers started by hand, and jobs submitted straight to Ray, by their entrypoints. */
  readonly drivers: readonly string[];
  /** Detached actors, which outlive their drivers, but for those that Ray itself has made. */
  readonly actors: readonly string[];
  /** Applications of Ray Serve, also those that have no replica just now. */
  readonly applications: readonly string[];
}

interface ActorRow {
  readonly name?: string | null;
  readonly class_name?: string;
  readonly ray_namespace?: string | null;
  readonly is_detached?: boolean | null;
}

const serveNamespace = 'serve';
const serveController = 'SERVE_CONTROLLER_ACTOR';
const living = '/api/v0/actors?detail=1&limit=1000&filter_keys=state&filter_predicates=%21%3D&filter_values=DEAD';

/** Throws where Ray does not answer in full: then nobody knows. */
export async function otherWork(
  dashboard: string,
  http: RayHttp,
  jobs: readonly RayJob[],
  signal: AbortSignal,
): Promise<OtherWork> {
  const answer = (await http.json(dashboard, { path: living }, signal)) as {
    readonly result?: boolean;
    readonly msg?: string;
    readonly data?: {
      readonly result?: { readonly result?: readonly ActorRow[]; readonly partial_failure_warning?: string };
    };
  };
  const rows = answer.data?.result?.result;
  if (answer.result === false || rows === undefined || answer.data?.result?.partial_failure_warning)
    throw rayErrors.Refused({ call: 'GET /api/v0/actors', detail: answer.msg ?? 'the response is incomplete' });
  const detached = rows.filter((row) => row.is_detached === true);
  const inServe = detached.filter((row) => row.ray_namespace === serveNamespace);
  const serves = inServe.some((row) => row.name === serveController);
  return {
    drivers: jobs.filter((job) => !isTerminal(job)).map((job) => job.entrypoint || 'a driver'),
    actors: detached
      .filter((row) => row.ray_namespace !== supervisorNamespace && row.ray_namespace !== serveNamespace)
      .map((row) => row.name || row.class_name || 'an actor'),
    applications: serves ? await applicationsOf(dashboard, http, signal) : [],
  };
}

async function applicationsOf(dashboard: string, http: RayHttp, signal: AbortSignal): Promise<readonly string[]> {
  const path = '/api/serve/applications/';
  const answer = await http.ask(dashboard, { path }, signal);
  if (answer.status !== 200) throw refused(`GET ${path}`, answer);
  const { applications } = JSON.parse(answer.body.toString('utf8')) as { applications?: Record<string, unknown> };
  return Object.keys(applications ?? {});
}
