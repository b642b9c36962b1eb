import { defineEvent, type EventSink } from '../../base/events.ts';
import type { Ground } from '../ground.ts';

/** What mantad says of the cluster's own end, and of the leases of its workers. */
export const turnOffEvents = {
  soon: defineEvent<{ at: number; left: string; why: string }>({
    code: 'MANTA_HEAD_TURN_OFF_SOON',
    level: 'warn',
    text: (e) => `the cluster turns itself off in ${e.left}: ${e.why}; 'manta extend' puts it off`,
  }),
  extended: defineEvent<{ until: string }>({
    code: 'MANTA_HEAD_EXTENDED',
    level: 'info',
    text: (e) => `the cluster is kept at least until ${e.until}`,
  }),
  turningOff: defineEvent<{ why: string }>({
    code: 'MANTA_HEAD_TURNING_OFF',
    level: 'warn',
    text: (e) => `the cluster turns itself off: ${e.why}`,
  }),
  left: defineEvent<{ host: string; why: string }>({
    code: 'MANTA_HEAD_TURN_OFF_LEFT',
    level: 'error',
    text: (e) => `${e.host} could not be cleared: ${e.why}; its lease ends Ray there`,
  }),
  stays: defineEvent<{ hosts: readonly string[]; why: string }>({
    code: 'MANTA_HEAD_TURN_OFF_STAYS',
    level: 'error',
    text: (e) =>
      `${e.hosts.join(', ')} could not be ended: ${e.why}; the head stays and goes on trying, for an hour at most, and their leases end them beside that`,
  }),
  headLeft: defineEvent<{ why: string }>({
    code: 'MANTA_HEAD_TURN_OFF_HEAD_LEFT',
    level: 'error',
    text: (e) =>
      `the machine of the head could not be ended: ${e.why}; it is tried again until it has gone, or until 'manta down'`,
  }),
  turnedOff: defineEvent<{ hosts: number; left: number }>({
    code: 'MANTA_HEAD_OFF',
    level: 'info',
    text: (e) =>
      `the cluster is off: ${e.hosts} ${e.hosts === 1 ? 'machine was' : 'machines were'} cleared${e.left > 0 ? `, ${e.left} did not answer` : ''}`,
  }),
  leaseNotRenewed: defineEvent<{ host: string; reason: string; seconds: number }>({
    code: 'MANTA_HEAD_LEASE_NOT_RENEWED',
    level: 'warn',
    text: (e) =>
      `the lease of ${e.host} could not be renewed: ${e.reason}; after ${e.seconds} s without it Ray ends there`,
  }),
  leasesWithoutList: defineEvent<{ reason: string; workers: number }>({
    code: 'MANTA_HEAD_LEASES_WITHOUT_LIST',
    level: 'warn',
    text: (e) =>
      `the provider does not list its instances: ${e.reason}; the leases of ${e.workers} workers that are known without it are renewed`,
  }),
};

/** Drivers hear of the end too, where the engine can tell them. */
export const telling = (events: EventSink, ground: Pick<Ground, 'tell'>, signal: AbortSignal): EventSink => ({
  emit(kind, data, progress) {
    events.emit(kind, data, progress);
    if (kind.code === turnOffEvents.soon.code) ground.tell?.(kind.text(data), signal).catch(() => {});
  },
});
