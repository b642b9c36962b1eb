import type { Duration } from '../base/time/clock.ts';
import type { LaunchRequest } from '../providers/provider.ts';
import type { SimulatedMachine } from './machine.ts';
import type { SimulatedNode } from './work.ts';

export type WorkKind = 'task' | 'actor' | 'gang';

/** Sees everything that happens in a simulated world, at the moment it happens. The judge and the meter are watchers. */
export interface Watcher {
  launchCalled?(request: LaunchRequest): void;
  /** New machines of one launch. */
  launched?(machines: readonly SimulatedMachine[], request: LaunchRequest | undefined): void;
  terminateCalled?(ids: readonly string[]): void;
  /** An order to end a machine took effect. */
  terminated?(machine: SimulatedMachine): void;
  /** A machine was switched off, and is kept. */
  stopped?(machine: SimulatedMachine): void;
  /** A machine is gone, for whatever reason. */
  gone?(machine: SimulatedMachine): void;
  drainCalled?(node: string): void;
  joined?(node: SimulatedNode): void;
  left?(node: SimulatedNode): void;
  /** The first work began on a node that was idle. */
  busy?(node: SimulatedNode): void;
  /** The last work on a node ended, and the node lives. */
  idle?(node: SimulatedNode): void;
  submitted?(kind: WorkKind): void;
  /** `waited` is set on the first start. */
  started?(kind: WorkKind, waited: Duration | undefined): void;
  finished?(kind: WorkKind): void;
  /** Work lost its node and starts again. */
  killed?(kind: WorkKind): void;
}

/** Many watchers as one. */
export function watchAll(watchers: readonly Watcher[]): Required<Watcher> {
  return {
    launchCalled: (request) => watchers.forEach((each) => each.launchCalled?.(request)),
    launched: (machines, request) => watchers.forEach((each) => each.launched?.(machines, request)),
    terminateCalled: (ids) => watchers.forEach((each) => each.terminateCalled?.(ids)),
    terminated: (machine) => watchers.forEach((each) => each.terminated?.(machine)),
    stopped: (machine) => watchers.forEach((each) => each.stopped?.(machine)),
    gone: (machine) => watchers.forEach((each) => each.gone?.(machine)),
    drainCalled: (node) => watchers.forEach((each) => each.drainCalled?.(node)),
    joined: (node) => watchers.forEach((each) => each.joined?.(node)),
    left: (node) => watchers.forEach((each) => each.left?.(node)),
    busy: (node) => watchers.forEach((each) => each.busy?.(node)),
    idle: (node) => watchers.forEach((each) => each.idle?.(node)),
    submitted: (kind) => watchers.forEach((each) => each.submitted?.(kind)),
    started: (kind, waited) => watchers.forEach((each) => each.started?.(kind, waited)),
    finished: (kind) => watchers.forEach((each) => each.finished?.(kind)),
    killed: (kind) => watchers.forEach((each) => each.killed?.(kind)),
  };
}
