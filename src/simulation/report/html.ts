import type { RunSample } from '../meter.ts';
import { clockText } from './amounts.ts';
import type { ScenarioOutcome, Side } from './outcome.ts';
import { boundText, hasChart, ratioHeadings, rowRatios, rowsOf, unfinishedReasons } from './text.ts';

/** A page that needs nothing else: the figures and a chart for each side, in light and dark. */
export function outcomePage(outcomes: readonly ScenarioOutcome[]): string {
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
.under { padding-left: 1.5rem; } .scroll { overflow-x: auto; }
figure { margin: 0 0 1.5rem; } figcaption span { white-space: nowrap; margin-right: 1em; }
.chart { display: grid; grid-template-columns: auto 1fr auto; gap: 0.25rem 0.5rem; }
.chart div { display: flex; justify-content: space-between; color: var(--soft); font-size: 0.8rem; line-height: 1; }
.chart .scale { flex-direction: column; } .chart .times { grid-column: 2; }
svg { width: 100%; height: 12rem; display: block; }
.busy { fill: var(--busy); } .idle { fill: var(--idle); } .starting { fill: var(--starting); }
.waiting { fill: none; stroke: var(--waiting); stroke-width: 1.5; } .axis { stroke: var(--line); }
.waiting, .axis { vector-effect: non-scaling-stroke; }
.key { display: inline-block; width: 0.8em; height: 0.8em; margin-right: 0.35em; }
`;

function section(outcome: ScenarioOutcome): string {
  const { scenario, seeds, faults, sides } = outcome;
  const compared = sides.length > 1;
  const rows = rowsOf(outcome)
    .map((row) => {
      const cells = sides.map((side) => `<td>${escape(row.show(side))}</td>`).join('');
      const ratios = rowRatios(row, outcome)
        .map((each) => `<td>${escape(each)}</td>`)
        .join('');
      return `<tr><th scope="row"${row.under === true ? ' class="under"' : ''}>${escape(row.name)}</th>${cells}${ratios}</tr>`;
    })
    .join('\n');
  const head = compared
    ? `<thead><tr><th></th>${[...sides.map((side) => side.decider), ...ratioHeadings(outcome)].map((each) => `<th>${escape(each)}</th>`).join('')}</tr></thead>`
    : '';
  const least = boundText(outcome);
  return `<section>
<h2>${escape(scenario.name)}</h2>
<p>${escape(asSentence(scenario.summary))}Seed ${seeds.join(', ')}; faults: ${escape(faults)}.</p>
<div class="scroll"><table>${head}<tbody>
${rows}
</tbody></table></div>
${least === undefined ? '' : `<p>${escape(asSentence(least[0]!.toUpperCase() + least.slice(1)))}</p>`}
${sides
  .filter((side) => side.unfinished > 0)
  .map((side) => unfinished(side, compared))
  .join('\n')}
${sides
  .filter(hasChart)
  .map((side) => chart(side, compared, commonEnd(sides)))
  .join('\n')}
</section>`;
}

const asSentence = (text: string): string => (text === '' ? '' : `${text.replace(/\.?$/, '.')} `);

function unfinished(side: Side, named: boolean): string {
  const items = unfinishedReasons(side).map(({ demand, why }) => {
    const types = why.map((each) => `<li>${escape(each)}</li>`).join('');
    return `<li>${escape(demand)}${types === '' ? '' : `<ul>${types}</ul>`}</li>`;
  });
  return `<h3>Why work was never finished${named ? `, ${escape(side.decider)}` : ''}</h3>\n<ul>${items.join('\n')}</ul>`;
}

const commonEnd = (sides: readonly Side[]): number => Math.max(1, ...sides.map((side) => side.samples.at(-1)?.at ?? 0));

/** The drawing is stretched to the room there is; its labels stand around it and keep their size. */
const frame = { width: 1000, height: 200 };

/** Machines as stacked areas on the left scale, waiting work as a line on the right one. */
function chart(side: Side, named: boolean, end: number): string {
  const { width, height } = frame;
  const machines = (sample: RunSample): number => sample.running + sample.pending;
  const mostMachines = Math.max(1, ...side.samples.map(machines));
  const mostWaiting = Math.max(1, ...side.samples.map((sample) => sample.waiting));
  const point = (sample: RunSample, value: number, most: number): string =>
    `${((sample.at / end) * width).toFixed(1)},${(height - (value / most) * height).toFixed(1)}`;
  const area = (upper: (sample: RunSample) => number, lower: (sample: RunSample) => number): string => {
    const there = side.samples.map((sample) => point(sample, upper(sample), mostMachines));
    const back = side.samples.toReversed().map((sample) => point(sample, lower(sample), mostMachines));
    return `M${[...there, ...back].join('L')}Z`;
  };
  const busy = area(
    (s) => s.busy,
    () => 0,
  );
  const idle = area(
    (s) => s.running,
    (s) => s.busy,
  );
  const starting = area(machines, (s) => s.running);
  const waiting = side.samples.map((sample) => point(sample, sample.waiting, mostWaiting)).join(' ');
  const key = (name: string, text: string): string =>
    `<span><span class="key" style="background:var(--${name})"></span>${text}</span>`;
  return `<figure>
${named ? `<h3>${escape(side.decider)}</h3>` : ''}
<div class="chart">
<div class="scale"><span>${mostMachines}</span><span>0</span></div>
<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="machines and waiting work over time">
<path class="busy" d="${busy}"/>
<path class="idle" d="${idle}"/>
<path class="starting" d="${starting}"/>
<polyline class="waiting" points="${waiting}"/>
<line class="axis" x1="0" y1="${height}" x2="${width}" y2="${height}"/>
</svg>
<div class="scale"><span>${mostWaiting}</span><span>0</span></div>
<div class="times"><span>${clockText(0)}</span><span>${clockText(end)}</span></div>
</div>
<figcaption>${key('busy', 'busy')} ${key('idle', 'idle')} ${key('starting', 'starting (left scale: machines)')}
${key('waiting', 'waiting work (right scale)')}</figcaption>
</figure>`;
}

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
