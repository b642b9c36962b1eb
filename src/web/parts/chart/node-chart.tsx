import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { now } from '../../state/clock.ts';
import { connection } from '../../state/cluster.ts';
import type { History } from '../../state/history.ts';
import { dark } from '../../state/preferences.ts';
import { counted } from '../../words/amounts.ts';
import { exactTime } from '../../words/time.ts';
import { StateMark } from '../icon.tsx';
import { carriedTo, firstShown, markLook, nodeSeries, stacked } from './chart-data.ts';
import { colourCount, NodePlot, type Pointed } from './node-plot.ts';

interface ChartProps {
  readonly history: History;
  /** Node types in the order of the spec. */
  readonly types: readonly string[];
  /** Milliseconds shown, up to now. */
  readonly span: number;
}

const reasonsInTip = 3;
/** How often the right edge moves on while nothing changes. */
const moveEvery = 5000;

/** Nodes by type over time, stacked, with launches, ends and failures marked above; reasons stand in the tip. */
export function NodeChart({ history, types, span }: ChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<NodePlot | undefined>(undefined);
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
    const made = new NodePlot(element, {
      layers: series.layers.length,
      marks: () => latest.current.history.marks,
      sight: () => latest.current.sight,
      onPoint: setPointed,
    });
    plot.current = made;
    return () => {
      made.destroy();
      plot.current = undefined;
    };
  }, [layerNames, dark.value]);

  useEffect(() => {
    plot.current?.show(series.times, series.wanted, stacked(series.layers).reverse());
  }, [series, span, dark.value]);

  const onKeyDown = (press: KeyboardEvent): void => {
    const by = press.key === 'ArrowLeft' ? -1 : press.key === 'ArrowRight' ? 1 : undefined;
    if (plot.current === undefined || by === undefined) return;
    press.preventDefault();
    plot.current.step(by);
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
        onBlur={() => plot.current?.pointAway()}
      />
      {pointed !== undefined && <ChartTip pointed={pointed} series={series} at={samples[pointed.index]?.at ?? 0} />}
      <Legend series={series} />
    </figure>
  );
}

function Legend({ series }: { series: ReturnType<typeof nodeSeries> }) {
  return (
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
