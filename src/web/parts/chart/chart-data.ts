import type { Mark, SamplePoint } from '../../../api/types.ts';
import { ownValue } from '../../../base/own-value.ts';
import type { Look } from '../../words/states.ts';

/** One layer of the chart of nodes: a type, with its running nodes at each time. */
export interface Layer {
  readonly type: string;
  readonly counts: readonly number[];
}

export interface NodeSeries {
  /** Seconds, as the chart wants them. */
  readonly times: readonly number[];
  /** Bottom to top. */
  readonly layers: readonly Layer[];
  /** All types together, pending ones included. */
  readonly wanted: readonly number[];
}

/** The samples, with the last one carried on to `now`: nothing is sampled while nothing changes. */
export function carriedTo(samples: readonly SamplePoint[], now: number): readonly SamplePoint[] {
  const last = samples.at(-1);
  return last === undefined || last.at >= now ? samples : [...samples, { ...last, at: now }];
}

/** Left edge of the chart: a young cluster fills it with what there is, from one minute on. */
export function firstShown(samples: readonly SamplePoint[], now: number, span: number): number {
  const oldest = samples[0]?.at ?? now;
  return Math.max(now - span, Math.min(oldest, now - youngest));
}

const youngest = 60_000;

/** Samples turned into layers. Types in the order of the spec, then those that only the past knows. */
export function nodeSeries(samples: readonly SamplePoint[], order: readonly string[]): NodeSeries {
  const seen = new Set<string>();
  for (const sample of samples) for (const name of Object.keys(sample.nodes)) if (!name.endsWith('+')) seen.add(name);
  const types = [
    ...order.filter((type) => seen.has(type)),
    ...[...seen].filter((type) => !order.includes(type)).sort(),
  ];
  return {
    times: samples.map((sample) => sample.at / 1000),
    layers: types.map((type) => ({ type, counts: samples.map((sample) => ownValue(sample.nodes, type) ?? 0) })),
    wanted: samples.map((sample) => Object.values(sample.nodes).reduce((sum, count) => sum + count, 0)),
  };
}

/** Heights of the layers' upper edges, bottom to top. */
export function stacked(layers: readonly Layer[]): number[][] {
  let below: readonly number[] = [];
  return layers.map((layer) => {
    const edge = layer.counts.map((count, index) => count + (below[index] ?? 0));
    below = edge;
    return edge;
  });
}

/** Marks that fall on one spot of the chart are drawn as one. */
export interface MarkGroup {
  readonly x: number;
  readonly kind: Mark['kind'];
  readonly count: number;
  readonly marks: readonly Mark[];
}

/** Groups marks by place: `width` pixels share one sign, and what is worst gives it its shape. */
export function groupMarks(marks: readonly Mark[], place: (at: number) => number, width: number): MarkGroup[] {
  const slots = new Map<number, Mark[]>();
  for (const mark of marks) {
    const slot = Math.floor(place(mark.at) / width);
    slots.set(slot, [...(slots.get(slot) ?? []), mark]);
  }
  return [...slots].map(([slot, group]) => {
    const kinds = new Set(group.map((mark) => mark.kind));
    const kind = kinds.has('failure') ? 'failure' : kinds.has('launch') ? 'launch' : 'end';
    return { x: (slot + 0.5) * width, kind, count: group.reduce((sum, mark) => sum + mark.count, 0), marks: group };
  });
}

const markLooks: Readonly<Record<Mark['kind'], Look>> = {
  launch: { label: 'launched', tone: 'good', shape: 'rise' },
  end: { label: 'terminated', tone: 'muted', shape: 'fall' },
  failure: { label: 'failed', tone: 'bad', shape: 'cross' },
};

/** The sign of a mark, with what happened as its words. */
export function markLook(mark: Mark): Look {
  const look = markLooks[mark.kind];
  return { ...look, label: `${mark.count} × ${mark.type} ${look.label}` };
}
