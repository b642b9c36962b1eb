import type { JobFacts } from '../../client/jobs.ts';
import type { Io } from '../command.ts';
import { printable } from '../render/renderer.ts';
import { type Paint, styleFor } from '../render/style.ts';
import { ageWords, localTime } from './times.ts';

/** A table of jobs; the last column is cut to the window. */
export function jobTable(jobs: readonly JobFacts[], now: number, io: Io): string {
  const rows = jobs.map((job) => [
    job.id,
    job.state,
    job.user ?? '',
    job.submittedAt === undefined ? '' : ageWords(now - job.submittedAt),
    job.startedAt === undefined ? '' : ageWords((job.endedAt ?? now) - job.startedAt),
    job.exitCode === undefined ? '' : String(job.exitCode),
    printable(job.entrypoint).replaceAll('\n', ' '),
  ]);
  return tableText(['JOB', 'STATE', 'USER', 'AGE', 'RAN', 'EXIT', 'ENTRYPOINT'], rows, io, (row) =>
    stateStyle(row[1] ?? '', io),
  );
}

/** Columns as wide as their cells; on a terminal no line is longer than the window. */
export function tableText(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  io: Io,
  paint: (row: readonly string[]) => Paint = () => (text) => text,
): string {
  const widths = heads.map((head, at) => Math.max(head.length, ...rows.map((row) => (row[at] ?? '').length)));
  const line = (cells: readonly string[]): string => {
    const text = cells
      .map((cell, at) => (at === cells.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd();
    return io.terminal && text.length > io.columns ? `${text.slice(0, io.columns - 1)}…` : text;
  };
  return [styleFor(io.color).bold(line(heads)), ...rows.map((row) => paint(row)(line(row))), ''].join('\n');
}

function stateStyle(state: string, io: Io): Paint {
  const style = styleFor(io.color);
  if (state === 'failed') return style.red;
  if (state === 'running') return style.green;
  return state === 'queued' || state === 'held' || state === 'starting' ? style.yellow : (text) => text;
}

/** Where a job stands: Ray's sentence, then what is known beside it. */
export function jobText(job: JobFacts): string {
  const { id, state, message } = job;
  const sentence =
    state === 'succeeded' || state === 'failed'
      ? `Job '${id}' ${state}`
      : state === 'stopped'
        ? `Job '${id}' was stopped`
        : `Status for job '${id}': ${state}`;
  const facts: [string, string | undefined][] = [
    ['message', printable(message).trimEnd().replaceAll('\n', '\n              ')],
    ['entrypoint', printable(job.entrypoint)],
    ['user', job.user],
    ['priority', job.priority === undefined || job.priority === 0 ? undefined : String(job.priority)],
    ['attempts', job.attempts > 1 ? String(job.attempts) : undefined],
    ['exit code', job.exitCode === undefined ? undefined : String(job.exitCode)],
    ['error type', job.errorType],
    ['node', job.node],
    ['submitted', timeWords(job.submittedAt)],
    ['started', timeWords(job.startedAt)],
    ['ended', timeWords(job.endedAt)],
    ['not before', state === 'held' ? timeWords(job.notBefore) : undefined],
  ];
  const lines = facts.flatMap(([name, value]) => (value ? [`  ${`${name}:`.padEnd(12)}${value}`] : []));
  return `${[sentence, ...lines].join('\n')}\n`;
}

const timeWords = (at: number | undefined): string | undefined => (at === undefined ? undefined : localTime(at));
