import type { Mark, SamplePoint } from '../../api/types.ts';
import type { Instant } from '../../base/time/clock.ts';

/** A day in ten-second steps; older points are thinned to one a minute, for a week. */
const fineStep = 10_000;
const coarseStep = 60_000;
const fineKept = 24 * 3_600_000;
export const coarseKept = 7 * 24 * 3_600_000;
const marksKept = 5_000;

/** How the cluster looked over time, for the page. In memory; a start fills it from the journal. */
export class History {
  #points: SamplePoint[] = [];
  #marks: Mark[] = [];

  /** Puts what was before the start in front. Both oldest first. */
  restore(points: readonly SamplePoint[], marks: readonly Mark[], now: Instant): void {
    this.#points = thin([...points, ...this.#points], now);
    this.#marks = [...marks, ...this.#marks].slice(-marksKept);
  }

  /** Takes a point in, unless the last one is younger than a step and shows the same. True when it was kept. */
  add(point: SamplePoint): boolean {
    const last = this.#points.at(-1);
    if (last !== undefined && point.at - last.at < fineStep && sameShape(last, point)) return false;
    this.#points.push(point);
    if (this.#points.length % 512 === 0) this.#points = thin(this.#points, point.at);
    return true;
  }

  mark(mark: Mark): void {
    this.#marks.push(mark);
    if (this.#marks.length > marksKept) this.#marks = this.#marks.slice(-marksKept / 2);
  }

  /** At most `points` samples between two instants, evenly chosen, ends included. */
  between(
    since: Instant,
    until: Instant,
    points: number,
  ): { readonly samples: readonly SamplePoint[]; readonly marks: readonly Mark[] } {
    const inside = this.#points.filter(({ at }) => at >= since && at <= until);
    const step = Math.max(1, Math.ceil(inside.length / Math.max(2, points)));
    return {
      samples: inside.filter((_, index) => index % step === 0 || index === inside.length - 1),
      marks: this.#marks.filter(({ at }) => at >= since && at <= until),
    };
  }
}

function thin(points: readonly SamplePoint[], now: Instant): SamplePoint[] {
  let lastKept = Number.NEGATIVE_INFINITY;
  return points.filter(({ at }) => {
    if (now - at > coarseKept) return false;
    if (now - at > fineKept && at - lastKept < coarseStep) return false;
    lastKept = at;
    return true;
  });
}

function sameShape(a: SamplePoint, b: SamplePoint): boolean {
  const shape = ({ at: _, ...rest }: SamplePoint): string => JSON.stringify(rest);
  return shape(a) === shape(b);
}
