import type { LoopSettings } from '../../autoscaler/settings.ts';
import type { NodeStarter } from '../../autoscaler/starter.ts';
import type { EventKind, EventSink } from '../../base/events.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Cleared } from '../../core/cleared.ts';
import type { TaskDemand } from '../../core/demand.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { ClusterSpec } from '../../core/spec/cluster.ts';
import type { ClusterStatus } from '../../core/status/status.ts';
import type { Activity } from '../../core/turn-off.ts';
import type { Engine } from '../../engines/engine.ts';
import type { Runner } from '../../engines/runner.ts';
import type { Provider } from '../../providers/provider.ts';
import type { StateFolder } from '../../state/state-folder.ts';
import type { RayFront } from '../gateway/ray-front.ts';

/** What a cluster stands on: its engine, where its instances come from, and what makes nodes of them. */
export interface Backend {
  readonly engine: BackendEngine;
  readonly provider: Provider;
  readonly starter: NodeStarter;
  /** Ray's own dashboard, where the engine is one. */
  readonly ray?: RayFront;
  readonly settings: Partial<LoopSettings>;
  /** Jobs can run on the head. Absent: as soon as the engine answers. */
  ready?(): boolean;
  /** What the cluster is meant to be, where that does not stand in a cluster file. Asked often. */
  readonly spec?: () => ClusterSpec;
  /** The spec with what this backend has learned of it, such as what own machines really offer. */
  complete(spec: ClusterSpec): ClusterSpec;
  /** Where a machine is reached; undefined where that means nothing. */
  addressOf(machine: string): string | undefined;
  /** A person empties this machine: it is not taken again at once. */
  rest?(machine: string): void;
  /** The cluster file was read again. */
  reloaded(): void;
  /** Keeps what the autoscaler does not see to, such as the head's own node, until the signal aborts. */
  keep(signal: AbortSignal): Promise<void>;
  /** Called after each pass with what there is to show; must not throw. */
  onPass(status: () => ClusterStatus, plan: Plan, signal: AbortSignal): void;
  /** Hears what the autoscaler tells, as it happens; must not throw. */
  onEvent?<Data>(kind: EventKind<Data>, data: Data): void;
  /** What runs here beside the jobs of the queue. Throws where that cannot be known. */
  activity(signal: AbortSignal): Promise<readonly Activity[]>;
  /** Tells those who use the cluster, where the engine can. */
  tell?(text: string, signal: AbortSignal): Promise<unknown>;
  /** Where sessions ask for the end of the cluster. */
  readonly stopFile?: string;
  /** Ends every instance, the head too, when nothing is launched any more. Safe to repeat, also by the next mantad. */
  turnOff(signal: AbortSignal): Promise<Cleared>;
  /** The last thing: the head's own machine goes, with a word of what is left. Absent where it stays. */
  leave?(left: Cleared['left'], signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface BackendEngine extends Engine, Runner {
  /** Replaces the standing request; an empty one withdraws it. */
  requestResources(requests: readonly TaskDemand[], signal: AbortSignal): Promise<void>;
  /** Called after any change that is worth a look at `state`. */
  watchState(listener: () => void): () => void;
}

export interface BackendContext {
  readonly folder: StateFolder;
  readonly clock: Clock;
  readonly events: EventSink;
  /** As it is now; it may change while the cluster runs. */
  readonly spec: () => ClusterSpec;
  /** Something came to be known that a pass should look at. */
  readonly wake: () => void;
  readonly log: (line: string) => void;
}

/** What the autoscaler tells is also for those who use the cluster, where its backend reaches them. */
export const forwardEventsTo = (backend: Pick<Backend, 'onEvent'>, events: EventSink): EventSink => ({
  emit(kind, data, progress) {
    events.emit(kind, data, progress);
    backend.onEvent?.(kind, data);
  },
});
