import { isSecretName } from '../../base/redact.ts';
import type { Finding } from '../finding.ts';
import { dig, entriesAt, isMap, type Json, type JsonMap, listAt, numberAt, textAt } from '../kube/object.ts';
import type { Path, Position } from '../spec/problem.ts';
import { asKubectl } from '../spec/yaml/go.ts';
import { readYaml } from '../spec/yaml/read.ts';
import type { SchemaProblem } from './fields.ts';
import { appName } from './progress.ts';
import { schemaProblems } from './schema.ts';

/** Serve's config as it is sent, and where its values stand. */
export interface ServeConfig {
  readonly value: JsonMap;
  readonly applications: readonly Json[];
}

export interface ReadConfig {
  readonly config: ServeConfig | undefined;
  readonly findings: readonly Finding[];
}

/** Who reads the text: `serve` and Ray read files as Python does, KubeRay reads `serveConfigV2` as Go does. */
export type Reader = 'python' | 'operator';

interface Place {
  readonly file: string;
  /** Where a position of the text is in the file. @default the same */
  readonly within?: (at: Position) => Position;
}

/** Reads a config and judges it as Serve does, with warnings of what it takes and nobody means. */
export function readServeConfig(text: string, reader: Reader, { file, within = (at) => at }: Place): ReadConfig {
  const read = readYaml(file, text, reader === 'operator' ? asKubectl : undefined);
  const finding = (severity: Finding['severity'], at: Position, says: string, next: string): Finding => ({
    severity,
    file,
    at: within(at),
    says,
    next,
  });
  if ('problems' in read)
    return {
      config: undefined,
      findings: read.problems.map(({ at, message, hint = '' }) => finding('error', at, message, hint)),
    };
  const value = read.source.value as Json;
  const refused = shapeProblem(value);
  const problems = refused === undefined ? [...schemaProblems(value), ...ruleProblems(value)] : [refused];
  const findings = problems.map(({ severity, path, says, next }) =>
    finding(severity, read.source.at(path), says, next),
  );
  const isUsable = isMap(value) && !findings.some(({ severity }) => severity === 'error');
  return { config: isUsable ? { value, applications: listAt(value, 'applications') } : undefined, findings };
}

const problem = (severity: SchemaProblem['severity'], path: Path, says: string, next: string): SchemaProblem => ({
  severity,
  path,
  says,
  next,
});

/** Files of other eras and of other tools. */
function shapeProblem(value: Json): SchemaProblem | undefined {
  if (!isMap(value))
    return problem('error', [], 'this is not a Serve config', 'a config has applications: with one entry for each');
  if (dig(value, 'applications') !== undefined) return undefined;
  if (dig(value, 'import_path') !== undefined)
    return problem(
      'error',
      ['import_path'],
      'this file is for a single application, which Serve no longer takes',
      'put it under applications: as the one entry of the list, and host and port under http_options:',
    );
  if (textAt(value, 'kind') === 'RayService')
    return problem('error', ['kind'], 'this is a RayService, not a Serve config', "apply it with 'manta kube apply'");
  return problem('error', [], 'applications is missing', 'add applications: with one entry for each application');
}

/** Rules of `ServeDeploySchema` that concern more than one value, and what it takes although nobody means it. */
function ruleProblems(value: Json): readonly SchemaProblem[] {
  const applications = listAt(value, 'applications').filter(isMap);
  return [
    ...sameTwice(applications, 'name', (app) => appName(app)),
    ...sameTwice(applications, 'route_prefix', (app) => routeOf(app) ?? undefined),
    ...applications.flatMap((app, at) => applicationProblems(app, ['applications', at])),
    ...sslProblems(value),
  ];
}

/** Null: not reachable from outside. */
function routeOf(app: Json): string | null {
  const route = dig(app, 'route_prefix');
  if (route === null) return null;
  return typeof route === 'string' ? route : '/';
}

function sameTwice(
  applications: readonly Json[],
  key: string,
  read: (app: Json) => string | undefined,
): readonly SchemaProblem[] {
  const first = new Map<string, number>();
  return applications.flatMap((app, at) => {
    const value = read(app);
    if (value === undefined) return [];
    if (!first.has(value)) {
      first.set(value, at);
      return [];
    }
    const other = appName(applications[first.get(value)!]!);
    const what = key === 'name' ? `two applications have the name '${value}'` : `'${other}' has the route ${value} too`;
    return [problem('error', ['applications', at, key], what, `give each application a ${key} of its own`)];
  });
}

function applicationProblems(app: Json, path: Path): readonly SchemaProblem[] {
  const deployments = listAt(app, 'deployments').filter(isMap);
  const scaled = deployments.filter(
    (each) => dig(each, 'num_replicas') === 'auto' || isMap(dig(each, 'autoscaling_config')),
  );
  return [
    ...(textAt(app, 'name') === ''
      ? [problem('error', [...path, 'name'], 'the name of an application is empty', 'give it one')]
      : []),
    ...['host', 'port']
      .filter((key) => dig(app, key) !== undefined)
      .map((key) =>
        problem('error', [...path, key], `${key} cannot be set for one application`, `move it to http_options.${key}`),
      ),
    ...importProblems(app, path),
    ...routeProblems(app, path),
    ...(dig(app, 'external_scaler_enabled') === true && scaled.length > 0
      ? [
          problem(
            'error',
            [...path, 'external_scaler_enabled'],
            `external_scaler_enabled and autoscaling of '${textAt(scaled[0], 'name') ?? ''}' exclude each other`,
            'remove one of them',
          ),
        ]
      : []),
    ...deployments.flatMap((each, at) => deploymentProblems(each, [...path, 'deployments', at])),
    ...secretProblems(app, path),
  ];
}

function importProblems(app: Json, path: Path): readonly SchemaProblem[] {
  const value = textAt(app, 'import_path');
  if (value === undefined) return [];
  const separator = value.includes(':') ? ':' : '.';
  const parts = value.split(separator);
  const isFine = (separator === ':' ? parts.length === 2 : parts.length >= 2) && parts[0] !== '' && parts.at(-1) !== '';
  return isFine || isDotted(value, separator)
    ? []
    : [
        problem(
          'error',
          [...path, 'import_path'],
          `'${value}' does not say where the application is`,
          'write module.submodule:application',
        ),
      ];
}

/** Serve looks at the last dot alone. */
const isDotted = (value: string, separator: string): boolean =>
  separator === '.' && value.includes('.') && value.lastIndexOf('.') > 0 && !value.endsWith('.');

/** Serve takes any text here, and then fails to deploy the application. */
function routeProblems(app: Json, path: Path): readonly SchemaProblem[] {
  const route = textAt(app, 'route_prefix');
  if (route === undefined) return [];
  const next = "write it as '/name', without a slash at its end";
  const where = [...path, 'route_prefix'];
  if (!route.startsWith('/'))
    return [problem('warning', where, `the route '${route}' does not start with a slash`, next)];
  if (route.length > 1 && route.endsWith('/'))
    return [problem('warning', where, `the route '${route}' ends with a slash`, next)];
  return /[{}]/.test(route)
    ? [problem('warning', where, `the route '${route}' has braces, which Serve refuses`, next)]
    : [];
}

function deploymentProblems(deployment: Json, path: Path): readonly SchemaProblem[] {
  const at = (key: string): Path => [...path, key];
  const has = (key: string): boolean => (dig(deployment, key) ?? null) !== null;
  const exclude = (a: string, b: string): readonly SchemaProblem[] =>
    has(a) && has(b) ? [problem('error', at(a), `${a} and ${b} exclude each other`, 'remove one of them')] : [];
  const fixed = typeof dig(deployment, 'num_replicas') === 'number';
  return [
    ...(fixed && has('autoscaling_config')
      ? [
          problem(
            'error',
            at('num_replicas'),
            'num_replicas and autoscaling_config exclude each other',
            "remove num_replicas, or write 'auto'",
          ),
        ]
      : []),
    ...exclude('max_replicas_per_node', 'placement_group_bundles'),
    ...exclude('max_replicas_per_node', 'gang_scheduling_config'),
    ...exclude('placement_group_strategy', 'gang_scheduling_config'),
    ...bundleProblems(deployment, at),
    ...gangProblems(deployment, at),
    ...scalingProblems(deployment, at),
  ];
}

function bundleProblems(deployment: Json, at: (key: string) => Path): readonly SchemaProblem[] {
  const selectors = dig(deployment, 'placement_group_bundle_label_selector');
  if (!Array.isArray(selectors)) return [];
  const bundles = listAt(deployment, 'placement_group_bundles').length;
  const key = 'placement_group_bundle_label_selector';
  if (dig(deployment, 'placement_group_bundles') === undefined)
    return [problem('error', at(key), `${key} needs placement_group_bundles`, 'add them, or remove the selectors')];
  return selectors.length === 1 || selectors.length === bundles
    ? []
    : [
        problem(
          'error',
          at(key),
          `${selectors.length} selectors for ${bundles} bundles`,
          'write one selector, or one for each bundle',
        ),
      ];
}

function gangProblems(deployment: Json, at: (key: string) => Path): readonly SchemaProblem[] {
  const size = numberAt(deployment, 'gang_scheduling_config', 'gang_size');
  if (size === undefined || size < 1) return [];
  const replicas = numberAt(deployment, 'num_replicas');
  const next = `use a multiple of ${size}`;
  if (replicas !== undefined && replicas % size !== 0)
    return [problem('error', at('num_replicas'), `${replicas} replicas cannot be made of gangs of ${size}`, next)];
  if (dig(deployment, 'num_replicas') !== 'auto') return [];
  return ['min_replicas', 'max_replicas', 'initial_replicas']
    .filter((key) => (numberAt(deployment, 'autoscaling_config', key) ?? 0) % size !== 0)
    .map((key) =>
      problem('error', [...at('autoscaling_config'), key], `${key} cannot be made of gangs of ${size}`, next),
    );
}

/** Serve looks at these only when it deploys. */
function scalingProblems(deployment: Json, at: (key: string) => Path): readonly SchemaProblem[] {
  const [least, most] = ['min_replicas', 'max_replicas'].map((key) => numberAt(deployment, 'autoscaling_config', key));
  if (least === undefined || most === undefined || least <= most) return [];
  const says = `min_replicas ${least} is more than max_replicas ${most}: the application will not deploy`;
  return [problem('warning', [...at('autoscaling_config'), 'min_replicas'], says, 'swap them')];
}

/** What stands in a config is shown by Serve's page and API, and kept in clear text. */
function secretProblems(app: Json, path: Path): readonly SchemaProblem[] {
  return entriesAt(app, 'runtime_env', 'env_vars')
    .filter(([name, value]) => typeof value === 'string' && (isSecretName(name) || /"?password"?\s*[:=]/i.test(value)))
    .map(([name]) =>
      problem(
        'warning',
        [...path, 'runtime_env', 'env_vars', name],
        `${name} holds a secret in clear text, which everyone who may read the config sees`,
        'put it into a Secret, and into env of the pod template with valueFrom.secretKeyRef: replicas inherit it',
      ),
    );
}

function sslProblems(value: Json): readonly SchemaProblem[] {
  const has = (key: string): boolean => (textAt(value, 'http_options', key) ?? '') !== '';
  if (!has('ssl_certfile') || has('ssl_keyfile')) return [];
  return [problem('error', ['http_options', 'ssl_certfile'], 'ssl_certfile needs ssl_keyfile', 'set both')];
}
