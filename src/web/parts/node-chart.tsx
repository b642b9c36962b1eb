import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import type { Mark } from '../../api/types.ts';
import { ownValue } from '../../base/own-value.ts';
import { now } from '../state/clock.ts';
import { connection } from '../state/cluster.ts';
import type { History } from '../state/history.ts';
import { dark } from '../state/preferences.ts';
import { counted } from '../words/amounts.ts';
import { exactTime, tickText } from '../words/time.ts';
import { carriedTo, firstShown, groupMarks, type MarkGroup, markLook, nodeSeries, stacked } from './chart-data.ts';
import { drawMark } from './chart-marks.ts';
import { StateMark } from './icon.tsx';

interface ChartProps {
  readonly history: History;
  /** Node types in the order of the spec. */
  readonly types: readonly string[];
  /** Milliseconds shown, up to now. */
  readonly span: number;
}

interface Pointed {
  readonly index: number;
  readonly left: number;
  readonly marks: readonly Mark[];
}

const height = 232;
const slotWidth = 16;
const colourCount = 8;
const reasonsInTip = 3;
/** How often the right edge moves on while nothing changes. */
const moveEvery = 5000;

/** Nodes by type over time, stacked, with launches, ends and failures marked above; reasons stand in the tip. */
export function NodeChart({ history, types, span }: ChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const groups = useRef<MarkGroup[]>([]);
  const [pointed, setPointed] = useState<Pointed | undefined>(undefined);
  const until = connection.value.kind === 'open' ? Math.floor(now.value / moveEvery) * moveEvery : 0;
  const samples = useMemo(() => carriedTo(history.samples, until), [history, until]);
  const series = useMemo(() => nodeSeries(samples, types), [samples, types]);
  const layerNames = series.layers.map((layer) => layer.type).join('\n');
  const end = samples.at(-1)?.at ?? now.peek();
  const sight: [number, number] = [firstShown(samples, end, span) / 1000, end / 1000];
  const latest = useRef({ history, sight });
  latest.current = { history, sight };

  useEffect(() => {
    const element = holder.current;
    if (element === null) return;
    const style = getComputedStyle(element);
    const colour = (name: string): string => style.getPropertyValue(name).trim();
    const axis = { stroke: colour('--text-2'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } };
    const step = uPlot.paths.stepped?.({ align: 1 });
    const drawn = { width: 1, points: { show: false }, ...(step === undefined ? {} : { paths: step }) };
    const layers = series.layers.map((layer, index) => ({ layer, index })).reverse();
    const chart = new uPlot(
      {
        width: element.clientWidth,
        height,
        padding: [26, 18, 0, 0],
        legend: { show: false },
        cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
        scales: {
          x: { time: true, range: () => latest.current.sight },
          y: { range: (_chart, _min, max) => [0, Math.max(4, Math.ceil((max ?? 0) * 1.08))] },
        },
        axes: [
          {
            ...axis,
            font: `11px ${style.fontFamily}`,
            size: 26,
            grid: { show: false },
            values: (_chart, ticks, _axis, _space, step) => ticks.map((at) => tickText(at, step)),
          },
          {
            ...axis,
            font: `11px ${style.fontFamily}`,
            size: 44,
            incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000],
          },
        ],
        series: [
          {},
          { ...drawn, stroke: colour('--text-2'), dash: [4, 3] },
          ...layers.map(({ index }) => ({
            ...drawn,
            stroke: colour(`--series-${index % colourCount}`),
            fill: colour(`--series-${index % colourCount}-fill`),
          })),
        ],
        bands: layers.slice(1).map((_, index) => ({ series: [index + 2, index + 3] as [number, number] })),
        hooks: {
          draw: [
            (chart) => {
              const ratio = uPlot.pxRatio;
              const place = (at: number): number => chart.valToPos(at / 1000, 'x');
              groups.current = groupMarks(latest.current.history.marks, place, slotWidth).filter(
                (group) => group.x > 0,
              );
              for (const group of groups.current) {
                drawMark(
                  chart.ctx,
                  group,
                  chart.bbox.left + group.x * ratio,
                  chart.bbox.top - 14 * ratio,
                  ratio,
                  colour,
                );
              }
            },
          ],
          setCursor: [
            (moved) => {
              const { idx, left } = moved.cursor;
              if (idx === null || idx === undefined || left === undefined || left < 0) return setPointed(undefined);
              const near = groups.current.filter((group) => Math.abs(group.x - left) <= slotWidth * 0.75);
              setPointed({
                index: idx,
                left: left + moved.over.offsetLeft,
                marks: near.flatMap((group) => group.marks),
              });
            },
          ],
        },
      },
      [[], [], ...layers.map(() => [])],
      element,
    );
    plot.current = chart;
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
      plot.current = undefined;
    };
  }, [layerNames, dark.value]);

  useEffect(() => {
    const edges = stacked(series.layers).reverse();
    plot.current?.setData([[...series.times], [...series.wanted], ...edges]);
  }, [series, span, dark.value]);

  const onKeyDown = (press: KeyboardEvent): void => {
    const chart = plot.current;
    const steps: Readonly<Record<string, number>> = { ArrowLeft: -slotWidth / 2, ArrowRight: slotWidth / 2 };
    const by = ownValue(steps, press.key);
    if (chart === undefined || by === undefined) return;
    press.preventDefault();
    const width = chart.over.clientWidth;
    const from = chart.cursor.left !== undefined && chart.cursor.left >= 0 ? chart.cursor.left : width;
    chart.setCursor({ left: Math.max(1, Math.min(width - 1, from + by)), top: 10 });
  };

  return (
    <figure class="chart">
      <div
        ref={holder}
        class="chart-holder"
        role="group"
        aria-label="Chart of nodes by type over time. Arrow keys move through it."
        tabIndex={0}
        onKeyDown={onKeyDown}
        onBlur={() => plot.current?.setCursor({ left: -10, top: -10 })}
      />
      {pointed !== undefined && <ChartTip pointed={pointed} series={series} at={samples[pointed.index]?.at ?? 0} />}
      <figcaption class="legend">
        {series.layers.map((layer, index) => (
          <span key={layer.type} class="legend-entry">
            <span class={`swatch series-${index % colourCount}`} aria-hidden="true" />
            {layer.type} <b>{layer.counts.at(-1) ?? 0}</b>
          </span>
        ))}
        <span class="legend-entry">
          <span class="swatch swatch-dash" aria-hidden="true" />
          with pending <b>{series.wanted.at(-1) ?? 0}</b>
        </span>
      </figcaption>
    </figure>
  );
}

function ChartTip({ pointed, series, at }: { pointed: Pointed; series: ReturnType<typeof nodeSeries>; at: number }) {
  const { index, left, marks } = pointed;
  const running = series.layers.reduce((sum, layer) => sum + (layer.counts[index] ?? 0), 0);
  const pending = (series.wanted[index] ?? 0) - running;
  return (
    <div class={left > 320 ? 'chart-tip to-left' : 'chart-tip'} style={{ left: `${left}px` }} role="status">
      <p class="tip-time">{exactTime(at)}</p>
      <table>
        <tbody>
          {series.layers
            .map((layer, place) => ({ layer, place }))
            .filter(({ layer }) => (layer.counts[index] ?? 0) > 0)
            .map(({ layer, place }) => (
              <tr key={layer.type}>
                <th scope="row">
                  <span class={`swatch series-${place % colourCount}`} aria-hidden="true" />
                  {layer.type}
                </th>
                <td>{layer.counts[index]}</td>
              </tr>
            ))}
          {pending > 0 && (
            <tr>
              <th scope="row">
                <span class="swatch swatch-dash" aria-hidden="true" />
                pending
              </th>
              <td>{pending}</td>
            </tr>
          )}
        </tbody>
      </table>
      {marks.slice(0, reasonsInTip).map((mark, place) => (
        <div key={place} class="tip-mark">
          <StateMark look={markLook(mark)} />
          <span class="tip-why">{mark.because}</span>
        </div>
      ))}
      {marks.length > reasonsInTip && (
        <p class="tip-more">
          and {counted(marks.length - reasonsInTip, 'more change')} here, in the list below the chart
        </p>
      )}
    </div>
  );
}
