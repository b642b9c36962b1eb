import type { NodeEnvironment } from '../node/shell-text.ts';

/** The head asks every raylet for its waiting work this often, at most: more questions a second than this cost it a core. */
const questionsASecond = 200;
const fastest = 100;
const slowest = 1_000;
/** Where nothing is known of how many there will be. */
const someWorkers = 50;

/** In seconds: ten years. */
export const jobStartTimeout = '315360000';

/**
 * In seconds. Ray kills a job that was told to end after this long by itself, on whichever node it runs; when to, is
 * decided at the stop, and earlier.
 */
export const jobStopWait = '60';

/** For every node. */
export const nodeSettings: NodeEnvironment = { RAY_JOB_STOP_WAIT_TIME_S: { otherwise: jobStopWait } };

/**
 * Settings of Ray that make it tell sooner what Manta acts on, where neither the user nor an image has set them. Demand is
 * seen within a tenth of a second, not within one; a raylet that is gone, whose port refuses, is struck from the table
 * after five seconds, not fifteen. How long a raylet may be silent stays as it is. The dashboard, which takes the jobs, gives
 * its parts three minutes to come up and not half a one, after which it would end for good. A job that Ray has may wait for
 * room as long as it takes, not a quarter of an hour.
 */
export function headSettings(mostWorkers = someWorkers): NodeEnvironment {
  const pull = Math.min(slowest, Math.max(fastest, Math.round((mostWorkers * 1_000) / questionsASecond)));
  return {
    ...driverSettings,
    RAY_gcs_pull_resource_loads_period_milliseconds: { otherwise: String(pull) },
    RAY_health_check_period_ms: { otherwise: '1000' },
    RAY_DASHBOARD_SUBPROCESS_MODULE_WAIT_READY_TIMEOUT: { otherwise: '180' },
    RAY_JOB_START_TIMEOUT_SECONDS: { otherwise: jobStartTimeout },
  };
}

/**
 * Of many equal tasks a driver asks for ten at once and tells of the rest from time to time: once a second, as Ray has it.
 * Every driver and worker that has the setting sends a message each time, so only those on the head do.
 */
export const driverSettings: NodeEnvironment = { RAY_report_worker_backlog_interval_ms: { otherwise: '200' } };
