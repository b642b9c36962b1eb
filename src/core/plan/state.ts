import { ownValue } from '../../base/own-value.ts';
import type { Labels, Resources } from '../resources.ts';
import type { ScalingType } from '../scaling.ts';
import type { Shape, Vocabulary } from './shape.ts';

/** Demand is measured against free room, standing requests against whole nodes. */
export type DemandSource = 0 | 1;
export const demand: DemandSource = 0;
export const standing: DemandSource = 1;

/** A node type of this pass, or the remains of one that the spec no longer has. */
export interface TypeInfo {
  /** Position in the spec: the last tie-break. */
  readonly index: number;
  readonly name: string;
  readonly spec: ScalingType | undefined;
  readonly resources: Resources;
  readonly priority: number;
  /** How readily the provider has given this type of late; 1 when nothing is known. */
  readonly recoverable: number;
  readonly availability: number;
  /** Instances that come and go as one. */
  readonly hosts: number;
  /** What one more instance costs an hour by the offer that would be used now, when known. */
  readonly price: number | undefined;
}

/** What has been placed on a node in this pass, as far as scoring needs it. */
interface Load {
  readonly any: boolean;
  /** Resource indexes that placed requests ask for. */
  readonly names: readonly number[];
  readonly gpu: boolean;
  /** Placed shapes that carry selectors, in order. */
  readonly labelled: readonly Shape[];
}

/**
 * Everything that decides what a node can take and how well. Nodes that agree in it share one object, so the packer
 * looks at each kind of node once, not at each node.
 */
export interface State {
  readonly id: number;
  readonly type: TypeInfo;
  readonly head: boolean;
  readonly unmanaged: boolean;
  readonly running: boolean;
  /** Free amount by resource index, for each source; NaN where the node does not name it. */
  readonly room: readonly [readonly number[], readonly number[]];
  readonly labels: LabelValues;
  /** Values that `apart` requests left on labels which already had another one. */
  readonly marks: ReadonlySet<string>;
  readonly load: readonly [Load, Load];
  readonly frame: Frame;
}

/** The unchanging part of a state: what the node has in total. */
export interface Frame {
  /** In the order in which the node names them: resource index, or -1 for one that no demand mentions. */
  readonly slots: readonly number[];
  readonly totals: readonly number[];
  /** For slots of -1: their fixed part in the score for each source; NaN when they take no part. */
  readonly fixed: readonly [readonly number[], readonly number[]];
  /** By resource index: whether the node names it. */
  readonly named: readonly boolean[];
  readonly hasGpu: boolean;
}

export interface NodeFacts {
  readonly type: TypeInfo;
  readonly head: boolean;
  readonly unmanaged?: boolean;
  readonly running: boolean;
  readonly total: Resources;
  readonly available: Resources;
  readonly labels: Labels;
}

/** Values by label index, of the labels that some demand mentions. */
export type LabelValues = ReadonlyMap<number, string>;

/** Interns states. One for each pass. */
export class States {
  private readonly vocabulary: Vocabulary;
  private readonly backgroundCounts: boolean;
  private readonly known = new Map<string, State>();

  /** `backgroundCounts`: how full the resources are that no demand mentions takes part in the score, as in Ray. */
  constructor(vocabulary: Vocabulary, backgroundCounts: boolean) {
    this.vocabulary = vocabulary;
    this.backgroundCounts = backgroundCounts;
  }

  of(facts: NodeFacts): State {
    const { resources } = this.vocabulary;
    let key = `${facts.type.index} ${facts.type.name}|${facts.head ? 'h' : ''}${facts.unmanaged ? 'u' : ''}${facts.running ? 'r' : ''}|`;
    for (const name in facts.total) {
      const total = facts.total[name] as number;
      const index = resources.get(name);
      if (index !== undefined) key += `${index}=${total}/${ownValue(facts.available, name)},`;
      else if (this.backgroundCounts) key += `*${total}/${ownValue(facts.available, name)},`;
      else key += '*,';
    }
    for (const name in facts.available)
      if (!Object.hasOwn(facts.total, name) && resources.has(name))
        key += `+${resources.get(name)}=${ownValue(facts.available, name)},`;
    const labels = this.labelsOf(facts.labels);
    for (const [label, value] of labels) key += `|${label}=${JSON.stringify(value)}`;
    const known = this.known.get(key);
    if (known !== undefined) return known;
    return this.keep(key, this.make(facts, labels));
  }

  /** The state after placing `placed` (shapes with counts, in order), which leaves `room` and `labels`. */
  after(
    state: State,
    source: DemandSource,
    placed: readonly { readonly shape: Shape; readonly count: number }[],
    room: readonly number[],
    labels: LabelValues,
    marks: ReadonlySet<string>,
  ): State {
    let key = `${state.id}:${source}`;
    for (const { shape, count } of placed) key += `,${shape.id}x${count}`;
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const load = addLoad(state.load[source], placed);
    return this.keep(key, {
      ...state,
      room: source === demand ? [room, state.room[1]] : [state.room[0], room],
      labels,
      marks,
      load: source === demand ? [load, state.load[1]] : [state.load[0], load],
    });
  }

  private keep(key: string, state: Omit<State, 'id'>): State {
    const kept = { ...state, id: this.known.size };
    this.known.set(key, kept);
    return kept;
  }

  private labelsOf(labels: Labels): LabelValues {
    let known: [number, string][] | undefined;
    for (const name in labels) {
      const label = this.vocabulary.labels.get(name);
      if (label !== undefined) (known ??= []).push([label, labels[name] as string]);
    }
    return known === undefined ? noLabels : new Map(known.sort(([a], [b]) => a - b));
  }

  private make(facts: NodeFacts, labels: LabelValues): Omit<State, 'id'> {
    const { resources, resourceNames } = this.vocabulary;
    const size = resourceNames.length;
    const free = new Array<number>(size).fill(Number.NaN);
    const whole = new Array<number>(size).fill(Number.NaN);
    const named = new Array<boolean>(size).fill(false);
    const slots: number[] = [];
    const totals: number[] = [];
    const fixedDemand: number[] = [];
    const fixedStanding: number[] = [];
    for (const [name, total] of Object.entries(facts.total)) {
      const index = resources.get(name) ?? -1;
      if (index >= 0) {
        named[index] = true;
        whole[index] = total;
      }
      slots.push(index);
      totals.push(total);
      fixedDemand.push(this.fixedPart(total, ownValue(facts.available, name)));
      fixedStanding.push(this.fixedPart(total, total));
    }
    for (const [name, available] of Object.entries(facts.available)) {
      const index = resources.get(name);
      if (index !== undefined) free[index] = available;
    }
    const empty: Load = { any: false, names: [], gpu: false, labelled: [] };
    return {
      type: facts.type,
      head: facts.head,
      unmanaged: facts.unmanaged ?? false,
      running: facts.running,
      room: [free, whole],
      labels,
      marks: noMarks,
      load: [empty, empty],
      frame: { slots, totals, fixed: [fixedDemand, fixedStanding], named, hasGpu: (facts.total['GPU'] ?? 0) > 0 },
    };
  }

  private fixedPart(total: number, available: number | undefined): number {
    if (total === 0) return Number.NaN;
    if (!this.backgroundCounts) return 0;
    return available === undefined ? Number.NaN : usage(total, available);
  }
}

const noMarks: ReadonlySet<string> = new Set();
const noLabels: LabelValues = new Map();

function addLoad(load: Load, placed: readonly { readonly shape: Shape }[]): Load {
  const names = new Set(load.names);
  let gpu = load.gpu;
  let labelled = load.labelled;
  for (const { shape } of placed) {
    for (const name of shape.names) names.add(name);
    gpu ||= shape.gpu;
    if (shape.selectors.length > 0 && !labelled.includes(shape)) labelled = [...labelled, shape];
  }
  return { any: true, names: [...names], gpu, labelled };
}

/** How much of a resource is in use, weighted so that full nodes stand out: total times the cube of the used fraction. */
export function usage(total: number, available: number): number {
  const used = Math.min(1, Math.max(0, (total - available) / total));
  return total * cube(used);
}

/** The cube, rounded once as C's `pow` does: equal scores must be equal to the last bit. */
function cube(x: number): number {
  const square = x * x;
  const squareError = productError(x, x, square);
  const result = square * x;
  return result + (productError(square, x, result) + squareError * x);
}

function productError(a: number, b: number, product: number): number {
  const c = 134217729 * a;
  const aHigh = c - (c - a);
  const aLow = a - aHigh;
  const d = 134217729 * b;
  const bHigh = d - (d - b);
  const bLow = b - bHigh;
  return aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow);
}

/** How well a label set serves a request: number of selectors left from the first one that holds; 0 when none does. */
export function labelMatch(shape: Shape, labels: LabelValues): number {
  const { selectors } = shape;
  for (let i = 0; i < selectors.length; i++) {
    const rules = selectors[i] as Shape['selectors'][number];
    let holds = true;
    for (const rule of rules) {
      const value = labels.get(rule.label);
      const inside = value !== undefined && rule.values.has(value);
      if (inside !== rule.inside) {
        holds = false;
        break;
      }
    }
    if (holds) return selectors.length - i;
  }
  return 0;
}
