import { constants } from 'node:os';
import type { EndCause } from '../../../core/jobs/job.ts';
import { readDeath } from './prose.ts';

/** What Ray keeps of a job that was submitted to it; those fields that are read here. */
export interface JobInfo {
  readonly status: 'PENDING' | 'RUNNING' | 'STOPPED' | 'SUCCEEDED' | 'FAILED';
  /** As it was submitted. */
  readonly entrypoint?: string;
  readonly message?: string | null;
  readonly error_type?: string | null;
  /** Of the submission, not of the entrypoint's start. */
  readonly start_time?: number | null;
  readonly end_time?: number | null;
  readonly driver_agent_http_address?: string | null;
  readonly driver_node_id?: string | null;
  readonly driver_exit_code?: number | null;
}

export const isTerminal = ({ status }: JobInfo): boolean => status !== 'PENDING' && status !== 'RUNNING';

/** Where Ray keeps it in its store. */
export const jobNamespace = 'job';
export const jobKey = (id: string): string => `_ray_internal_job_info_${id}`;

/** The actor that runs the entrypoint. */
export const supervisorNamespace = 'SUPERVISOR_ACTOR_RAY_NAMESPACE';
export const supervisorName = (id: string): string => `_ray_internal_job_actor_${id}`;

/** What became of the node that a job ran on. */
export type NodeFate = 'alive' | 'lost' | 'preempted';

export interface JobEnd {
  readonly cause: EndCause;
  readonly exitCode?: number;
  readonly message: string;
}

/** What every message of a failed setup begins with; Manta begins it so itself, on any engine. */
const setupBeginning = /^runtime_env setup failed: Failed to set up runtime environment\.\s*/;

const { SIGHUP, SIGINT, SIGKILL, SIGTERM } = constants.signals;

/** It ended by a signal that a machine which goes down sends: the node may be why. */
export function endedBySignal({ status, driver_exit_code: code }: JobInfo): boolean {
  if (status !== 'FAILED' || typeof code !== 'number') return false;
  // Python tells it as its negative number, a shell in between as 128 and it.
  return [SIGHUP, SIGINT, SIGKILL, SIGTERM].some((number) => code === -number || code === 128 + number);
}

/** Why a job that is over ended. Ray tells the death of a supervisor apart from the entrypoint's; the node says why. */
export function readEnd(info: JobInfo, asked: { readonly stopped: boolean; readonly fate: NodeFate }): JobEnd {
  const message = info.message ?? '';
  if (info.status === 'SUCCEEDED') return { cause: 'succeeded', exitCode: 0, message: 'exit code 0' };
  if (info.status === 'STOPPED') return { cause: 'stopped', message: 'stopped' };
  const code = info.driver_exit_code;
  if (code !== null && code !== undefined) {
    const exit = exitOf(code);
    if (!endedBySignal(info)) return { cause: 'failed', ...exit };
    if (asked.stopped) return { cause: 'stopped', message: 'stopped' };
    if (asked.fate === 'alive') return { cause: 'failed', ...exit };
    return { cause: asked.fate === 'lost' ? 'node-lost' : 'preempted', message: exit.message };
  }
  if (asked.stopped) return { cause: 'stopped', message: 'stopped' };
  if (info.error_type === 'RUNTIME_ENV_SETUP_FAILURE')
    return { cause: 'setup-failed', message: message.replace(setupBeginning, '').trim() };
  const began = Boolean(info.driver_node_id);
  if (!info.error_type?.startsWith('JOB_SUPERVISOR_ACTOR'))
    return { cause: began ? 'failed' : 'start-failed', message };
  if (info.error_type === 'JOB_SUPERVISOR_ACTOR_START_TIMEOUT') return { cause: 'start-failed', message };
  const death = readDeath(message);
  if (asked.fate === 'preempted' || death === 'preempted') return { cause: 'preempted', message };
  if (asked.fate === 'lost') return { cause: 'node-lost', message };
  return { cause: death ?? (began ? 'failed' : 'start-failed'), message };
}

function exitOf(code: number): { exitCode: number; message: string } {
  if (code >= 0) return { exitCode: code, message: `exit code ${code}` };
  const name = Object.entries(constants.signals).find(([, number]) => number === -code)?.[0] ?? `signal ${-code}`;
  return { exitCode: 128 - code, message: `killed by ${name}` };
}
