import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { SubmitBody } from '../../../api/types.ts';
import { clientErrors } from '../../../client/errors.ts';
import { durationOf } from '../../../core/duration.ts';
import type { InvocationOf, Io } from '../../command.ts';
import { cliErrors } from '../../errors.ts';
import { cliEvents } from '../../events.ts';
import { quoted } from '../../quote.ts';
import { instantOf } from '../../shared/times.ts';
import type { jobSubmitOptions } from './declaration.ts';

const command = 'manta job submit';
const badValue = (option: string, value: string, expected: string): Error =>
  cliErrors.BadValue({ command, option: `--${option}`, value: value.slice(0, 200), expected });

type Invocation = InvocationOf<typeof jobSubmitOptions>;
type Options = Invocation['options'];

/** The job that a command line asks for; its runtime environment still names local paths. */
export async function submissionOf(invocation: Invocation, io: Io): Promise<SubmitBody> {
  const { options } = invocation;
  if (options.jobId !== undefined) io.events.emit(cliEvents.jobIdDeprecated, {});
  const runtimeEnv = await runtimeEnvOf(options, io);
  const metadata = jsonOption('metadata-json', options.metadataJson, isTexts, 'a JSON object of strings');
  const labels = jsonOption(
    'entrypoint-label-selector',
    options.entrypointLabelSelector,
    isTexts,
    'a JSON object of strings',
  );
  const resources = resourcesOf(options);
  const gang = slicesOf(options) ?? gangOf(options, resources);
  const retries = retriesOf(options.retries) ?? (options.tpu === undefined ? undefined : { preempted: untilItRuns });
  const timeLimit = when('time-limit', options.timeLimit, (value) => durationOf(value), 'a duration such as 90s or 2h');
  const startAfter = when(
    'start-after',
    options.startAfter,
    (value) => instantOf(value, Date.now(), 1),
    'a duration such as 10m, or a date and time',
  );
  return {
    id: options.submissionId ?? options.jobId ?? newId(),
    entrypoint: entrypointOf(invocation),
    ...(Object.keys(runtimeEnv).length > 0 && { runtime_env: runtimeEnv }),
    ...(metadata !== undefined && { metadata }),
    ...(Object.keys(resources).length > 0 && (gang === undefined || options.tpu !== undefined) && { resources }),
    ...(labels !== undefined && { labels }),
    ...(gang && { gang }),
    ...(options.priority !== undefined && { priority: options.priority }),
    ...(retries && { retries }),
    ...(timeLimit !== undefined && { time_limit_s: timeLimit / 1_000 }),
    ...(startAfter !== undefined && { start_after: startAfter }),
    ...(options.cron !== undefined && { cron: options.cron }),
    ...(options.dependsOn !== undefined && { depends_on: options.dependsOn }),
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

async function runtimeEnvOf(
  { runtimeEnv: file, runtimeEnvJson: json, workingDir }: Options,
  io: Io,
): Promise<Record<string, unknown>> {
  if (file !== undefined && json !== undefined)
    throw clientErrors.BadRuntimeEnv({
      from: '--runtime-env',
      problem: 'cannot be used together with --runtime-env-json',
    });
  const env =
    file !== undefined ? await fromFile(file, io) : json !== undefined ? parseJson('runtime-env-json', json) : {};
  if (!isRecord(env))
    throw clientErrors.BadRuntimeEnv({
      from: file ?? '--runtime-env-json',
      problem: 'a runtime_env must be a mapping',
    });
  if (workingDir === undefined) return env;
  if ('working_dir' in env) io.events.emit(cliEvents.jobWorkingDirOverrides, {});
  return { ...env, working_dir: workingDir };
}

async function fromFile(file: string, io: Io): Promise<unknown> {
  let bytes: Buffer;
  try {
    bytes = readFileSync(resolve(io.cwd, file));
  } catch (error) {
    throw clientErrors.BadRuntimeEnv({ from: file, problem: (error as Error).message }, error);
  }
  const { readYamlBytes } = await import('../../../core/spec/yaml/read.ts');
  const result = readYamlBytes(file, bytes);
  if ('source' in result) return result.source.value ?? {};
  const [first] = result.problems;
  throw clientErrors.BadRuntimeEnv({
    from: `${file}:${first?.at.line}:${first?.at.column}`,
    problem: first?.message ?? '',
  });
}

function resourcesOf(options: Options): Record<string, number> {
  const custom = jsonOption(
    'entrypoint-resources',
    options.entrypointResources,
    isNumbers,
    'a JSON object of numbers, such as {"name": 1}',
  );
  const own: Readonly<Record<string, number | undefined>> = {
    CPU: options.entrypointNumCpus,
    GPU: options.entrypointNumGpus,
    memory: options.entrypointMemory,
  };
  const twice = Object.keys(own).find((name) => custom !== undefined && Object.hasOwn(custom, name));
  if (twice !== undefined)
    throw badValue(
      'entrypoint-resources',
      twice,
      `resources other than CPU, GPU and memory, which have their own options`,
    );
  const given = Object.entries(own).flatMap(([name, amount]) => (amount === undefined ? [] : [[name, amount]]));
  return { ...custom, ...Object.fromEntries(given) };
}

function gangOf({ gang, strategy, bundles: text }: Options, resources: Record<string, number>): SubmitBody['gang'] {
  const bundles = jsonOption('bundles', text, isBundles, 'a JSON list such as [{"CPU": 1}, {"CPU": 1}]');
  const shape = strategy === undefined ? {} : { strategy };
  if (bundles !== undefined) return { bundles, ...shape };
  if (gang === undefined) return undefined;
  if (gang < 1 || gang > 1_000) throw badValue('gang', String(gang), 'a number from 1 to 1000');
  if (Object.keys(resources).length === 0)
    throw cliErrors.OptionNeeded({
      command,
      option: '--gang',
      needed: 'the resources of each member, such as --entrypoint-num-cpus 1',
    });
  return { bundles: Array.from({ length: gang }, () => resources), ...shape };
}

/** How often a job on slices is run again after one was taken away: it did nothing wrong, and it happens to spot slices daily. */
const untilItRuns = 1_000;
const mostSlices = 1_000;

/** A slice is asked for by what its first host alone has. */
function slicesOf({ tpu, slices }: Options): SubmitBody['gang'] {
  if (tpu === undefined) return undefined;
  if (!/^v\d+[a-z]*-\d+$/.test(tpu)) throw badValue('tpu', tpu, 'a TPU type such as v4-64 or v5litepod-16');
  const count = slices ?? 1;
  if (count < 1 || count > mostSlices) throw badValue('slices', String(slices), `a number from 1 to ${mostSlices}`);
  return { bundles: Array.from({ length: count }, () => ({ [`TPU-${tpu}-head`]: 1 })), strategy: 'STRICT_SPREAD' };
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
        throw badValue('retries', text, `a number, or a comma-separated list of ${causes.join('=N, ')}=N`);
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

function jsonOption<Value>(
  name: string,
  text: string | undefined,
  fits: (value: unknown) => value is Value,
  expected: string,
): Value | undefined {
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

const isTexts = (value: unknown): value is Record<string, string> =>
  isRecord(value) && Object.values(value).every((each) => typeof each === 'string');
const isNumbers = (value: unknown): value is Record<string, number> =>
  isRecord(value) && Object.values(value).every((each) => typeof each === 'number');
const isBundles = (value: unknown): value is Record<string, number>[] => Array.isArray(value) && value.every(isNumbers);
