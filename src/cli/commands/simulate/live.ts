import type { Level } from '../../../base/events.ts';
import type { RunSample } from '../../../simulation/meter.ts';
import { clockText, moneyText } from '../../../simulation/report/amounts.ts';
import { columns, squeeze } from '../../../simulation/report/drawing.ts';
import type { Scenario } from '../../../simulation/scenario/scenario.ts';
import type { Io } from '../../command.ts';
import { styleFor } from '../../render/style.ts';

const frameTime = 45;
const newsLines = 5;

/** A run drawn in place while it happens, at a pace that can be watched. */
export class LiveDrawing {
  readonly #io: Io;
  readonly #title: string;
  readonly #samples: RunSample[] = [];
  readonly #news: string[] = [];
  #height = 0;
  #now = 0;

  constructor(scenario: Scenario, io: Io) {
    this.#io = io;
    this.#title = scenario.summary === '' ? scenario.name : scenario.summary;
  }

  happened(text: string, level: Level): void {
    if (level === 'debug') return;
    this.#news.push(`${clockText(this.#now)}  ${text}`);
    if (this.#news.length > newsLines) this.#news.shift();
  }

  async show(sample: RunSample): Promise<void> {
    this.#now = sample.at;
    this.#samples.push(sample);
    this.#draw(sample);
    await new Promise((resolve) => setTimeout(resolve, this.#io.signal.aborted ? 0 : frameTime));
    this.#io.signal.throwIfAborted();
  }

  /** Takes the drawing away: the report follows. */
  end(): void {
    this.#io.out(this.#erase());
    this.#height = 0;
  }

  #draw(now: RunSample): void {
    const { bold, dim, cyan, yellow, green, red } = styleFor(this.#io.color);
    const width = Math.min(this.#io.columns, 110);
    const room = Math.max(10, width - 12);
    const chart = (name: string, values: readonly number[], rows: number, paint: (text: string) => string): string[] =>
      columns(squeeze(values, room), rows).map((line, row) => dim((row === 0 ? name : '').padEnd(10)) + paint(line));
    const pick = (of: (sample: RunSample) => number): number[] => this.#samples.map(of);
    const lines = [
      bold(cut(this.#title, width)),
      `${clockText(now.at)}  ${green(`${now.busy} busy`)}  ${cyan(`${now.running - now.busy} idle`)}  ` +
        `${yellow(`${now.pending} starting`)}  ${red(`${now.waiting} waiting`)}  cost ${moneyText(now.cost)}`,
      '',
      ...chart(
        'nodes',
        pick((sample) => sample.running),
        4,
        green,
      ),
      ...chart(
        'starting',
        pick((sample) => sample.pending),
        2,
        yellow,
      ),
      ...chart(
        'waiting',
        pick((sample) => sample.waiting),
        3,
        red,
      ),
      '',
      ...Array.from({ length: newsLines }, (_, index) => dim(cut(this.#news[index] ?? '', width))),
    ];
    this.#io.out(`${this.#erase()}${lines.join('\n')}\n`);
    this.#height = lines.length;
  }

  #erase(): string {
    return this.#height === 0 ? '' : `\u001b[${this.#height}A\u001b[J`;
  }
}

const cut = (text: string, width: number): string => (text.length <= width ? text : `${text.slice(0, width - 1)}…`);
