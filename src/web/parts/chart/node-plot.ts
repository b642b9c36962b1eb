import uPlot from 'uplot';
import type { Mark } from '../../../api/types.ts';
import { tickText } from '../../words/time.ts';
import { groupMarks, type MarkGroup } from './chart-data.ts';
import { drawMark } from './chart-marks.ts';

/** Where the reader points: a sample, and the marks near it. */
export interface Pointed {
  readonly index: number;
  readonly left: number;
  readonly marks: readonly Mark[];
}

export interface PlotOptions {
  /** How many types are stacked. */
  readonly layers: number;
  /** Asked at each drawing. */
  readonly marks: () => readonly Mark[];
  /** From and to, in seconds. */
  readonly sight: () => [number, number];
  readonly onPoint: (pointed: Pointed | undefined) => void;
}

export const colourCount = 8;
const height = 232;
const slotWidth = 16;

/** The drawing of a chart of nodes, in an element whose style has its colours. */
export class NodePlot {
  readonly #options: PlotOptions;
  readonly #style: CSSStyleDeclaration;
  readonly #chart: uPlot;
  readonly #observer: ResizeObserver;
  #groups: readonly MarkGroup[] = [];

  constructor(element: HTMLElement, options: PlotOptions) {
    this.#options = options;
    this.#style = getComputedStyle(element);
    const empty = Array.from({ length: options.layers }, () => []);
    this.#chart = new uPlot(this.#plotOptions(element.clientWidth), [[], [], ...empty], element);
    this.#observer = new ResizeObserver(() => this.#chart.setSize({ width: element.clientWidth, height }));
    this.#observer.observe(element);
  }

  /** `edges` from the top of the stack down. */
  show(times: readonly number[], wanted: readonly number[], edges: readonly (readonly number[])[]): void {
    this.#chart.setData([[...times], [...wanted], ...edges.map((edge) => [...edge])]);
  }

  /** Points half a slot further, from the right edge where nothing is pointed at. */
  step(by: -1 | 1): void {
    const { over, cursor } = this.#chart;
    const width = over.clientWidth;
    const from = cursor.left !== undefined && cursor.left >= 0 ? cursor.left : width;
    this.#chart.setCursor({ left: Math.max(1, Math.min(width - 1, from + (by * slotWidth) / 2)), top: 10 });
  }

  pointAway(): void {
    this.#chart.setCursor({ left: -10, top: -10 });
  }

  destroy(): void {
    this.#observer.disconnect();
    this.#chart.destroy();
  }

  #colour(name: string): string {
    return this.#style.getPropertyValue(name).trim();
  }

  #plotOptions(width: number): uPlot.Options {
    const { layers, sight } = this.#options;
    return {
      width,
      height,
      padding: [26, 18, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: {
        x: { time: true, range: sight },
        y: { range: (_chart, _min, max) => [0, Math.max(4, Math.ceil((max ?? 0) * 1.08))] },
      },
      axes: this.#axes(),
      series: this.#series(),
      bands: Array.from({ length: Math.max(0, layers - 1) }, (_, index) => ({ series: [index + 2, index + 3] })),
      hooks: { draw: [(chart) => this.#drawMarks(chart)], setCursor: [(chart) => this.#point(chart)] },
    };
  }

  #axes(): uPlot.Axis[] {
    const grid = { stroke: this.#colour('--line'), width: 1 };
    const font = `11px ${this.#style.fontFamily}`;
    const axis = { stroke: this.#colour('--text-2'), grid, ticks: { show: false }, font };
    return [
      {
        ...axis,
        size: 26,
        grid: { show: false },
        values: (_chart, ticks, _axis, _space, step) => ticks.map((at) => tickText(at, step)),
      },
      { ...axis, size: 44, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000] },
    ];
  }

  #series(): uPlot.Series[] {
    const step = uPlot.paths.stepped?.({ align: 1 });
    const drawn = { width: 1, points: { show: false }, ...(step === undefined ? {} : { paths: step }) };
    const layers = Array.from({ length: this.#options.layers }, (_, index) => index % colourCount).reverse();
    return [
      {},
      { ...drawn, stroke: this.#colour('--text-2'), dash: [4, 3] },
      ...layers.map((colour) => ({
        ...drawn,
        stroke: this.#colour(`--series-${colour}`),
        fill: this.#colour(`--series-${colour}-fill`),
      })),
    ];
  }

  #drawMarks(chart: uPlot): void {
    const ratio = uPlot.pxRatio;
    const { left, top } = chart.bbox;
    const place = (at: number): number => chart.valToPos(at / 1000, 'x');
    this.#groups = groupMarks(this.#options.marks(), place, slotWidth).filter((group) => group.x > 0);
    for (const group of this.#groups)
      drawMark(chart.ctx, group, left + group.x * ratio, top - 14 * ratio, ratio, (name) => this.#colour(name));
  }

  #point({ cursor: { idx, left }, over }: uPlot): void {
    const { onPoint } = this.#options;
    if (idx === null || idx === undefined || left === undefined || left < 0) return onPoint(undefined);
    const near = this.#groups.filter((group) => Math.abs(group.x - left) <= slotWidth * 0.75);
    onPoint({ index: idx, left: left + over.offsetLeft, marks: near.flatMap((group) => group.marks) });
  }
}
