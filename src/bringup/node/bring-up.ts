import type { EventSink } from '../../base/events.ts';
import type { Host } from '../../base/host.ts';
import { bringupEvents } from '../events.ts';
import type { RayVersions } from '../ray/versions.ts';
import { tellWaits, throughDrops } from '../steps/through-drops.ts';
import type { NodeOrder } from './node.ts';
import { NodeSetUp } from './node-set-up.ts';
import type { NodeRecord, Part, Restart } from './record.ts';

export interface BringUpEdges {
  readonly events: EventSink;
  /** How long a host that does not answer yet is waited for. */
  readonly connectWithin: number;
  /** Sync and setup are left out (`--restart-only`). */
  readonly startOnly?: boolean;
  /** Anyone who brings back a Ray that is gone does this, and does it again where it fails. */
  readonly bringsBack?: boolean;
  readonly restart: Restart;
  /** A node that is to have another container than it has is left as it is, with what runs there: it is replaced in its turn. */
  readonly keepContainer?: boolean;
  /** Versions that the head runs; a worker with others is refused before its Ray starts. */
  readonly head?: () => { readonly node: string; readonly versions: RayVersions } | undefined;
  /** The user takes a Ray without authentication. */
  readonly allowNoAuth?: boolean;
  /** Resolves when the head's GCS listens; workers wait for it just before they start. */
  readonly headListens?: (signal: AbortSignal) => Promise<void>;
  /** The files are on the host and its folder is made: others may build on it. */
  readonly onSynced?: () => void;
}

export interface BroughtUp {
  readonly record: NodeRecord;
  readonly done: ReadonlySet<Part>;
  readonly versions?: RayVersions;
  /** It was left as it is, for `keepContainer`. */
  readonly left?: boolean;
}

/** From an SSH port to a node of Ray. Does what the record on the host does not say is done, in order, and no more. */
export function bringUpNode(
  host: Host,
  order: NodeOrder,
  edges: BringUpEdges,
  signal: AbortSignal,
): Promise<BroughtUp> {
  const node = host.name;
  const { events, connectWithin } = edges;
  const connect = (): Promise<void> => {
    events.emit(bringupEvents.step, { node, step: 'connecting' }, { id: `node ${node}`, state: 'running' });
    const onWait = tellWaits((why) => events.emit(bringupEvents.waiting, { node, why }));
    return host.connect({ signal, within: connectWithin, onWait });
  };
  return throughDrops(
    connect,
    async () => (await NodeSetUp.prepare(host, order, edges, signal)).run(),
    (why) => events.emit(bringupEvents.goingOn, { node, why: why.message }),
    signal,
  );
}
