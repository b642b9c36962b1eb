/** Needs no token, as in Ray: the page has to load before it can ask for one. */
export const isPublicOfRay = (path: string): boolean =>
  path === '/' || path === '/favicon.ico' || path.startsWith('/static/');

/**
 * What Ray answers to a GET by reading only, and without the output or the environment of anybody's job: those that have
 * them beside other things are handed on with blanks (blanks.ts). Events and the timeline have the words of failed jobs and
 * tasks, Serve and Train their settings and errors.
 */
const readable = new Set([
  '/',
  '/favicon.ico',
  '/timezone',
  '/nodes',
  '/logical/actors',
  '/cluster_id',
  '/usage_stats_enabled',
  '/api/gcs_healthz',
  '/api/cluster_status',
  '/api/profiling_enabled',
  '/api/grafana_health',
  '/api/prometheus_health',
  '/api/prometheus/sd',
  '/api/v0/actors',
  '/api/v0/actors/summarize',
  '/api/v0/cluster_metadata',
  '/api/v0/nodes',
  '/api/v0/objects',
  '/api/v0/objects/summarize',
  '/api/v0/placement_groups',
  '/api/v0/platform_events',
  '/api/v0/runtime_env_redaction',
  '/api/v0/tasks',
  '/api/v0/tasks/summarize',
  '/api/v0/workers',
]);
const readableBelow = /^\/(?:static\/.+|nodes\/[^/]+|logical\/actors\/[^/]+|api\/data\/datasets\/[^/]+)$/;

/**
 * Whether a request to Ray is for administrators: everything that is not a plain read, and every path that is not known
 * to be one. Ray has GETs that act: profilers attach to processes, stack dumps stop them, logs are everybody's output.
 */
export function needsAdmin(method: string, path: string): boolean {
  if (method !== 'GET' && method !== 'HEAD') return true;
  return !readable.has(path) && !readableBelow.test(path);
}
