import type { InstanceView } from '../../instance.ts';
import type { EndReason } from '../plan.ts';
import type { Shape } from '../shape.ts';
import type { State } from '../state.ts';

/** A node of this pass: one that exists, or one that the plan will launch. */
export interface Bin {
  state: State;
  fate: 'keep' | 'launch' | 'end';
  /** Set with fate `end`. */
  end?: EndReason;
  /** Absent on a node to launch. */
  readonly instance?: InstanceView;
  /** What a node to launch is launched for. */
  readonly launch?: LaunchCause;
  /** Stands several times in the list: placing on one must not touch the others. */
  readonly shared?: boolean;
}

/** Outside the limits of the spec, and never ended: the head, and nodes that were added by hand. */
export const isExempt = ({ state, instance }: Bin): boolean => state.head || instance?.byHand === true;

/** Why a node is launched: the first thing placed on it. */
export interface LaunchCause {
  readonly kind: 'min-workers' | 'standing' | 'gang' | 'tasks';
  readonly gang?: string;
  readonly served: readonly { readonly shape: Shape; readonly count: number }[];
  /** Number of the slice of this pass that it belongs to, for types of several hosts. */
  readonly slice?: number;
}
