import { ownValue } from '../../../../src/base/own-value.ts';

import type { Plain, PlainMap } from '../../../../src/core/spec/cluster.ts';
import type { Path, Problem } from '../../../../src/core/spec/problem.ts';
import { rayProblem, rayProblems } from '../../../../src/core/spec/ray/problems.ts';
import { kindOf } from '../../../../src/core/spec/ray/truth.ts';
import { isMap, type Source } from '../../../../src/core/spec/source.ts';
import { pythonFacts } from '../../../../src/core/spec/yaml/python.ts';

import { originOf } from './origin.ts';
import { configRule, type MapRule, type Rule } from './schema.ts';

/**
 * Why Ray's `validate_config` refuses a config that `prepareAsRay` made; empty when it accepts it. Positions are those
 * of the file, also for what the preparation moved, and each is named once. On AWS and GCP Ray asks the cloud for
 * missing `resources` before this check; without the cloud they count as missing.
 */
export function validateAsRay(config: PlainMap, source: Source): readonly Problem[] {
  const found = [...check(config, configRule, [])];
  const findings = found.length > 0 ? found : [...checkConsistency(config)];
  const name = (path: Path): string => {
    const origin = originOf(path, source.value);
    return origin.length === 0 ? 'the file' : `'${origin.join('.')}'`;
  };
  const problems = new Map<string, Problem>();
  for (const { problem, path, message, key, hint } of findings) {
    const said = rayProblem(source, problem, originOf(path, source.value), message(name), { hint, key: key === true });
    problems.set(`${said.path.join('\n')}\n${said.message}`, said);
  }
  return [...problems.values()].sort((a, b) => a.at.line - b.at.line || a.at.column - b.at.column);
}

interface Finding {
  readonly problem: (typeof rayProblems)[keyof typeof rayProblems];
  readonly path: Path;
  /** `name` names a part of the config as it stands in the file. */
  readonly message: (name: (path: Path) => string) => string;
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
  const must = (problem: Finding['problem'], what: string): Finding => ({
    problem,
    path,
    message: (name) => `${name(path)} must be ${what}, found ${kindOf(value)}`,
  });
  if (!isOfKind(value, rule)) {
    yield { ...must(rayProblems.type, expected[rule.kind]), ...commandHint(value, rule) };
  } else if (rule.kind === 'mapping') {
    yield* checkMap(value as PlainMap, rule, path);
  } else if (rule.kind === 'list' && rule.items !== undefined) {
    for (const [index, item] of (value as readonly Plain[]).entries()) yield* check(item, rule.items, [...path, index]);
  } else if (rule.kind === 'text' && rule.oneOf !== undefined && !rule.oneOf.includes(value as string)) {
    yield must(rayProblems.range, `one of ${rule.oneOf.join(', ')}`);
  } else if ((rule.kind === 'integer' || rule.kind === 'number') && Number(value) < (rule.minimum ?? -Infinity)) {
    yield must(rayProblems.range, `at least ${rule.minimum}`);
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
  const reads = rule.kind === 'text' && isMap(value);
  return reads ? { hint: "quote the whole value: it holds ': ', which makes it a mapping" } : {};
}

function* checkMap(map: PlainMap, rule: MapRule, path: Path): Iterable<Finding> {
  const { keys = {}, required = [], closed, each, needs } = rule;
  const foreign = pythonFacts(map).keys;
  const missing = (key: string, message: Finding['message']): Finding => ({
    problem: rayProblems.missing,
    path,
    message,
    key: true,
    hint: `add '${key}:'`,
  });
  for (const key of required) {
    if (!Object.hasOwn(map, key)) yield missing(key, (name) => `${name(path)} has no '${key}'`);
  }
  for (const [key, value] of Object.entries(map)) {
    const inner = [...path, key];
    const known = Object.hasOwn(keys, key) && !foreign.has(key) ? keys[key] : each;
    if (each !== undefined && foreign.has(key)) {
      const message: Finding['message'] = (name) => `the key ${foreign.get(key)} in ${name(path)} must be text`;
      yield { problem: rayProblems.type, path: inner, message, key: true, hint: `quote it: '${key}'` };
    } else if (known !== undefined) {
      yield* check(value, known, inner);
    } else if (closed) {
      yield {
        problem: rayProblems.key,
        path: inner,
        message: (name) => `unknown key '${key}' in ${name(path)}`,
        key: true,
      };
    }
  }
  if (needs !== undefined && ownValue(map, needs[0]) === true && !Object.hasOwn(map, needs[1])) {
    yield missing(needs[1], () => `'${needs[0]}' needs '${needs[1]}'`);
  }
}

/** What no schema says; only for configs that keep to it. */
function* checkConsistency(config: PlainMap): Iterable<Finding> {
  const missing = (key: string, hint: string): Finding => ({
    problem: rayProblems.missing,
    path: [],
    message: () => `there is no '${key}', and the provider has no default for it`,
    hint,
  });
  if (!Object.hasOwn(config, 'cluster_synced_files')) {
    yield missing('cluster_synced_files', "add 'cluster_synced_files: []'");
    return;
  }
  if (!Object.hasOwn(config, 'available_node_types')) return;
  const types = config.available_node_types as PlainMap;
  const { head_node_type: head, max_workers: most } = config;
  if (head === undefined) {
    yield missing('head_node_type', "add 'head_node_type:' with one of the node types");
  } else if (!Object.hasOwn(types, String(head))) {
    const message = (): string => `'${String(head)}' is not one of the node types`;
    yield {
      problem: rayProblems.head,
      path: ['head_node_type'],
      message,
      hint: `one of ${Object.keys(types).join(', ')}`,
    };
  } else if (most === undefined) {
    yield missing('max_workers', "add 'max_workers:'");
  } else {
    const least = Object.values(types).reduce<number>(
      (sum, type) => sum + Number((type as PlainMap).min_workers ?? 0),
      0,
    );
    if (least <= Number(most)) return;
    const message = (): string => `max_workers is ${String(most)}, and the node types ask for at least ${least}`;
    yield {
      problem: rayProblems.limits,
      path: ['max_workers'],
      message,
      hint: 'raise max_workers or lower min_workers',
    };
  }
}
