/** What Manta's own HTTP API says and is told, `/api/manta/v1`, for the page, the command line and mantad. */
export type * from './cluster.ts';
export type * from './demand.ts';
export type { ErrorAnswer } from './error.ts';
export type * from './jobs.ts';
export type * from './past.ts';
export type * from './users.ts';
