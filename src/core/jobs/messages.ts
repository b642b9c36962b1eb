import { redact } from '../../base/redact.ts';
import type { EndCause, Job } from './job.ts';

/** Ray's words for where a job stands; programs match on them. */
export const messages = {
  waiting: (job: Pick<Job, 'resources' | 'runtimeEnv'>): string =>
    [
      'Job has not started yet.',
      Object.keys(job.resources).length > 0
        ? 'It may be waiting for resources (CPUs, GPUs, memory, custom resources) to become available.'
        : '',
      Object.keys(job.runtimeEnv).length > 0 ? 'It may be waiting for the runtime environment to be set up.' : '',
    ]
      .filter((sentence) => sentence !== '')
      .join(' '),
  running: 'Job is currently running.',
  stopped: 'Job was intentionally stopped.',
  succeeded: 'Job finished successfully.',
};

/** Ray's `error_type` for an attempt that ended so. */
export function errorTypeOf(cause: EndCause): string | undefined {
  switch (cause) {
    case 'succeeded':
    case 'stopped':
      return undefined;
    case 'setup-failed':
      return 'RUNTIME_ENV_SETUP_FAILURE';
    case 'node-lost':
    case 'preempted':
      return 'JOB_SUPERVISOR_ACTOR_DIED';
    case 'start-failed':
      return 'JOB_ENTRYPOINT_COMMAND_START_ERROR';
    case 'failed':
    case 'memory-limit':
    case 'time-limit':
      return 'JOB_ENTRYPOINT_COMMAND_ERROR';
  }
}

/** A message as everybody may read it: without credentials, and without the output of the job or of its setup. */
export const withoutOutput = (message: string): string =>
  redact(message.split('\n', 1)[0]?.split(', last available logs', 1)[0] ?? '');

/** What became of a failed attempt, in words; the last lines of its output are part of Ray's text. */
export function failureText(end: {
  cause: EndCause;
  exitCode?: number | undefined;
  message?: string | undefined;
  lastLines?: string | undefined;
}): string {
  const detail = end.message ? `: ${end.message}` : '';
  switch (end.cause) {
    case 'failed':
      return `Job entrypoint command failed with exit code ${end.exitCode ?? 'unknown'}, last available logs (truncated to 20,000 chars):\n${end.lastLines ?? ''}`;
    case 'setup-failed':
      return `runtime_env setup failed: Failed to set up runtime environment.${end.message ? ` ${end.message}` : ''}`;
    case 'start-failed':
      return `The entrypoint could not be started${detail}`;
    case 'node-lost':
      return `The node that ran the job was lost${detail}`;
    case 'preempted':
      return `The provider reclaimed the machine that ran the job${detail}`;
    case 'memory-limit':
      return `The job used more memory than it requested and was killed${detail}`;
    case 'time-limit':
      return 'The job exceeded its time limit and was stopped.';
    case 'stopped':
      return messages.stopped;
    case 'succeeded':
      return messages.succeeded;
  }
}
