import type { RunSample } from '../meter.ts';
import { clockText } from './amounts.ts';

const blocks = ' ▁▂▃▄▅▆▇█';

/** Values as columns of blocks, `rows` lines high, the highest value filling all of them. */
export function columns(values: readonly number[], rows: number, most = Math.max(...values, 1)): string[] {
  return Array.from({ length: rows }, (_, row) =>
    values
      .map((value) => {
        const eighths = Math.round((value / most) * rows * 8) - (rows - 1 - row) * 8;
        const shown = value > 0 && row === rows - 1 ? Math.max(1, eighths) : eighths;
        return blocks[Math.max(0, Math.min(8, shown))];
      })
      .join(''),
  );
}

/** As many values as there are columns: each the largest of its stretch of samples, so that no peak is lost. */
export function squeeze(values: readonly number[], width: number): number[] {
  if (values.length <= width) {
    return Array.from({ length: width }, (_, column) => values[Math.floor((column * values.length) / width)] ?? 0);
  }
  return Array.from({ length: width }, (_, column) => {
    const from = Math.floor((column * values.length) / width);
    const to = Math.max(from + 1, Math.floor(((column + 1) * values.length) / width));
    return Math.max(0, ...values.slice(from, to));
  });
}

/** Nodes and waiting work over time, for a terminal `width` columns wide. */
export function drawRun(samples: readonly RunSample[], width: number): string[] {
  const label = 10;
  const room = Math.max(10, width - label);
  const draw = (name: string, pick: (sample: RunSample) => number, rows: number): string[] => {
    const values = squeeze(samples.map(pick), room);
    const most = Math.max(...samples.map(pick), 0);
    return columns(values, rows).map((line, row) => {
      const head = row === 0 ? name : row === 1 ? `  ≤ ${most}` : '';
      return head.padEnd(label) + line;
    });
  };
  const end = clockText(samples.at(-1)?.at ?? 0);
  return [
    ...draw('nodes', (sample) => sample.running, 4),
    ...draw('busy', (sample) => sample.busy, 2),
    ...draw('starting', (sample) => sample.pending, 2),
    ...draw('waiting', (sample) => sample.waiting, 3),
    `${''.padEnd(label)}${clockText(0)}${end.padStart(Math.max(0, room - 8))}`,
  ];
}
