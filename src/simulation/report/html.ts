import type { Sample } from '../meter.ts';
import { clockText } from './amounts.ts';
import type { Outcome, Side } from './outcome.ts';
import { rowRatio, rowsOf } from './text.ts';

/** A page that needs nothing else: the figures and a chart for each side, in light and dark. */
export function outcomePage(outcomes: readonly Outcome[]): string {
  const title = outcomes.length === 1 ? `Manta simulation: ${outcomes[0]?.scenario.name}` : 'Manta simulations';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title>
<style>${style}</style>
</head>
<body>
<h1>${escape(title)}</h1>
${outcomes.map(section).join('\n')}
</body>
</html>
`;
}

const style = `
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --line: #d5dae1; --paper: #ffffff;
  --busy: #0b6e99; --idle: #9bc9dd; --starting: #e3b04b; --waiting: #b3362b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #9aa5b3; --line: #343c47; --paper: #14181e;
  --busy: #4fb3dc; --idle: #2b5a70; --starting: #c99a3a; --waiting: #ef7b6f; } }
body { margin: 2rem auto; max-width: 64rem; padding: 0 1rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; } h3 { font-size: 1rem; margin-bottom: 0.25rem; }
p { color: var(--soft); margin: 0.25rem 0 1rem; }
table { border-collapse: collapse; margin-bottom: 1rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.25rem 1rem 0.25rem 0; border-bottom: 1px solid var(--line); text-align: right; font-weight: 400; }
th:first-child { text-align: left; color: var(--soft); } thead th { font-weight: 600; }
svg { width: 100%; height: auto; display: block; } svg text { fill: var(--soft); font: 11px system-ui, sans-serif; }
.busy { fill: var(--busy); } .idle { fill: var(--idle); } .starting { fill: var(--starting); }
.waiting { fill: none; stroke: var(--waiting); stroke-width: 1.5; } .axis { stroke: var(--line); }
.key { display: inline-block; width: 0.8em; height: 0.8em; margin: 0 0.35em 0 1em; }
.key:first-child { margin-left: 0; }
`;

function section(outcome: Outcome): string {
  const { scenario, seeds, faults, sides } = outcome;
  const compared = sides.length > 1;
  const rows = rowsOf(outcome)
    .map((row) => {
      const cells = sides.map((side) => `<td>${escape(row.show(side))}</td>`).join('');
      return `<tr><th scope="row">${escape(row.name.trim())}</th>${cells}${compared ? `<td>${escape(rowRatio(row, outcome))}</td>` : ''}</tr>`;
    })
    .join('\n');
  const head = compared
    ? `<thead><tr><th></th>${sides.map((side) => `<th>${escape(side.decider)}</th>`).join('')}<th>ratio</th></tr></thead>`
    : '';
  return `<section>
<h2>${escape(scenario.name)}</h2>
<p>${escape(scenario.summary)} Seed ${seeds.join(', ')}; faults: ${escape(faults)}.</p>
<table>${head}<tbody>
${rows}
</tbody></table>
${sides.map((side) => chart(side, compared, commonEnd(sides))).join('\n')}
</section>`;
}

const commonEnd = (sides: readonly Side[]): number => Math.max(1, ...sides.map((side) => side.samples.at(-1)?.at ?? 0));

const frame = { width: 960, height: 220, left: 40, right: 44, top: 10, bottom: 24 };

/** Machines as stacked areas on the left scale, waiting work as a line on the right one. */
function chart(side: Side, named: boolean, end: number): string {
  const { width, height, left, right, top, bottom } = frame;
  const machines = (sample: Sample): number => sample.running + sample.pending;
  const mostMachines = Math.max(1, ...side.samples.map(machines));
  const mostWaiting = Math.max(1, ...side.samples.map((sample) => sample.waiting));
  const x = (sample: Sample): number => left + (sample.at / end) * (width - left - right);
  const y = (value: number, most: number): number => height - bottom - (value / most) * (height - top - bottom);
  const path = (upper: (sample: Sample) => number, lower: (sample: Sample) => number): string => {
    const point = (sample: Sample, value: number): string =>
      `${x(sample).toFixed(1)},${y(value, mostMachines).toFixed(1)}`;
    const there = side.samples.map((sample) => point(sample, upper(sample)));
    const back = side.samples.toReversed().map((sample) => point(sample, lower(sample)));
    return `M${[...there, ...back].join('L')}Z`;
  };
  const line = side.samples
    .map((sample) => `${x(sample).toFixed(1)},${y(sample.waiting, mostWaiting).toFixed(1)}`)
    .join(' ');
  const base = height - bottom;
  return `<figure style="margin:0 0 1.5rem">
${named ? `<h3>${escape(side.decider)}</h3>` : ''}
<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="machines and waiting work over time">
<path class="busy" d="${path(
    (s) => s.busy,
    () => 0,
  )}"/>
<path class="idle" d="${path(
    (s) => s.running,
    (s) => s.busy,
  )}"/>
<path class="starting" d="${path(machines, (s) => s.running)}"/>
<polyline class="waiting" points="${line}"/>
<line class="axis" x1="${left}" y1="${base}" x2="${width - right}" y2="${base}"/>
<text x="${left - 6}" y="${top + 10}" text-anchor="end">${mostMachines}</text>
<text x="${left - 6}" y="${base}" text-anchor="end">0</text>
<text x="${width - right + 6}" y="${top + 10}">${mostWaiting}</text>
<text x="${left}" y="${height - 6}">${clockText(0)}</text>
<text x="${width - right}" y="${height - 6}" text-anchor="end">${clockText(end)}</text>
</svg>
<figcaption><span class="key" style="background:var(--busy)"></span>busy
<span class="key" style="background:var(--idle)"></span>idle
<span class="key" style="background:var(--starting)"></span>starting (left scale: machines)
<span class="key" style="background:var(--waiting)"></span>waiting work (right scale)</figcaption>
</figure>`;
}

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
