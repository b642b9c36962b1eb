/** Why something does not come up, with what to do about it. */
export interface Cause {
  readonly kind:
    | 'not noticed'
    | 'refused by the operator'
    | 'quota'
    | 'pod security'
    | 'unschedulable'
    | 'taint'
    | 'no device plugin'
    | 'volume'
    | 'no room for a second cluster'
    | 'gated'
    | 'image'
    | 'crash'
    | 'out of memory'
    | 'container settings'
    | 'waits for the head'
    | 'probe'
    | 'not ready'
    | 'node lost'
    | 'serve config'
    | 'working_dir'
    | 'deploy failed'
    | 'no gateway'
    | 'timed out'
    | 'job failed';
  readonly says: string;
  readonly next: string;
  /** Waiting does not help. */
  readonly isFinal: boolean;
  /** Whose last lines say more. */
  readonly logs?: { readonly pod: string; readonly container: string };
}

/** How far something is on its way to what was asked for. */
export type Headway =
  | { readonly state: 'done'; readonly says: string }
  | { readonly state: 'waiting'; readonly says: string; readonly cause?: Cause };
