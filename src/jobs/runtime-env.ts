import { ownValue } from '../base/own-value.ts';
import { redactTexts } from '../base/redact.ts';
import type { SetupStep } from '../engines/runner.ts';
import { jobErrors } from './errors.ts';

/** A runtime environment as far as this cluster can give it; URIs are resolved when a job is prepared. */
export interface RuntimeEnv {
  readonly envVars: Readonly<Record<string, string>>;
  readonly workingDir?: string;
  readonly pyModules: readonly string[];
  readonly setup: readonly SetupStep[];
}

/** Keys that change nothing where a job runs. */
const withoutEffect = new Set(['excludes', 'config', '_ray_commit', '_inject_current_ray']);

/** Reads what a job is submitted with; throws Invalid with the field and what is supported for what cannot be given. */
export function readRuntimeEnv(env: Readonly<Record<string, unknown>>): RuntimeEnv {
  const unknown = Object.entries(env).find(
    ([key, value]) => value !== null && !Object.hasOwn(readers, key) && !withoutEffect.has(key),
  );
  if (unknown !== undefined)
    throw fail(
      `['${unknown[0].slice(0, 100)}']`,
      `is not supported by this cluster; supported are ${Object.keys(readers).join(', ')}`,
    );
  const given = (key: string): boolean => (ownValue(env, key) ?? null) !== null;
  if (given('pip') && given('uv')) throw fail('', "names both 'pip' and 'uv', which cannot be used together");
  const excludes = env['excludes'];
  if (given('excludes') && !isTexts(excludes))
    throw fail("['excludes']", `must be a list of strings, not ${typeWords(excludes)}`);
  const workingDir = readers.working_dir(env['working_dir']);
  return {
    envVars: readers.env_vars(env['env_vars']),
    ...(workingDir !== undefined && { workingDir }),
    pyModules: readers.py_modules(env['py_modules']),
    setup: [...readers.pip(env['pip']), ...readers.uv(env['uv'])],
  };
}

/** URIs of packages that the environment refers to. */
export function packageUris(env: Readonly<Record<string, unknown>>): string[] {
  const modules: unknown = env['py_modules'];
  return [env['working_dir'], ...(Array.isArray(modules) ? (modules as unknown[]) : [])].filter(
    (uri): uri is string => typeof uri === 'string' && /^(?:gcs|https):\/\//.test(uri),
  );
}

const fail = (field: string, problem: string): Error => jobErrors.Invalid({ field: `runtime_env${field}`, problem });

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

function typeWords(value: unknown): string {
  if (Array.isArray(value)) return 'a list that holds something else';
  return value !== null && typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

const readers = {
  env_vars(value: unknown): Record<string, string> {
    if (value === undefined || value === null) return {};
    if (!isRecord(value)) throw fail("['env_vars']", `must be of type Dict[str, str], not ${typeWords(value)}`);
    for (const [name, each] of Object.entries(value)) {
      if (typeof each !== 'string')
        throw fail("['env_vars']", `must be of type Dict[str, str], but the value of '${name}' is not a string`);
      if (name === '' || name.includes('=') || name.includes('\0') || each.includes('\0'))
        throw fail("['env_vars']", `names '${name}', which cannot be an environment variable`);
    }
    return value as Record<string, string>;
  },
  working_dir(value: unknown): string | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'string')
      throw fail("['working_dir']", `must be the URI of a package, not ${typeWords(value)}`);
    return uri('working_dir', value, ['.zip']);
  },
  py_modules(value: unknown): string[] {
    if (value === undefined || value === null) return [];
    if (!isTexts(value)) throw fail("['py_modules']", `must be a list of URIs of packages, not ${typeWords(value)}`);
    return value.map((each) => uri('py_modules', each, ['.zip', '.whl']));
  },
  pip: (value: unknown): SetupStep[] => requirements('pip', value),
  uv: (value: unknown): SetupStep[] => requirements('uv', value),
};

function uri(field: string, value: string, endings: readonly string[]): string {
  const shown = value.slice(0, 200);
  if (!/^(?:gcs|https):\/\//.test(value) || !URL.canParse(value)) {
    throw fail(
      `['${field}']`,
      `'${shown}' is not a package on the head (gcs://) and not an https:// archive; a local path is uploaded by the client`,
    );
  }
  const path = value.startsWith('https://') ? new URL(value).pathname : value;
  if (!endings.some((ending) => path.endsWith(ending)))
    throw fail(`['${field}']`, `takes ${endings.join(' and ')} files only, not '${shown}'`);
  return value;
}

/** A list of requirements, or `{packages, …}`; options that would change what is installed are not passed over. */
function requirements(kind: 'pip' | 'uv', value: unknown): SetupStep[] {
  if (value === undefined || value === null) return [];
  const packages = isRecord(value) ? value['packages'] : value;
  if (!isTexts(packages)) {
    throw fail(
      `['${kind}']`,
      `must be a list of requirements, or a dictionary with such a list as 'packages', not ${typeWords(value)}`,
    );
  }
  if (isRecord(value)) {
    const option = Object.entries(value).find(
      ([key, each]) => key !== 'packages' && key !== `${kind}_check` && each !== null && each !== undefined,
    );
    if (option)
      throw fail(
        `['${kind}']['${option[0].slice(0, 100)}']`,
        "is not supported by this cluster; supported is 'packages'",
      );
  }
  return packages.length === 0 ? [] : [{ kind, packages }];
}

const mask = '***';

/** The environment as others see it: the values of `env_vars`, and credentials in URLs, are nobody else's business. */
export function maskRuntimeEnv(env: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { env_vars: vars, ...rest } = env;
  const shown = redactTexts(rest);
  if (vars === undefined) return shown;
  return {
    ...shown,
    env_vars: isRecord(vars) ? Object.fromEntries(Object.keys(vars).map((name) => [name, mask])) : redactTexts(vars),
  };
}
