/** Requests of the `ec2` and `query` protocols: a form whose keys are paths, `Filter.1.Value.2=x`. */
import { awsError } from '../errors.ts';
import type { Member, Model, Operation, Shape } from '../models.ts';
import { type Complaints, readScalar } from './values.ts';

interface Node {
  text?: string;
  readonly below: Map<string, Node>;
}

const ec2Complaints: Complaints = {
  unknown: (path) => awsError('UnknownParameter', `The parameter ${path} is not recognized`),
  missing: (path) => awsError('MissingParameter', `The request must contain the parameter ${path}`),
  wrong: (path, value, wanted) =>
    awsError('InvalidParameterValue', `Value (${value}) for parameter ${path} is invalid. It must be ${wanted}.`),
};

const lowered = (path: string): string => path.slice(0, 1).toLowerCase() + path.slice(1);
const validation = (path: string, value: string, constraint: string) =>
  awsError(
    'ValidationError',
    `1 validation error detected: Value ${value} at '${lowered(path)}' failed to satisfy constraint: ${constraint}`,
  );
const queryComplaints: Complaints = {
  unknown: (path) => awsError('ValidationError', `Unknown parameter: ${path}`),
  missing: (path) => validation(path, 'null', 'Member must not be null'),
  wrong: (path, value, wanted) => validation(path, `'${value}'`, `Member must be ${wanted}`),
};

/** The input of an operation, checked by its model. Throws AWS's own words for what is wrong with it. */
export function readQuery(model: Model, operation: Operation, form: URLSearchParams): Record<string, unknown> {
  const root: Node = { below: new Map() };
  for (const [key, value] of form) {
    if (key === 'Action' || key === 'Version') continue;
    let node = root;
    for (const part of key.split('.')) {
      let next = node.below.get(part);
      if (next === undefined) node.below.set(part, (next = { below: new Map() }));
      node = next;
    }
    node.text = value;
  }
  const reader = new QueryReader(model);
  const shape = operation.input ? model.shapes[operation.input.shape]! : { type: 'structure', members: {} };
  return reader.structure(shape, root, '');
}

class QueryReader {
  readonly #model: Model;
  readonly #ec2: boolean;
  readonly #say: Complaints;

  constructor(model: Model) {
    this.#model = model;
    this.#ec2 = model.metadata.protocol === 'ec2';
    this.#say = this.#ec2 ? ec2Complaints : queryComplaints;
  }

  structure(shape: Shape, node: Node, path: string): Record<string, unknown> {
    const read: Record<string, unknown> = {};
    const left = new Set(node.below.keys());
    for (const [name, member] of Object.entries(shape.members ?? {})) {
      const wire = this.#name(name, member);
      const given = node.below.get(wire);
      if (given === undefined) continue;
      left.delete(wire);
      read[name] = this.#value(member, given, join(path, wire));
    }
    for (const name of left) throw this.#say.unknown(join(path, name));
    for (const name of shape.required ?? [])
      if (read[name] === undefined) throw this.#say.missing(join(path, this.#name(name, shape.members![name]!)));
    return read;
  }

  #name(name: string, { queryName, locationName }: Member): string {
    if (!this.#ec2) return locationName ?? name;
    return queryName ?? (locationName ? locationName[0]!.toUpperCase() + locationName.slice(1) : name);
  }

  #value(member: Member, node: Node, path: string): unknown {
    const shape = this.#model.shapes[member.shape]!;
    if (shape.type === 'structure') {
      if (node.text) throw this.#say.wrong(path, node.text, 'a structure');
      return this.structure(shape, node, path);
    }
    if (shape.type === 'list') return this.#list(shape, node, path);
    if (shape.type === 'map') return this.#map(shape, node, path);
    for (const name of node.below.keys()) throw this.#say.unknown(join(path, name));
    return readScalar(member.shape, shape, node.text ?? '', path, this.#say);
  }

  #list(shape: Shape, node: Node, path: string): unknown[] {
    // An empty list is its name and nothing.
    if (node.below.size === 0 && node.text === '') return [];
    if (node.text) throw this.#say.wrong(path, node.text, 'a list');
    const wrapped = !this.#ec2 && !shape.flattened;
    const name = shape.member!.locationName ?? 'member';
    const items = wrapped ? node.below.get(name) : node;
    const at = wrapped ? join(path, name) : path;
    if (items === undefined) throw this.#say.unknown(join(path, [...node.below.keys()][0] ?? ''));
    const read: unknown[] = [];
    for (const [index, item] of items.below) {
      if (!/^[1-9]\d*$/.test(index)) throw this.#say.unknown(join(at, index));
      read[Number(index) - 1] = this.#value(shape.member!, item, join(at, index));
    }
    return read.filter((item) => item !== undefined);
  }

  #map(shape: Shape, node: Node, path: string): Record<string, unknown> {
    const read: Record<string, unknown> = {};
    for (const [, entry] of (shape.flattened ? node : (node.below.get('entry') ?? node)).below) {
      const key = entry.below.get(shape.key!.locationName ?? 'key');
      const value = entry.below.get(shape.value!.locationName ?? 'value');
      if (key && value) read[String(this.#value(shape.key!, key, path))] = this.#value(shape.value!, value, path);
    }
    return read;
  }
}

const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);
