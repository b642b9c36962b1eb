import type { EventAnswer, WireEndCause, WireInstanceStatus, WireJobState } from '../../api/types.ts';

/** How a state is drawn: a colour, and a shape so that the colour is never the only signal. */
export interface Look {
  readonly label: string;
  readonly tone: 'neutral' | 'info' | 'good' | 'warn' | 'bad' | 'muted';
  readonly shape:
    | 'ring'
    | 'clock'
    | 'half'
    | 'play'
    | 'check'
    | 'cross'
    | 'square'
    | 'down'
    | 'info'
    | 'alert'
    | 'dot'
    | 'rise'
    | 'fall';
}

export const jobLooks: Readonly<Record<WireJobState, Look>> = {
  held: { label: 'Held', tone: 'muted', shape: 'clock' },
  queued: { label: 'Queued', tone: 'neutral', shape: 'ring' },
  starting: { label: 'Starting', tone: 'info', shape: 'half' },
  running: { label: 'Running', tone: 'info', shape: 'play' },
  stopping: { label: 'Stopping', tone: 'warn', shape: 'half' },
  succeeded: { label: 'Succeeded', tone: 'good', shape: 'check' },
  failed: { label: 'Failed', tone: 'bad', shape: 'cross' },
  stopped: { label: 'Stopped', tone: 'muted', shape: 'square' },
};

/** In the order in which a job goes through them. */
export const jobStates = Object.keys(jobLooks) as readonly WireJobState[];

export const instanceLooks: Readonly<Record<WireInstanceStatus, Look>> = {
  queued: { label: 'Not requested yet', tone: 'neutral', shape: 'clock' },
  requested: { label: 'Requested', tone: 'neutral', shape: 'ring' },
  allocated: { label: 'Booting', tone: 'info', shape: 'half' },
  'setting-up': { label: 'Setting up', tone: 'info', shape: 'half' },
  running: { label: 'Running', tone: 'good', shape: 'play' },
  'drain-requested': { label: 'Drain requested', tone: 'warn', shape: 'down' },
  draining: { label: 'Draining', tone: 'warn', shape: 'down' },
  stopped: { label: 'Stopped', tone: 'muted', shape: 'square' },
  'machine-stopped': { label: 'Machine stopped', tone: 'muted', shape: 'square' },
  terminating: { label: 'Terminating', tone: 'warn', shape: 'down' },
  terminated: { label: 'Terminated', tone: 'muted', shape: 'square' },
  'launch-failed': { label: 'Launch failed', tone: 'bad', shape: 'cross' },
  'launch-timeout': { label: 'Launch timed out', tone: 'bad', shape: 'cross' },
  'setup-failed': { label: 'Setup failed', tone: 'bad', shape: 'cross' },
  'terminate-failed': { label: 'Termination failed', tone: 'bad', shape: 'alert' },
};

export type NodeGroup = 'running' | 'pending' | 'stopped' | 'ending' | 'failed' | 'gone';

export const nodeGroups: Readonly<Record<NodeGroup, string>> = {
  running: 'Running',
  pending: 'Pending',
  stopped: 'Machine stopped',
  ending: 'Terminating',
  failed: 'Failed',
  gone: 'Gone',
};

const groupOf: Readonly<Record<WireInstanceStatus, NodeGroup>> = {
  queued: 'pending',
  requested: 'pending',
  allocated: 'pending',
  'setting-up': 'pending',
  running: 'running',
  'drain-requested': 'ending',
  draining: 'ending',
  stopped: 'gone',
  'machine-stopped': 'stopped',
  terminating: 'ending',
  terminated: 'gone',
  'launch-failed': 'failed',
  'launch-timeout': 'failed',
  'setup-failed': 'failed',
  'terminate-failed': 'failed',
};

export function nodeGroup(status: WireInstanceStatus): NodeGroup {
  return groupOf[status];
}

export const eventLooks: Readonly<Record<EventAnswer['level'], Look>> = {
  debug: { label: 'Debug', tone: 'muted', shape: 'dot' },
  info: { label: 'Info', tone: 'info', shape: 'info' },
  result: { label: 'Result', tone: 'good', shape: 'check' },
  warn: { label: 'Warning', tone: 'warn', shape: 'alert' },
  error: { label: 'Error', tone: 'bad', shape: 'cross' },
};

const causeWords: Readonly<Record<WireEndCause, string>> = {
  succeeded: 'Succeeded',
  failed: 'Failed',
  stopped: 'Stopped',
  'node-lost': 'Node lost',
  preempted: 'Preempted',
  'setup-failed': 'Setup failed',
  'memory-limit': 'Exceeded its memory limit',
  'time-limit': 'Exceeded its time limit',
  'start-failed': 'Failed to start',
};

export function causeLook(cause: WireEndCause): Look {
  const state: WireJobState = cause === 'succeeded' || cause === 'stopped' ? cause : 'failed';
  return { ...jobLooks[state], label: causeWords[cause] };
}
