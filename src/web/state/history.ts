import { signal } from '@preact/signals';
import type { Mark, SamplePoint } from '../../api/types.ts';
import { api, RequestFailure } from '../api/client.ts';
import { headTime } from './clock.ts';

const minutes = 60_000;

export const ranges = [
  { name: '15m', label: '15 min', length: 15 * minutes },
  { name: '1h', label: '1 h', length: 60 * minutes },
  { name: '6h', label: '6 h', length: 360 * minutes },
  { name: '24h', label: '24 h', length: 1440 * minutes },
] as const;

export type RangeName = (typeof ranges)[number]['name'];

export interface History {
  readonly samples: readonly SamplePoint[];
  readonly marks: readonly Mark[];
}

const pointsAsked = 600;

export const range = signal<RangeName>('1h');
export const history = signal<History | undefined>(undefined);

export function rangeLength(name: RangeName): number {
  return ranges.find((each) => each.name === name)?.length ?? 60 * minutes;
}

let asked = 0;

/** Asks for the chosen range again; an answer that was overtaken by another request is dropped. */
export async function loadHistory(): Promise<void> {
  asked += 1;
  const mine = asked;
  const since = headTime() - rangeLength(range.value);
  try {
    const answer = await api.history(since, pointsAsked);
    if (mine === asked) history.value = answer;
  } catch (problem) {
    if (!(problem instanceof RequestFailure)) throw problem;
  }
}

export function addSample(known: History, sample: SamplePoint, since: number): History {
  const last = known.samples.at(-1);
  if (last !== undefined && sample.at <= last.at) return known;
  return {
    samples: [...known.samples.filter((each) => each.at >= since), sample],
    marks: known.marks.filter((mark) => mark.at >= since),
  };
}

export function takeSample(sample: SamplePoint): void {
  if (history.value !== undefined)
    history.value = addSample(history.value, sample, sample.at - rangeLength(range.value));
}

export function takeMark(mark: Mark): void {
  if (history.value !== undefined) history.value = { ...history.value, marks: [...history.value.marks, mark] };
}
