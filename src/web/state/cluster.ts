import { computed, signal } from '@preact/signals';
import type { ClusterAnswer, DemandAnswer, EventAnswer, NodeAnswer } from '../../api/types.ts';
import { api, RequestFailure } from '../api/client.ts';
import type { LineState } from '../api/line.ts';
import { alignClock } from './clock.ts';

/** Enough to look back over a busy hour; older ones are in `manta events`. */
const eventsKept = 5000;

export const session = signal<'unknown' | 'in' | 'out'>('unknown');
export const connection = signal<LineState>({ kind: 'connecting' });
/** Why nothing could be shown yet: the first request failed. */
export const loadFailure = signal<RequestFailure | undefined>(undefined);

export const cluster = signal<ClusterAnswer | undefined>(undefined);
export const nodes = signal<readonly NodeAnswer[] | undefined>(undefined);
export const demand = signal<DemandAnswer | undefined>(undefined);
/** Oldest first. */
export const events = signal<readonly EventAnswer[] | undefined>(undefined);

export const waitingCount = computed(() => {
  const { queued = 0, starting = 0 } = cluster.value?.jobs ?? {};
  return queued + starting;
});

export const nodesByInstance = computed(() => new Map((nodes.value ?? []).map((node) => [node.instance, node])));

/** Jobs name the node that the engine knows; people look at the instance. */
export const instanceOfNode = computed(
  () => new Map((nodes.value ?? []).flatMap((node) => [[node.node ?? node.instance, node.instance] as const])),
);

/** Takes a state of the cluster unless a newer one is shown. */
export function takeCluster(answer: ClusterAnswer): void {
  alignClock(answer.now);
  if (cluster.value === undefined || answer.now >= cluster.value.now || answer.startedAt !== cluster.value.startedAt) {
    cluster.value = answer;
  }
}

/** Adds events in order; those that are here already are dropped. */
export function takeEvents(fresh: readonly EventAnswer[]): void {
  const known = events.value ?? [];
  const last = known.at(-1)?.seq ?? -1;
  const added = fresh.filter((event) => event.seq > last);
  if (added.length === 0 && events.value !== undefined) return;
  const all = [...known, ...added];
  events.value = all.length > eventsKept ? all.slice(all.length - eventsKept) : all;
}

let demandAsked: Promise<void> | undefined;
let demandAgain = false;

/** Asks for the demand again; calls while an answer is under way end in one more request. */
export function refreshDemand(): Promise<void> {
  if (demandAsked !== undefined) {
    demandAgain = true;
    return demandAsked;
  }
  demandAsked = (async () => {
    try {
      demand.value = await api.demand();
    } catch (problem) {
      if (!(problem instanceof RequestFailure)) throw problem;
    } finally {
      demandAsked = undefined;
    }
    if (demandAgain) {
      demandAgain = false;
      await refreshDemand();
    }
  })();
  return demandAsked;
}
