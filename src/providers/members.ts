import type { Plain } from '../core/spec/cluster.ts';
import { nearest } from '../core/spec/keys/nearest.ts';
import type { Path } from '../core/spec/problem.ts';
import { isMap } from '../core/spec/source.ts';

/** What is wrong with one value of a `node_config`. */
export type MemberProblem =
  | { readonly kind: 'unknown'; readonly path: Path; readonly name: string; readonly nearest?: string }
  | { readonly kind: 'type'; readonly path: Path; readonly given: string; readonly wanted: string }
  | { readonly kind: 'missing'; readonly path: Path; readonly name: string };

interface Member {
  /** `string`, `[string]`, `{string}`, `any`, `-` for what the cloud only answers, or the name of a structure. */
  readonly type: string;
  readonly required: boolean;
}

export interface MoreMembers {
  /** What a launch takes beyond the members of a structure. */
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  /** What it sets itself: no file has to have it. */
  readonly set?: ReadonlySet<string>;
  /** Whether the cloud takes one mapping for a list of them, and a list of mappings for one. */
  readonly mendsLists?: boolean;
}

/** Structures of a cloud's API, as `scripts/cloud-models.ts` writes them: what a `node_config` is read by. */
export class MemberTable {
  readonly #table: ReadonlyMap<string, string>;
  readonly #more: MoreMembers;
  readonly #structures = new Map<string, ReadonlyMap<string, Member>>();

  constructor(table: ReadonlyMap<string, string>, more: MoreMembers = {}) {
    this.#table = table;
    this.#more = more;
  }

  membersOf(name: string): ReadonlyMap<string, Member> | undefined {
    const known = this.#structures.get(name);
    const words = this.#table.get(name);
    if (known !== undefined || words === undefined) return known;
    const extra = new Map(Object.entries(this.#more.extra ?? {})).get(name) ?? [];
    const members = [...words.split(' '), ...extra].filter(Boolean).map((word): [string, Member] => {
      const at = word.indexOf(':');
      const member = word.slice(0, at);
      const required = member.endsWith('!');
      return [required ? member.slice(0, -1) : member, { type: word.slice(at + 1), required }];
    });
    const made = new Map(members);
    this.#structures.set(name, made);
    return made;
  }

  /** The value as the cloud wants it; what cannot be is noted and left out. */
  read(value: Plain, type: string, path: Path, problems: MemberProblem[]): unknown {
    const wrong = (wanted: string): undefined => {
      problems.push({ kind: 'type', path, given: describe(value), wanted });
    };
    const inner = type.slice(1, -1);
    if (type.startsWith('[')) {
      const list = this.#more.mendsLists === true && isMap(value) ? [value] : value;
      if (!Array.isArray(list)) return wrong('a list');
      return (list as readonly Plain[])
        .map((each, index) => this.read(each, inner, [...path, index], problems))
        .filter((each) => each !== undefined);
    }
    if (type === 'any') return value;
    // Google takes back what it has answered, and ignores it.
    if (type === '-') return undefined;
    const members = this.membersOf(type);
    if (members === undefined && !type.startsWith('{'))
      return scalarOf(value, type) ?? wrong(scalarNames.get(type) ?? type);
    const map = this.#more.mendsLists === true ? mergedMaps(value) : value;
    if (!isMap(map)) return wrong('a map');
    const given: Record<string, unknown> = {};
    const put = (name: string, each: Plain, as: string): void => {
      if (each === null) return;
      const converted = this.read(each, as, [...path, name], problems);
      if (converted !== undefined) given[name] = converted;
    };
    if (members === undefined) {
      for (const [name, each] of Object.entries(map)) put(name, each, inner);
      return given;
    }
    for (const [name, { required }] of members)
      if (required && !this.#more.set?.has(name) && (!Object.hasOwn(map, name) || map[name] === null))
        problems.push({ kind: 'missing', path, name });
    for (const [name, each] of Object.entries(map)) {
      const member = members.get(name);
      if (member !== undefined) put(name, each, member.type);
      else {
        const meant = nearest(name, [...members.keys()]);
        problems.push({ kind: 'unknown', path: [...path, name], name, ...(meant !== undefined && { nearest: meant }) });
      }
    }
    return given;
  }
}

/** One mapping of a list of them; anything else as it is. */
function mergedMaps(value: Plain): Plain {
  const isList = Array.isArray(value) && value.length > 0 && (value as readonly Plain[]).every(isMap);
  return isList ? (Object.assign({}, ...value) as Plain) : value;
}

const scalarNames: ReadonlyMap<string, string> = new Map([
  ['string', 'a string'],
  ['integer', 'a whole number'],
  ['number', 'a number'],
  ['boolean', 'true or false'],
  ['timestamp', 'a time'],
]);

/** As users of Python clients expect: `MaxPrice: 0.04` is a string, `VolumeSize: "100"` a number. */
function scalarOf(value: Plain, type: string): string | number | boolean | Date | undefined {
  if (value === null || typeof value === 'object') {
    if (!(value instanceof Date)) return undefined;
    return type === 'timestamp' ? value : type === 'string' ? value.toISOString() : undefined;
  }
  switch (type) {
    case 'string':
      return String(value);
    case 'integer':
    case 'number': {
      if (typeof value === 'boolean' || String(value).trim() === '') return undefined;
      const number = Number(value);
      return type === 'number' ? (Number.isNaN(number) ? undefined : number) : wholeOf(number);
    }
    case 'boolean':
      if (typeof value === 'boolean') return value;
      return value === 'true' || value === 'True' ? true : value === 'false' || value === 'False' ? false : undefined;
    case 'timestamp': {
      // A number counts seconds, as it does for boto3.
      const seconds = typeof value === 'boolean' || String(value).trim() === '' ? Number.NaN : Number(value);
      const at = new Date(Number.isNaN(seconds) ? String(value) : seconds * 1000);
      return Number.isNaN(at.getTime()) ? undefined : at;
    }
    default:
      return undefined;
  }
}

const wholeOf = (number: number): number | undefined => (Number.isSafeInteger(number) ? number : undefined);

function describe(value: Plain): string {
  if (Array.isArray(value)) return 'a list';
  if (value === null) return 'nothing';
  return isMap(value) ? 'a map' : `'${String(value)}'`;
}
