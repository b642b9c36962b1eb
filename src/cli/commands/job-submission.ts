import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { SubmitBody } from '../../api/types.ts';
import { durationOf } from '../../core/duration.ts';
import { clientErrors } from '../../head/client/errors.ts';
import type { Invocation, Io } from '../command.ts';
import { cliErrors } from '../errors.ts';
import { quoted } from '../quote.ts';
import { jobCommandEvents } from './job-events.ts';
import { instantOf } from './job-times.ts';

const command = 'manta job submit';
const badValue = (option: string, value: string, expected: string): Error =>
  cliErrors.BadValue({ command, option: `--${option}`, value: value.slice(0, 200), expected });

/** The job that a command line asks for; its runtime environment still names local paths. */
export async function submissionOf(invocation: Invocation, io: Io): Promise<SubmitBody> {
  const { options } = invocation;
  const text = (name: string): string | undefined => options[name] as string | undefined;
  const number = (name: string): number | undefined => options[name] as number | undefined;
  if (text('job-id') !== undefined) io.events.emit(jobCommandEvents.jobIdDeprecated, {});
  const runtimeEnv = await runtimeEnvOf(invocation, io);
  const metadata = jsonOption(invocation, 'metadata-json', isRecordOf('string'), 'a JSON object of texts');
  const labels = jsonOption(invocation, 'entrypoint-label-selector', isRecordOf('string'), 'a JSON object of texts');
  const resources = resourcesOf(invocation);
  const gang = gangOf(invocation, resources);
  const retries = retriesOf(text('retries'));
  const timeLimit = when(
    'time-limit',
    text('time-limit'),
    (value) => durationOf(value),
    'a duration such as 90s or 2h',
  );
  const startAfter = when(
    'start-after',
    text('start-after'),
    (value) => instantOf(value, Date.now(), 1),
    'a duration such as 10m, or a date and time',
  );
  return {
    id: text('submission-id') ?? text('job-id') ?? newId(),
    entrypoint: entrypointOf(invocation),
    ...(Object.keys(runtimeEnv).length > 0 && { runtime_env: runtimeEnv }),
    ...(metadata !== undefined && { metadata: metadata as Record<string, string> }),
    ...(Object.keys(resources).length > 0 && gang === undefined && { resources }),
    ...(labels !== undefined && { labels: labels as Record<string, string> }),
    ...(gang && { gang }),
    ...(number('priority') !== undefined && { priority: number('priority')! }),
    ...(retries && { retries }),
    ...(timeLimit !== undefined && { time_limit_s: timeLimit / 1_000 }),
    ...(startAfter !== undefined && { start_after: startAfter }),
    ...(text('cron') !== undefined && { cron: text('cron')! }),
    ...(options['depends-on'] !== undefined && { depends_on: options['depends-on'] as string[] }),
  };
}

/** As Ray joins it (Python's `shlex.join`), but for one word with blanks: nobody means a program of that name. */
function entrypointOf({ args, rest }: Invocation): string {
  const words = [...args, ...rest];
  const [only, more] = words;
  if (only === undefined)
    throw cliErrors.MissingArgument({ command, argument: 'ENTRYPOINT', usage: `${command} [options] -- COMMAND...` });
  if (more === undefined && /\s/.test(only)) return only;
  return words.map(quoted).join(' ');
}

/** Made here, so that a submission whose answer was lost can be repeated without a second job. A name, not a secret. */
function newId(): string {
  const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz123456789';
  return `raysubmit_${Array.from({ length: 16 }, () => letters[Math.floor(Math.random() * letters.length)]).join('')}`;
}

async function runtimeEnvOf({ options }: Invocation, io: Io): Promise<Record<string, unknown>> {
  const file = options['runtime-env'] as string | undefined;
  const json = options['runtime-env-json'] as string | undefined;
  const workingDir = options['working-dir'] as string | undefined;
  if (file !== undefined && json !== undefined)
    throw clientErrors.BadRuntimeEnv({ from: '--runtime-env', problem: 'give it or --runtime-env-json, not both' });
  const env =
    file !== undefined ? await fromFile(file, io) : json !== undefined ? parseJson('runtime-env-json', json) : {};
  if (!isRecord(env))
    throw clientErrors.BadRuntimeEnv({ from: file ?? '--runtime-env-json', problem: 'a runtime_env is a mapping' });
  if (workingDir === undefined) return env;
  if ('working_dir' in env) io.events.emit(jobCommandEvents.workingDirOverrides, {});
  return { ...env, working_dir: workingDir };
}

async function fromFile(file: string, io: Io): Promise<unknown> {
  let bytes: Buffer;
  try {
    bytes = readFileSync(resolve(io.cwd, file));
  } catch (error) {
    throw clientErrors.BadRuntimeEnv({ from: file, problem: (error as Error).message }, error);
  }
  const { readYamlBytes } = await import('../../core/spec/yaml/read.ts');
  const result = readYamlBytes(file, bytes);
  if ('source' in result) return result.source.value ?? {};
  const [first] = result.problems;
  throw clientErrors.BadRuntimeEnv({
    from: `${file}:${first?.at.line}:${first?.at.column}`,
    problem: first?.message ?? '',
  });
}

function resourcesOf(invocation: Invocation): Record<string, number> {
  const custom = jsonOption(
    invocation,
    'entrypoint-resources',
    isRecordOf('number'),
    'a JSON object of numbers, such as {"name": 1}',
  );
  const given: [string, string][] = [
    ['CPU', 'entrypoint-num-cpus'],
    ['GPU', 'entrypoint-num-gpus'],
    ['memory', 'entrypoint-memory'],
  ];
  const own = given.flatMap(([name, option]) => {
    if (custom !== undefined && Object.hasOwn(custom as object, name))
      throw badValue('entrypoint-resources', name, `anything but CPU, GPU and memory, which have options of their own`);
    const amount = invocation.options[option] as number | undefined;
    return amount === undefined ? [] : [[name, amount]];
  });
  return { ...(custom as Record<string, number> | undefined), ...Object.fromEntries(own) };
}

type Strategy = NonNullable<NonNullable<SubmitBody['gang']>['strategy']>;

function gangOf(invocation: Invocation, resources: Record<string, number>): SubmitBody['gang'] {
  const { gang, strategy } = invocation.options as { gang?: number; strategy?: Strategy };
  const isBundles = (value: unknown): boolean => Array.isArray(value) && value.every(isRecordOf('number'));
  const bundles = jsonOption(invocation, 'bundles', isBundles, 'a JSON list such as [{"CPU": 1}, {"CPU": 1}]');
  const shape = strategy === undefined ? {} : { strategy };
  if (bundles !== undefined) return { bundles: bundles as Record<string, number>[], ...shape };
  if (gang === undefined) {
    if (strategy !== undefined)
      throw badValue('strategy', strategy, 'effect on a gang only: give --gang or --bundles too');
    return undefined;
  }
  if (gang < 1 || gang > 1_000) throw badValue('gang', String(gang), 'a number from 1 to 1000');
  if (Object.keys(resources).length === 0)
    throw badValue('gang', String(gang), 'the resources of each member too, such as --entrypoint-num-cpus 1');
  return { bundles: Array.from({ length: gang }, () => resources), ...shape };
}

const causes = ['failed', 'node_lost', 'preempted', 'setup_failed'] as const;

function retriesOf(text: string | undefined): SubmitBody['retries'] {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Object.fromEntries(causes.map((cause) => [cause, Number(text)]));
  return Object.fromEntries(
    text.split(',').map((part) => {
      const [, cause, count] = /^\s*([\w-]+)\s*=\s*(\d+)\s*$/.exec(part) ?? [];
      const known = causes.find((each) => each === cause?.replaceAll('-', '_'));
      if (known === undefined)
        throw badValue('retries', text, `a number, or ${causes.join('=N, ')}=N, parted by commas`);
      return [known, Number(count)];
    }),
  );
}

function when(
  option: string,
  text: string | undefined,
  read: (text: string) => number | undefined,
  expected: string,
): number | undefined {
  if (text === undefined) return undefined;
  const value = read(text);
  if (value === undefined) throw badValue(option, text, expected);
  return value;
}

function jsonOption(
  { options }: Invocation,
  name: string,
  fits: (value: unknown) => boolean,
  expected: string,
): unknown {
  const text = options[name] as string | undefined;
  if (text === undefined) return undefined;
  const value = parseJson(name, text);
  if (!fits(value)) throw badValue(name, text, expected);
  return value;
}

function parseJson(option: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badValue(option, text, `JSON (${(error as Error).message})`);
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isRecordOf =
  (type: 'string' | 'number') =>
  (value: unknown): boolean =>
    isRecord(value) && Object.values(value).every((each) => typeof each === type);
