import type { EventSink } from '../base/events.ts';
import { version } from '../base/version.ts';
import { compareVersions } from '../core/versions.ts';
import { clientEvents } from './events.ts';

const told = new Set<string>();

/** Says once a command that head and client are of different versions. */
export function tellSkew(cluster: string, head: string, events: EventSink): void {
  const order = compareVersions(head, version);
  if (order === 0 || told.has(cluster)) return;
  told.add(cluster);
  events.emit(clientEvents.skew, { cluster, head, client: version, newer: order > 0 ? 'head' : 'client' });
}
