import { isatty } from 'node:tty';
import { ownValue } from '../../base/own-value.ts';
import type { HttpClient } from '../../client/http.ts';
import type { JobFacts } from '../../client/jobs.ts';
import type { JobState } from '../../core/jobs/job.ts';
import type { InvocationOf, Io } from '../command.ts';
import { printable } from '../render/renderer.ts';
import type { rayLogOptions } from './cluster-options.ts';

/** What `ray job` prints on standard output, line for line, for scripts that read it. */
export interface RayOutput {
  /** The line that every job command begins with. */
  server(http: HttpClient): Promise<void>;
  line(text: string): void;
  submitted(job: string): void;
  /** Where a job stands, or how it ended. */
  status(job: JobFacts): void;
}

type Level = 'INFO' | 'SUCC' | 'WARN' | 'ERR';

/** Only where a script called Manta by the name of `ray`. */
export function rayOutput({ options }: InvocationOf<typeof rayLogOptions>, io: Io): RayOutput | undefined {
  if (io.asRay !== true) return undefined;
  const { logStyle: style } = options;
  // By Ray's own rule it is standard input that decides.
  const pretty = style === 'pretty' || (style !== 'record' && isatty(0));
  const say = (text: string, level: Level = 'INFO', depth = 0): void => {
    if (pretty) io.out(`${'  '.repeat(depth)}${text}\n`);
    else if (text !== '') io.out(`${timestamp()}\t${level} cli.py:1 -- ${text}\n`);
  };
  const banner = (text: string, level: Level): void => {
    const rule = '-'.repeat(text.length);
    say('');
    for (const line of [rule, text, rule]) say(line, level);
    say('');
  };
  return {
    server: async (http) => say(`Job submission server address: ${(await http.target.place(io.signal)).url}`),
    line: (text) => say(text),
    submitted(job) {
      banner(`Job '${job}' submitted successfully`, 'SUCC');
      say('Next steps');
      for (const [what, verb] of nextSteps) {
        say(`${what}:`, 'INFO', 1);
        say(`ray job ${verb} ${job}`, 'INFO', 2);
      }
      say('');
    },
    status({ id, state, message }) {
      if (state === 'succeeded') return banner(`Job '${id}' succeeded`, 'SUCC');
      if (state === 'stopped') return say(`Job '${id}' was stopped`, 'WARN');
      if (state === 'failed') banner(`Job '${id}' failed`, 'ERR');
      else say(`Status for job '${id}': ${rayState(state)}`);
      if (message !== '') say(`Status message: ${printable(message)}`);
    },
  };
}

const nextSteps = [
  ['Query the logs of the job', 'logs'],
  ['Query the status of the job', 'status'],
  ['Request the job to be stopped', 'stop'],
] as const;

/** Ray knows no more states than these. */
function rayState(state: JobState): string {
  if (state === 'succeeded' || state === 'failed' || state === 'stopped') return state.toUpperCase();
  return state === 'running' || state === 'stopping' ? 'RUNNING' : 'PENDING';
}

/** Ray's exit code of `job submit` is about failure alone. */
export const rayExitCode = (state: JobState): number => (state === 'failed' ? 1 : 0);

/** As Python's logging writes it: local time, a comma before the milliseconds. */
function timestamp(): string {
  const now = new Date();
  const two = (value: number): string => String(value).padStart(2, '0');
  const date = [now.getFullYear(), two(now.getMonth() + 1), two(now.getDate())].join('-');
  const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map(two).join(':');
  return `${date} ${time},${String(now.getMilliseconds()).padStart(3, '0')}`;
}

/** The answer of `/api/jobs/` as `ray job list` prints it: Python's text of a list of JobDetails. */
export function jobDetailsText(jobs: readonly Readonly<Record<string, unknown>>[]): string {
  const one = (job: Readonly<Record<string, unknown>>): string => {
    const fields = Object.entries(job).map(([name, value]) => {
      const kind = ownValue(enumOf, name);
      return `${name}=${kind === undefined || value === null ? pythonText(value) : `<${kind}.${String(value)}: '${String(value)}'>`}`;
    });
    return `JobDetails(${fields.join(', ')})`;
  };
  return `[${jobs.map(one).join(',\n ')}]`;
}

const enumOf: Readonly<Record<string, string>> = { type: 'JobType', status: 'JobStatus' };

/** Python's `repr` of a JSON value. */
function pythonText(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return pythonString(value);
  if (Array.isArray(value)) return `[${value.map(pythonText).join(', ')}]`;
  if (typeof value !== 'object') return String(value);
  return `{${Object.entries(value)
    .map(([name, each]) => `${pythonString(name)}: ${pythonText(each)}`)
    .join(', ')}}`;
}

function pythonString(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' };
  const escaped = Array.from(text, (letter) => {
    if (letter === quote) return `\\${quote}`;
    const code = letter.codePointAt(0)!;
    return (
      ownValue(escapes, letter) ?? (code < 32 || code === 127 ? `\\x${code.toString(16).padStart(2, '0')}` : letter)
    );
  });
  return quote + escaped.join('') + quote;
}
