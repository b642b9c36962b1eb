import { ownValue } from '../../../base/own-value.ts';
import { durationPattern } from '../../duration.ts';
import type { Plain, PlainMap } from '../cluster.ts';
import { holdsSecret } from '../keys/key.ts';
import { nearest } from '../keys/nearest.ts';
import type { KeyNode } from '../keys/table.ts';
import type { Path, Problem } from '../problem.ts';
import { adviceLimit, pathText, report } from '../problems.ts';
import { isMap, type Source } from '../source.ts';
import { braceIn, isPlaceholder, variableIn } from './placeholders.ts';
import { structureProblems as problems } from './structure-problems.ts';

/** Everything in a file that is not of the shape the key table asks for. */
export function checkStructure(source: Source, keyTree: KeyNode): Problem[] {
  const found: Problem[] = [];
  if (!isMap(source.value)) {
    found.push(
      report(
        problems.NotAMapping,
        { at: source.at([]), path: [] },
        { got: source.value === null ? 'empty' : kindOf(source.value) },
      ),
    );
    return found;
  }
  checkMap(source.value, keyTree, [], source, found);
  return found;
}

/** Ray drops these when there is nothing in them, whatever kind of nothing it is. */
const droppedWhenEmpty = new Set(['head_node', 'worker_nodes']);
export const isNothing = (value: Plain): boolean => !value || (Array.isArray(value) && value.length === 0);

function checkMap(map: PlainMap, node: KeyNode, path: Path, source: Source, found: Problem[]): void {
  let known: readonly string[] | undefined;
  for (const [name, value] of Object.entries(map)) {
    const child = node.children.get(name) ?? node.named;
    const here = [...path, name];
    if (path.length === 0 && droppedWhenEmpty.has(name) && isNothing(value)) continue;
    if (child) checkValue(value, child, here, source, found);
    else if (!node.key.open && !isPlaceholder(name)) {
      known ??= [...node.children.values()]
        .filter((each) => each.key.legacy === undefined)
        .map((each) => lastOf(each.key.path));
      const data = {
        key: name,
        parent: pathText(path),
        nearest: found.length < adviceLimit ? nearest(name, known) : undefined,
        known,
        section: path.length === 0 ? sectionWith(name, node) : undefined,
      };
      found.push(report(problems.UnknownKey, { at: source.keyAt(here), path: here }, data));
    }
  }
  for (const [name, child] of node.children) {
    if (!child.key.required || Object.hasOwn(map, name)) continue;
    const here = [...path, name];
    found.push(
      report(
        problems.MissingKey,
        { at: source.at(path), path: here },
        { key: pathText(here), example: exampleOf(child) },
      ),
    );
  }
}

/** The section that has a key which stands outside of it. */
function sectionWith(name: string, root: KeyNode): string | undefined {
  return ['provider', 'docker', 'auth'].find((section) => root.children.get(section)?.children.has(name));
}

/** A value of the file and what the key table says of it. */
interface Checked {
  readonly value: Plain;
  readonly node: KeyNode;
  readonly path: Path;
  readonly source: Source;
  readonly found: Problem[];
}

function checkValue(value: Plain, node: KeyNode, path: Path, source: Source, found: Problem[]): void {
  const { key } = node;
  const checked: Checked = { value, node, path, source, found };
  const what = pathText(path);
  if (value === null) {
    checkEmpty(checked);
    return;
  }
  if ((key.shape === 'section' || key.shape === 'named') && isMap(value)) checkMap(value, node, path, source, found);
  else if ((key.shape === 'texts' || key.shape === 'commands') && Array.isArray(value))
    checkEntries(value as readonly Plain[], checked);
  else if (!hasShape[key.shape](value)) addWrongType(checked);
  if (isNumber(value) && key.minimum !== undefined && Number(value) < key.minimum) {
    const spot = { at: source.at(path), path };
    found.push(report(problems.OutOfRange, spot, { what, value: shown(value), minimum: key.minimum }));
  }
  if (key.choices) checkChoices(key.choices, checked);
}

const hasShape: Readonly<Record<KeyNode['key']['shape'], (value: Plain) => boolean>> = {
  section: isMap,
  named: isMap,
  map: isMap,
  list: Array.isArray,
  texts: Array.isArray,
  commands: Array.isArray,
  string: (value) => typeof value === 'string',
  duration: (value) => typeof value === 'string' && new RegExp(durationPattern).test(value),
  boolean: (value) => typeof value === 'boolean',
  integer: (value) => isNumber(value) && Number.isInteger(Number(value)),
  number: (value) => isNumber(value),
  any: () => true,
};

function checkEmpty(checked: Checked): void {
  const { node, path, source, found } = checked;
  const { key } = node;
  if (key.nullable || key.shape === 'any') return;
  const what = pathText(path);
  const empty = ownValue(emptyOf, key.shape);
  if (empty === undefined || key.required) addWrongType(checked);
  else
    found.push(
      report(problems.EmptyValue, { at: source.keyAt(path), path }, { what, write: `${lastOf(what)}: ${empty}` }),
    );
}

function addWrongType({ value, node, path, source, found }: Checked): void {
  if (typeof value === 'string' ? isPlaceholder(value) || value.includes('${env:') : braceIn(value) !== undefined)
    return;
  const what = pathText(path);
  const data = {
    what,
    wanted: wantedOf[node.key.shape],
    got: kindOf(value),
    value: isMap(value) || Array.isArray(value) || holdsSecret(what) ? '' : shown(value),
    advice: adviceFor(value, node, lastOf(what)),
  };
  found.push(report(problems.WrongType, { at: source.at(path), path }, data));
}

/** The entries of a list that holds texts. */
function checkEntries(entries: readonly Plain[], { node, path, source, found }: Checked): void {
  for (const [index, entry] of entries.entries()) {
    if (typeof entry === 'string') continue;
    const here = [...path, index];
    const at = { at: source.at(here), path: here };
    if (node.key.shape === 'commands' && isMap(entry) && Object.keys(entry).length > 0) {
      found.push(report(problems.CommandIsMapping, at, { what: pathText(here), key: Object.keys(entry)[0] as string }));
      continue;
    }
    const holdsMore = isMap(entry) || Array.isArray(entry);
    const data = {
      what: pathText(here),
      wanted: 'a string',
      got: kindOf(entry),
      value: holdsMore ? '' : shown(entry),
      advice: holdsMore || entry === null ? undefined : `quote it: '${shown(entry)}'`,
    };
    found.push(report(problems.WrongType, at, data));
  }
}

function checkChoices(choices: readonly string[], { value, node, path, source, found }: Checked): void {
  const { key } = node;
  const spot = { at: source.at(path), path };
  const what = pathText(path);
  const given = key.shape === 'any' && Array.isArray(value) ? (value as readonly Plain[]) : [value];
  if (given.length === 0) found.push(report(problems.BadChoice, spot, { what, value: 'an empty list', choices }));
  for (const each of given) {
    if (typeof each === 'string' && (choices.includes(each) || isPlaceholder(each))) continue;
    if (typeof each !== 'string' && key.shape !== 'any') continue;
    const near = typeof each === 'string' ? nearest(each, choices) : undefined;
    found.push(report(problems.BadChoice, spot, { what, value: shown(each), choices, nearest: near }));
  }
}

const wantedOf = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  duration: 'a duration with a unit',
  any: 'a value',
  map: 'a mapping',
  list: 'a list',
  commands: 'a list of commands',
  texts: 'a list of strings',
  section: 'a mapping',
  named: 'a mapping of names',
} as const;

const emptyOf: Partial<Record<string, string>> = {
  map: '{}',
  section: '{}',
  named: '{}',
  list: '[]',
  commands: '[]',
  texts: '[]',
};

const isNumber = (value: Plain): value is number | bigint =>
  (typeof value === 'number' && !Number.isNaN(value)) || typeof value === 'bigint';

const lastOf = (path: string): string => path.slice(path.lastIndexOf('.') + 1);

function kindOf(value: Plain): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Date) return 'a date';
  if (typeof value === 'object') return 'a mapping';
  if (typeof value === 'string') return 'the string';
  if (typeof value === 'boolean') return 'the boolean';
  return 'the number';
}

/** A value as a message shows it, cut to a readable length. */
function shown(value: Plain): string {
  if (value === null) return '';
  const text =
    typeof value === 'string' ? `'${value}'` : value instanceof Date ? value.toISOString().slice(0, 10) : String(value);
  const line = text.replace(/\s+/g, ' ');
  return line.length > 60 ? `${line.slice(0, 57)}…` : line;
}

function adviceFor(value: Plain, node: KeyNode, name: string): string | undefined {
  const { shape } = node.key;
  if (typeof value === 'string') {
    const variable = variableIn(value);
    if (variable) return `write \${env:${variable.name}} to read it from the environment or from .env`;
    if ((shape === 'integer' || shape === 'number') && /^[+-]?\d+(\.\d+)?$/.test(value.trim()))
      return `remove the quotes: ${name}: ${value.trim()}`;
    if (shape === 'boolean') return `write true or false without quotes`;
    if (shape === 'commands' || shape === 'texts' || shape === 'list')
      return `write it as a list: put '- ' in front of it`;
  }
  if (shape === 'string' && (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'))
    return `quote it: ${name}: '${shown(value)}'`;
  if (shape === 'string' && Array.isArray(value) && name === 'availability_zone')
    return `write the zones as one comma-separated string`;
  if (shape === 'string' && name === 'head_node_type' && isMap(value))
    return 'use the name of one of available_node_types';
  const example = exampleOf(node);
  return example === undefined ? undefined : `for example ${example}`;
}

function exampleOf(node: KeyNode): string | undefined {
  if (node.key.example === undefined) return undefined;
  return `\`${lastOf(node.key.path)}: ${JSON.stringify(node.key.example)}\``;
}
