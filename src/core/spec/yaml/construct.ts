import { ownValue } from '../../../base/own-value.ts';
import type { Plain } from '../cluster.ts';
import { flattenMerges, mergeBudget } from './merge.ts';
import {
  type MappingNode,
  type Node,
  type Pair,
  type ScalarNode,
  type SequenceNode,
  STANDARD,
  type Use,
} from './node.ts';
import { readFloat, readInteger } from './number.ts';
import { YamlError, yamlProblems } from './problems.ts';
import { pythonFloat, setEntry, setPythonFacts } from './python.ts';
import { readTimestamp, Timestamp } from './timestamp.ts';

/** The value of a document and, for each of its mappings, the pair behind each key. */
export interface Constructed {
  readonly value: Plain;
  readonly entries: ReadonlyMap<Node, ReadonlyMap<string, Pair>>;
}

interface Scalar {
  readonly value: Plain;
  /** Read as a float: Python tells it from the integer. */
  readonly float?: boolean;
}

/** The value of a node as PyYAML's SafeConstructor gives it, collections filled in its order: level by level. */
export function construct(root: Node): Constructed {
  return new Constructor().document(root);
}

class Constructor {
  readonly #collections = new Map<Node, Plain>();
  readonly #entries = new Map<Node, Map<string, Pair>>();
  readonly #merges = mergeBudget();
  /** Collections that exist and are still empty. */
  #unfilled: (() => void)[] = [];

  document(root: Node): Constructed {
    const { value } = this.#object(root);
    while (this.#unfilled.length > 0) {
      const fills = this.#unfilled;
      this.#unfilled = [];
      for (const fill of fills) fill();
    }
    return { value, entries: this.#entries };
  }

  #object(node: Node): Scalar {
    const made = this.#collections.get(node);
    if (made !== undefined) return { value: made };
    if (node.tag === `${STANDARD}seq`) return { value: this.#list(node) };
    if (node.tag === `${STANDARD}map`) return { value: this.#map(node) };
    if (node.tag === `${STANDARD}omap` || node.tag === `${STANDARD}pairs`) return { value: this.#pairList(node) };
    return readScalar(node);
  }

  #list(node: Node): Plain {
    const list: Plain[] = [];
    this.#collections.set(node, list);
    this.#unfilled.push(() => this.#fillList(list, expectKind(node, 'sequence').items));
    return list;
  }

  #fillList(list: Plain[], items: readonly Use[]): void {
    const floats = new Set<number>();
    for (const { node } of items) {
      const { value, float } = this.#object(node);
      if (float) floats.add(list.length);
      list.push(value);
    }
    setPythonFacts(list, { floats, keys: new Map() });
  }

  #map(node: Node): Plain {
    const map: Record<string, Plain> = {};
    this.#collections.set(node, map);
    this.#unfilled.push(() => this.#fillMap(map, expectKind(node, 'mapping')));
    return map;
  }

  #fillMap(map: Record<string, Plain>, node: MappingNode): void {
    flattenMerges(node, this.#merges);
    const entries = new Map<string, Pair>();
    const names = new Map<string, string>();
    const keys = new Map<string, string>();
    const floats = new Set<string>();
    for (const pair of node.pairs) {
      const key = this.#key(pair.key);
      const { value, float } = this.#object(pair.value.node);
      // Python keeps the first of several equal keys (`1`, `1.0` and `true` are equal) and the last value.
      const name = names.get(key.identity) ?? key.name;
      names.set(key.identity, name);
      if (key.shown !== undefined && !entries.has(name)) keys.set(name, key.shown);
      if (float) floats.add(name);
      else floats.delete(name);
      setEntry(map, name, value);
      entries.set(name, pair);
    }
    this.#entries.set(node, entries);
    setPythonFacts(map, { floats, keys });
  }

  /** A list of pairs, each a list of two, out of a list of mappings of one pair. */
  #pairList(node: Node): Plain {
    const list: Plain[] = [];
    this.#collections.set(node, list);
    this.#unfilled.push(() => {
      for (const item of expectKind(node, 'sequence').items) {
        const [pair, ...others] = expectKind(item.node, 'mapping').pairs;
        if (pair === undefined || others.length > 0) {
          throw new YamlError(
            yamlProblems.tag,
            item.start,
            'each item of an ordered mapping must have exactly one key',
          );
        }
        const couple: Plain[] = [];
        this.#fillList(couple, [pair.key, pair.value]);
        list.push(couple);
      }
    });
    return list;
  }

  /** The text that stands for a key in JSON, and what makes two keys equal in Python. */
  #key(use: Use): { name: string; identity: string; shown?: string } {
    const { value, float } = this.#object(use.node);
    if (typeof value === 'string') return { name: value, identity: `s${value}` };
    if (value instanceof Timestamp) return { name: value.text, identity: `t${value.text}`, shown: value.text };
    if (typeof value === 'object' && value !== null) {
      throw new YamlError(
        yamlProblems.key,
        use.start,
        `a ${Array.isArray(value) ? 'list' : 'mapping'} cannot be a key`,
      );
    }
    if (value === null) return { name: 'null', identity: 'null', shown: 'None' };
    if (typeof value === 'boolean')
      return { name: String(value), identity: `n${Number(value)}`, shown: value ? 'True' : 'False' };
    const name = float ? pythonFloat(Number(value)) : String(value);
    return { name, identity: `n${value}`, shown: name };
  }
}

function expectKind<K extends 'sequence' | 'mapping'>(
  node: Node,
  kind: K,
): K extends 'sequence' ? SequenceNode : MappingNode {
  if (node.kind !== kind) {
    const shown = node.tag.replace(STANDARD, '!!');
    throw new YamlError(yamlProblems.tag, node.start, `the tag ${shown} needs a ${kind}, found a ${node.kind}`);
  }
  return node as K extends 'sequence' ? SequenceNode : MappingNode;
}

const booleans: Readonly<Record<string, boolean>> = {
  yes: true,
  no: false,
  true: true,
  false: false,
  on: true,
  off: false,
};

function readScalar(node: Node): Scalar {
  const kind = node.tag.startsWith(STANDARD) ? node.tag.slice(STANDARD.length) : undefined;
  const read = kind === undefined ? undefined : ownValue(readers, kind);
  if (read === undefined) throw refuseTag(node);
  return read(scalarOf(node).text, node);
}

const readers: Readonly<Record<string, (text: string, node: Node) => Scalar>> = {
  str: (text) => ({ value: text }),
  null: () => ({ value: null }),
  bool: (text, node) => ({ value: known(ownValue(booleans, text.toLowerCase()), node, text, 'a boolean') }),
  int: (text, node) => ({ value: known(readInteger(text), node, text, 'an integer') }),
  float: (text, node) => ({ value: known(readFloat(text), node, text, 'a number'), float: true }),
  timestamp: (text, node) => ({ value: known(readTimestamp(text), node, text, 'a date') }),
};

function known<T extends Plain>(value: T | undefined, node: Node, text: string, what: string): T {
  if (value !== undefined) return value;
  const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  throw new YamlError(yamlProblems.value, node.start, `cannot read '${shown}' as ${what}`);
}

/** PyYAML lets a mapping with the key `=` stand for the scalar behind it. */
function scalarOf(node: Node): ScalarNode {
  let current: Node | undefined = node;
  for (let hops = 0; current?.kind === 'mapping' && hops < 100; hops += 1) {
    current = current.pairs.find((pair) => pair.key.node.tag === `${STANDARD}value`)?.value.node;
  }
  if (current?.kind === 'scalar') return current;
  throw new YamlError(
    yamlProblems.tag,
    node.start,
    `the tag ${node.tag.replace(STANDARD, '!!')} needs a single value, found a ${node.kind}`,
  );
}

function refuseTag(node: Node): YamlError {
  if (node.tag === `${STANDARD}value`)
    return new YamlError(yamlProblems.value, node.start, "'=' alone is not a value", "quote it: '='");
  if (node.tag === `${STANDARD}merge`) return new YamlError(yamlProblems.merge, node.start, "'<<' can only be a key");
  if (node.tag === `${STANDARD}binary` || node.tag === `${STANDARD}set`) {
    return new YamlError(
      yamlProblems.tag,
      node.start,
      `${node.tag.replace(STANDARD, '!!')} is not allowed in a cluster file: Ray cannot write it as JSON`,
      'use text or a list',
    );
  }
  return new YamlError(yamlProblems.tag, node.start, `unknown tag '${node.tag.replace(STANDARD, '!!')}'`);
}
