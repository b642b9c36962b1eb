import { redactTexts } from '../../base/redact.ts';
import type { Duration } from '../../base/time/clock.ts';
import type { EnvironmentSupport, SetupStep } from '../../engines/runner.ts';
import { jobErrors } from '../errors.ts';
import { archiveEndings, endingOf, moduleEndings, wheelName } from './formats.ts';

/** A runtime environment as far as the engine can give it; URIs are resolved when a job is prepared. */
export interface RuntimeEnv {
  readonly envVars: Readonly<Record<string, string>>;
  readonly workingDir?: string;
  readonly pyModules: readonly string[];
  readonly setup: readonly SetupStep[];
  readonly setupTimeout?: Duration;
  /** What the engine gets as submitted. */
  readonly rest: Readonly<Record<string, unknown>>;
}

/** Keys that change nothing where a job runs. */
const withoutEffect = new Set(['excludes', '_ray_commit', '_ray_release', '_inject_current_ray']);

/** Reads what a job is submitted with; throws Invalid with the field and what is supported for what cannot be given. */
export function readRuntimeEnv(env: Readonly<Record<string, unknown>>, support: EnvironmentSupport): RuntimeEnv {
  const given = new Map(Object.entries(env).filter(([, value]) => value !== null && value !== undefined));
  const rivals = ['pip', 'uv', 'conda'].filter((key) => given.has(key)).map((key) => `'${key}'`);
  if (rivals.length > 1) throw fail('', `names both ${rivals.join(' and ')}, which cannot be used together`);
  const excludes = given.get('excludes');
  if (excludes !== undefined && !isTexts(excludes))
    throw fail("['excludes']", `must be a list of strings, not ${typeWords(excludes)}`);
  if (support !== 'all') refuseOthers(given, support);
  const workingDir = readWorkingDir(given.get('working_dir'), support);
  const setupTimeout = readTimeout(given.get('config'), support);
  const common = {
    envVars: readVariables(given.get('env_vars')),
    ...(workingDir !== undefined && { workingDir }),
    pyModules: readModules(given.get('py_modules'), support),
    ...(setupTimeout !== undefined && { setupTimeout }),
  };
  if (support !== 'all') {
    const steps = (['pip', 'uv'] as const).flatMap((kind) => requirements(kind, given.get(kind)));
    return { ...common, setup: steps, rest: {} };
  }
  for (const key of ['env_vars', 'working_dir', 'py_modules']) given.delete(key);
  return { ...common, setup: [], rest: Object.fromEntries(given) };
}

/** What the engine cannot give is refused by its name, never passed over. */
function refuseOthers(given: ReadonlyMap<string, unknown>, support: ReadonlyMap<string, readonly string[]>): void {
  for (const [key, value] of given) {
    if (withoutEffect.has(key)) continue;
    const options = support.get(key);
    if (options === undefined)
      throw fail(
        `['${key.slice(0, 100)}']`,
        `is not supported by this cluster; supported: ${[...support.keys()].join(', ')}`,
      );
    if (options.length === 0 || !isRecord(value)) continue;
    const other = Object.entries(value).find(
      ([option, each]) => each !== null && each !== undefined && !options.includes(option),
    );
    if (other)
      throw fail(
        `['${key}']['${other[0].slice(0, 100)}']`,
        `is not supported by this cluster; supported: ${options.join(', ')}`,
      );
  }
}

/**
 * Whether the package is made ready on the head, as for every engine; otherwise the engine fetches it. Of archives
 * elsewhere these are the ones that the head can unpack.
 */
export const isFetchedHere = (uri: string): boolean =>
  uri.startsWith('gcs://') || (uri.startsWith('https://') && endingOf(URL.parse(uri)?.pathname ?? '') !== undefined);

/** URIs of packages that the environment refers to. */
export function packageUris(env: Readonly<Record<string, unknown>>): string[] {
  const modules: unknown = env['py_modules'];
  return [env['working_dir'], ...(Array.isArray(modules) ? (modules as unknown[]) : [])].filter(
    (uri): uri is string => typeof uri === 'string' && isFetchedHere(uri),
  );
}

const fail = (field: string, problem: string): Error => jobErrors.Invalid({ field: `runtime_env${field}`, problem });

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

function typeWords(value: unknown): string {
  if (Array.isArray(value)) return 'a list with other values';
  return value !== null && typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function readVariables(value: unknown): Record<string, string> {
  if (value === undefined) return {};
  if (!isRecord(value)) throw fail("['env_vars']", `must be of type Dict[str, str], not ${typeWords(value)}`);
  for (const [name, each] of Object.entries(value)) {
    if (typeof each !== 'string')
      throw fail("['env_vars']", `must be of type Dict[str, str], but the value of '${name}' is not a string`);
    if (name === '' || name.includes('=') || name.includes('\0') || each.includes('\0'))
      throw fail("['env_vars']", `names '${name}', which cannot be an environment variable`);
  }
  return value as Record<string, string>;
}

function readWorkingDir(value: unknown, support: EnvironmentSupport): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw fail("['working_dir']", `must be the URI of a package, not ${typeWords(value)}`);
  return checkUri('working_dir', value, archiveEndings, support);
}

function readModules(value: unknown, support: EnvironmentSupport): string[] {
  if (value === undefined) return [];
  if (!isTexts(value)) throw fail("['py_modules']", `must be a list of URIs of packages, not ${typeWords(value)}`);
  return value.map((each) => checkUri('py_modules', each, moduleEndings, support));
}

function checkUri(field: string, value: string, endings: readonly string[], support: EnvironmentSupport): string {
  const shown = value.slice(0, 200);
  const isUri = /^[a-z][a-z0-9+.-]*:\/\//.test(value) && URL.canParse(value);
  if (isUri && !isFetchedHere(value) && support === 'all') return value;
  if (!isUri || !/^(?:gcs|https):/.test(value))
    throw fail(
      `['${field}']`,
      `'${shown}' is neither a package on the head (gcs://) nor an https:// archive; a local path is uploaded by the client`,
    );
  const path = value.startsWith('https://') ? new URL(value).pathname : value;
  if (!endings.some((ending) => path.endsWith(ending)))
    throw fail(`['${field}']`, `takes ${endings.join(', ')} files only, not '${shown}'`);
  if (path.endsWith('.whl') && value.startsWith('https://') && wheelName(value) === undefined)
    throw fail(
      `['${field}']`,
      `a wheel must have a plain file name of at most 200 characters, unlike that of '${shown}'`,
    );
  return value;
}

/** In Ray's words. */
function readTimeout(config: unknown, support: EnvironmentSupport): Duration | undefined {
  if (config === undefined) return undefined;
  if (!isRecord(config)) throw fail("['config']", `must be of type dict, not ${typeWords(config)}`);
  const seconds = config['setup_timeout_seconds'];
  if (seconds === undefined || seconds === null || seconds === -1) return undefined;
  const field = "['config']['setup_timeout_seconds']";
  if (typeof seconds !== 'number' || !Number.isInteger(seconds))
    throw fail(field, `must be of type int, not ${typeWords(seconds)}`);
  const most = support === 'all' ? Number.POSITIVE_INFINITY : longestTimeout;
  if (seconds <= 0 || seconds > most)
    throw fail(
      field,
      `must be greater than zero,${support === 'all' ? '' : ` at most ${most},`} or equal to -1, not ${seconds}`,
    );
  return seconds * 1_000;
}

/** In seconds, where Manta itself measures it. A timer holds no more milliseconds than this many days. */
const longestTimeout = 24 * 86_400;

/** A list of requirements, or `{packages, …}`. */
function requirements(kind: 'pip' | 'uv', value: unknown): SetupStep[] {
  if (value === undefined) return [];
  const packages = isRecord(value) ? value['packages'] : value;
  if (!isTexts(packages)) {
    throw fail(
      `['${kind}']`,
      `must be a list of requirements, or a dictionary with such a list as 'packages', not ${typeWords(value)}`,
    );
  }
  const check = isRecord(value) ? (value[`${kind}_check`] ?? false) : false;
  if (typeof check !== 'boolean')
    throw fail(`['${kind}']['${kind}_check']`, `must be of type bool, not ${typeWords(check)}`);
  return packages.length === 0 ? [] : [{ kind, packages, ...(check && { check }) }];
}

const mask = '***';

/** Of a longer environment, as JSON, others see names only: to find the credentials in it takes long. */
const longestSeen = 32 << 10;

/** The environment as others see it: the values of `env_vars`, and credentials in URLs, are nobody else's business. */
export function maskRuntimeEnv(env: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { env_vars: vars, ...rest } = env;
  const shown = JSON.stringify(rest).length > longestSeen ? namesOf(rest) : redactTexts(rest);
  if (vars === undefined) return shown;
  return { ...shown, env_vars: isRecord(vars) ? namesOf(vars) : mask };
}

const namesOf = (values: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.keys(values).map((name) => [name, mask]));
