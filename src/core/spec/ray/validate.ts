import type { Plain, PlainMap } from '../cluster.ts';
import type { Path, Problem } from '../problem.ts';
import { isMap, type Source } from '../source.ts';
import { pythonFacts } from '../yaml/python.ts';
import { LEGACY_HEAD, LEGACY_WORKER } from './legacy.ts';
import { rayProblem, rayProblems } from './problems.ts';
import { configRule, type MapRule, type Rule } from './schema.ts';
import { kindOf } from './truth.ts';

/**
 * Why Ray's `validate_config` refuses a config that `prepareAsRay` made; empty when it accepts it. Positions are those
 * of the file, also for what the preparation moved. On AWS and GCP Ray asks the cloud for missing `resources` before
 * this check; without the cloud they count as missing.
 */
export function validateAsRay(config: PlainMap, source: Source): readonly Problem[] {
  const found = [...check(config, configRule, [])];
  const findings = found.length > 0 ? found : [...checkConsistency(config)];
  return findings
    .map(({ problem, path, message, key, hint }) =>
      rayProblem(source, problem, originOf(path, source.value), message, { hint, key: key === true }),
    )
    .sort((a, b) => a.at.line - b.at.line || a.at.column - b.at.column);
}

interface Finding {
  readonly problem: (typeof rayProblems)[keyof typeof rayProblems];
  readonly path: Path;
  readonly message: string;
  /** The key is wrong, not its value. */
  readonly key?: boolean;
  readonly hint?: string;
}

const expected: Readonly<Record<Rule['kind'], string>> = {
  anything: 'anything',
  text: 'text',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  list: 'a list',
  mapping: 'a mapping',
};

function* check(value: Plain, rule: Rule, path: Path): Iterable<Finding> {
  if (!isOfKind(value, rule)) {
    yield {
      problem: rayProblems.type,
      path,
      message: `${shown(path)} must be ${expected[rule.kind]}, found ${kindOf(value)}`,
      ...commandHint(value, rule),
    };
    return;
  }
  if (rule.kind === 'mapping') yield* checkMap(value as PlainMap, rule, path);
  else if (rule.kind === 'list' && rule.items !== undefined) {
    for (const [index, item] of (value as readonly Plain[]).entries()) yield* check(item, rule.items, [...path, index]);
  } else if (rule.kind === 'text' && rule.oneOf !== undefined && !rule.oneOf.includes(value as string)) {
    yield {
      problem: rayProblems.range,
      path,
      message: `${shown(path)} must be one of ${rule.oneOf.join(', ')}, found ${kindOf(value)}`,
    };
  } else if (
    (rule.kind === 'integer' || rule.kind === 'number') &&
    rule.minimum !== undefined &&
    Number(value) < rule.minimum
  ) {
    yield {
      problem: rayProblems.range,
      path,
      message: `${shown(path)} must be at least ${rule.minimum}, found ${kindOf(value)}`,
    };
  }
}

function isOfKind(value: Plain, rule: Rule): boolean {
  switch (rule.kind) {
    case 'anything':
      return true;
    case 'text':
      return typeof value === 'string' || (rule.nullable === true && value === null);
    case 'boolean':
      return typeof value === 'boolean';
    case 'integer':
      return typeof value === 'bigint' || Number.isInteger(value);
    case 'number':
      return typeof value === 'bigint' || typeof value === 'number';
    case 'list':
      return Array.isArray(value);
    case 'mapping':
      return isMap(value);
  }
}

/** An unquoted command with ': ' in it reads as a mapping. */
function commandHint(value: Plain, rule: Rule): { hint?: string } {
  return rule.kind === 'text' && isMap(value)
    ? { hint: "quote the whole command: it holds ': ', which makes it a mapping" }
    : {};
}

function* checkMap(map: PlainMap, rule: MapRule, path: Path): Iterable<Finding> {
  const { keys = {}, required = [], closed, each, needs } = rule;
  const foreign = pythonFacts(map).keys;
  for (const key of required) {
    if (!Object.hasOwn(map, key))
      yield {
        problem: rayProblems.missing,
        path,
        message: `${shown(path)} has no '${key}'`,
        key: true,
        hint: `add '${key}:'`,
      };
  }
  for (const [key, value] of Object.entries(map)) {
    const known = Object.hasOwn(keys, key) && !foreign.has(key) ? keys[key] : each;
    if (each !== undefined && foreign.has(key)) {
      yield {
        problem: rayProblems.type,
        path: [...path, key],
        message: `the key ${foreign.get(key)} in ${shown(path)} must be text`,
        key: true,
        hint: `quote it: '${key}'`,
      };
    } else if (known !== undefined) {
      yield* check(value, known, [...path, key]);
    } else if (closed) {
      yield {
        problem: rayProblems.key,
        path: [...path, key],
        message: `unknown key '${key}' in ${shown(path)}`,
        key: true,
      };
    }
  }
  if (needs !== undefined && map[needs[0]] === true && !Object.hasOwn(map, needs[1])) {
    yield { problem: rayProblems.missing, path, message: `'${needs[0]}' needs '${needs[1]}'`, key: true };
  }
}

function* checkConsistency(config: PlainMap): Iterable<Finding> {
  if (!Object.hasOwn(config, 'cluster_synced_files')) {
    yield {
      problem: rayProblems.missing,
      path: [],
      message: "there is no 'cluster_synced_files', and the provider has no default for it",
      hint: "add 'cluster_synced_files: []'",
    };
    return;
  }
  if (!Object.hasOwn(config, 'available_node_types')) return;
  const types = config.available_node_types as PlainMap;
  const head = config.head_node_type;
  if (head === undefined) {
    yield {
      problem: rayProblems.head,
      path: ['available_node_types'],
      message: "there is no 'head_node_type'",
      key: true,
      hint: "add 'head_node_type:' with one of the node types",
    };
    return;
  }
  if (!Object.hasOwn(types, String(head))) {
    yield {
      problem: rayProblems.head,
      path: ['head_node_type'],
      message: `'${String(head)}' is not one of the node types`,
      hint: `one of ${Object.keys(types).join(', ')}`,
    };
    return;
  }
  const most = config.max_workers;
  if (most === undefined) {
    yield { problem: rayProblems.missing, path: [], message: "there is no 'max_workers'", hint: "add 'max_workers:'" };
    return;
  }
  const least = Object.values(types).reduce<number>(
    (sum, type) => sum + Number((type as PlainMap).min_workers ?? 0),
    0,
  );
  if (least > Number(most)) {
    yield {
      problem: rayProblems.limits,
      path: ['max_workers'],
      message: `max_workers is ${String(most)}, and the node types ask for at least ${least}`,
      hint: 'raise max_workers or lower min_workers',
    };
  }
}

const shown = (path: Path): string => (path.length === 0 ? 'the file' : `'${path.join('.')}'`);

/** Where a part of a prepared config comes from in the file. */
function originOf(path: Path, file: Plain): Path {
  const [first, second, third, ...rest] = path;
  if (!isMap(file)) return path;
  if ((first === 'head_setup_commands' || first === 'worker_setup_commands') && typeof second === 'number') {
    const shared = Array.isArray(file.setup_commands) ? file.setup_commands.length : 0;
    return second < shared ? ['setup_commands', second] : [first, second - shared];
  }
  if (
    first === 'available_node_types' &&
    (second === LEGACY_HEAD || second === LEGACY_WORKER) &&
    !Object.hasOwn(file, first)
  ) {
    const key = second === LEGACY_HEAD ? 'head_node' : 'worker_nodes';
    if (third === 'node_config') return [key, ...rest];
    return third === undefined ? [key] : [key, third, ...rest];
  }
  return path;
}
