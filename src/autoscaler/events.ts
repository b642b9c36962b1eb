import { defineEvent } from '../base/events.ts';
import { ownValue } from '../base/own-value.ts';
import type { EndReason, LaunchReason } from '../core/plan/plan.ts';
import type { FollowUpReason } from './journal.ts';

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
const place = (e: { zone?: string | undefined; market: string }): string => `${e.market}${e.zone ? `, ${e.zone}` : ''}`;

/** Why an instance ends, in words. */
function endReasonText(because: EndReason | FollowUpReason): string {
  switch (because.kind) {
    case 'idle':
      return `idle for ${Math.round(because.idleFor / 1_000)} s`;
    case 'outdated':
      return 'its configuration is out of date';
    case 'type-limit':
      return `more than ${because.max} of its type`;
    case 'cluster-limit':
      return `more than ${because.max} workers`;
    case 'unneeded-pending':
      return 'no longer needed';
    case 'type-removed':
      return 'its type is no longer in the cluster file';
    case 'slice-broken':
      return `slice ${because.slice} is broken`;
    case 'not-kept':
      return 'its machine is stopped, and the cluster file does not keep it';
    case 'preemption':
      return 'the provider is reclaiming it';
    case 'asked':
      return 'requested';
    default:
      return ownValue(endWords, because.status) ?? because.status;
  }
}

const endWords: Readonly<Record<string, string>> = {
  stopped: 'its node has stopped',
  'drain-requested': 'draining it again',
  'launch-timeout': 'it never came up',
  'setup-failed': 'its setup failed',
  'machine-stopped': 'its machine is still running',
  'terminate-failed': 'the last attempt to terminate it failed',
  terminating: 'it is still running',
};

/** What the loop reports, as it happens. */
export const autoscalerEvents = {
  launching: defineEvent<{
    type: string;
    count: number;
    zone?: string | undefined;
    market: string;
    token: string;
    because: readonly LaunchReason[];
  }>({
    code: 'MANTA_AUTOSCALER_LAUNCHING',
    level: 'info',
    text: (e) => `requesting ${counted(e.count, 'instance')} of ${e.type} (${place(e)})`,
  }),
  launched: defineEvent<{ type: string; asked: number; given: number; token: string }>({
    code: 'MANTA_AUTOSCALER_LAUNCHED',
    level: 'info',
    text: (e) =>
      e.given < e.asked
        ? `the provider launched ${e.given} of ${counted(e.asked, 'instance')} of ${e.type}`
        : `the provider launched ${counted(e.given, 'instance')} of ${e.type}`,
  }),
  unanswered: defineEvent<{ type: string; zone?: string | undefined; market: string; token: string; said: string }>({
    code: 'MANTA_AUTOSCALER_LAUNCH_UNANSWERED',
    level: 'warn',
    text: (e) => `no response to a launch of ${e.type} (${place(e)}), so it may have taken effect: ${e.said}`,
  }),
  givenUp: defineEvent<{
    type: string;
    zone?: string | undefined;
    market: string;
    said?: string | undefined;
    times: number;
    until: number;
  }>({
    code: 'MANTA_AUTOSCALER_LAUNCH_GIVEN_UP',
    level: 'warn',
    text: (e) =>
      `gave up on a launch of ${e.type} (${place(e)}): no response, and the provider does not list it; backing off after ${e.times} in a row${e.said ? `: ${e.said}` : ''}`,
  }),
  refused: defineEvent<{
    type: string;
    zone?: string | undefined;
    market: string;
    reason: string;
    detail?: string | undefined;
    times: number;
    until: number;
  }>({
    code: 'MANTA_AUTOSCALER_REFUSED',
    level: 'warn',
    text: (e) =>
      `${e.reason === 'launch-timeout' ? `machines of ${e.type} (${place(e)}) did not come up in time` : `the provider refused ${e.type} (${place(e)}): ${e.reason}`}, ${e.times} in a row${e.detail ? `: ${e.detail}` : ''}`,
  }),
  paused: defineEvent<{ type: string; times: number; until: number }>({
    code: 'MANTA_AUTOSCALER_TYPE_PAUSED',
    level: 'warn',
    text: (e) => `pausing launches of ${e.type}: setup failed on ${e.times} machines in a row`,
  }),
  adopted: defineEvent<{ instance: string; providerId: string; type: string; why: string }>({
    code: 'MANTA_AUTOSCALER_ADOPTED',
    level: 'warn',
    text: (e) => `adopted ${e.providerId} (${e.type}): ${e.why}`,
  }),
  settingUp: defineEvent<{ instance: string; type: string }>({
    code: 'MANTA_AUTOSCALER_SETTING_UP',
    level: 'info',
    text: (e) => `setting up ${e.instance} (${e.type})`,
  }),
  setupFailed: defineEvent<{
    instance: string;
    type: string;
    reason: string;
    host?: string | undefined;
    /** Code of the error; none when it was merely too late. */
    failure?: string | undefined;
  }>({
    code: 'MANTA_AUTOSCALER_SETUP_FAILED',
    level: 'warn',
    text: (e) => `setup of ${e.instance} (${e.type}) failed: ${e.reason}`,
  }),
  running: defineEvent<{ instance: string; type: string }>({
    code: 'MANTA_AUTOSCALER_RUNNING',
    level: 'info',
    text: (e) => `${e.instance} (${e.type}) is running`,
  }),
  ended: defineEvent<{
    instance: string;
    type: string;
    how: 'drain' | 'stop' | 'terminate';
    because: EndReason | FollowUpReason;
  }>({
    code: 'MANTA_AUTOSCALER_ENDING',
    level: 'info',
    text: (e) =>
      `${e.how === 'drain' ? 'draining' : e.how === 'stop' ? 'stopping the machine of' : 'terminating'} ${e.instance} (${e.type}): ${endReasonText(e.because)}`,
  }),
  drainRefused: defineEvent<{ instance: string; reason: string }>({
    code: 'MANTA_AUTOSCALER_DRAIN_REFUSED',
    level: 'info',
    text: (e) => `not draining ${e.instance}: ${e.reason}`,
  }),
  dropped: defineEvent<{ action: string; instance?: string | undefined; type?: string | undefined; why: string }>({
    code: 'MANTA_AUTOSCALER_ACTION_DROPPED',
    level: 'debug',
    text: (e) => `dropped ${e.action} of ${e.instance ?? e.type ?? 'an instance'}: ${e.why}`,
  }),
  isolated: defineEvent<{ instance: string; why: string }>({
    code: 'MANTA_AUTOSCALER_ISOLATED',
    level: 'error',
    text: (e) => `${e.instance} is left alone: ${e.why}`,
  }),
  partialView: defineEvent<{ side: 'provider' | 'engine'; reason: string }>({
    code: 'MANTA_AUTOSCALER_PARTIAL_VIEW',
    level: 'warn',
    text: (e) => `the ${e.side} did not respond; terminating nothing in this pass: ${e.reason}`,
  }),
  failed: defineEvent<{ during: string; reason: string }>({
    code: 'MANTA_AUTOSCALER_FAILED',
    level: 'error',
    text: (e) => `${e.during} failed, retrying: ${e.reason}`,
  }),
  unreadableFact: defineEvent<{ kind: string }>({
    code: 'MANTA_AUTOSCALER_UNREADABLE_FACT',
    level: 'error',
    text: (e) => `skipped a journal entry of unknown kind '${e.kind}'`,
  }),
};
