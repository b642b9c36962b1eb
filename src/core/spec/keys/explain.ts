import type { Key, KeyShape } from './key.ts';
import { isName, segmentsOf } from './key.ts';
import { nearest } from './nearest.ts';

/** The name of a shape in help and docs. */
export const shapeNames: Readonly<Record<KeyShape, string>> = {
  string: 'string',
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
  duration: 'duration',
  any: 'any value',
  map: 'mapping',
  list: 'list',
  commands: 'list of commands',
  texts: 'list of strings',
  section: 'section',
  named: 'mapping by name',
};

export interface Explanation {
  readonly keys: readonly Key[];
  readonly text: string;
}

/** The keys that a user may mean by a path, or by its last part alone; current ones come first. */
export function explainKey(keys: readonly Key[], asked: string): Explanation {
  const wanted = asked.trim();
  const found = keys.filter((key) => key.path === wanted || key.path.endsWith(`.${wanted}`));
  const shown = found.length > 0 ? found : longest(keys.filter((key) => matches(key.path, wanted)));
  const ordered = [...shown].sort((a, b) => rank(a) - rank(b));
  return { keys: ordered, text: ordered.map((key) => textOf(key, keys)).join('\n') };
}

/** Ray's current keys, Manta's own, those of earlier versions. */
const rank = (key: Key): number => (key.legacy !== undefined ? 2 : key.manta ? 1 : 0);

/** The most exact of several keys that fit a path with names in it. */
const longest = (fitting: readonly Key[]): readonly Key[] =>
  [...fitting].sort((a, b) => segmentsOf(b.path).length - segmentsOf(a.path).length).slice(0, 1);

export function listKeys(keys: readonly Key[]): Explanation {
  const width = Math.max(...keys.map((key) => key.path.length));
  return {
    keys,
    text: keys.map((key) => `${key.path.padEnd(width)}  ${markedDoc(key)}\n`).join(''),
  };
}

export function nearestKey(keys: readonly Key[], asked: string): string | undefined {
  const last = asked.slice(asked.lastIndexOf('.') + 1);
  const found =
    nearest(
      asked,
      keys.map((key) => key.path),
    ) ??
    nearest(
      last,
      keys.map((key) => key.path.slice(key.path.lastIndexOf('.') + 1)),
    );
  return found;
}

/** Names of the user's own stand for `<type>` and `<name>`; they may hold dots. */
function matches(path: string, asked: string): boolean {
  const pattern = segmentsOf(path).map((segment) =>
    isName(segment) ? '.+' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'),
  );
  return path.includes('<') && new RegExp(`^${pattern.join('\\.')}$`).test(asked);
}

function textOf(key: Key, keys: readonly Key[]): string {
  const lines: [string, string | undefined][] = [
    [
      'type',
      `${shapeNames[key.shape]}${key.nullable ? ', or empty' : ''}${key.minimum === undefined ? '' : `, ${key.minimum} or more`}${key.choices ? `: ${key.choices.join(', ')}` : ''}`,
    ],
    ['required', key.required ? 'yes' : undefined],
    ['default', key.default],
    ['providers', key.providers?.join(', ')],
    [
      'example',
      key.example === undefined
        ? undefined
        : `${key.path.slice(key.path.lastIndexOf('.') + 1)}: ${JSON.stringify(key.example)}`,
    ],
    ['today', key.legacy],
    ['note', key.manta ? "Manta's own; Ray ignores it" : undefined],
  ];
  const shown = lines.filter((line): line is [string, string] => line[1] !== undefined);
  const facts = shown.map(([name, value]) => `  ${`${name}:`.padEnd(11)}${value}\n`).join('');
  return `${key.path}\n  ${key.doc}\n${facts}${childrenText(key, keys)}`;
}

/** What stands right under a key, and under the names in it, one line each. */
function childrenText({ path }: Key, keys: readonly Key[]): string {
  const rows = keys
    .filter((key) => key.path.startsWith(`${path}.`))
    .map((key) => ({ name: key.path.slice(path.length + 1), text: markedDoc(key) }))
    .filter(({ name }) => segmentsOf(name).slice(0, -1).every(isName));
  if (rows.length === 0) return '';
  const width = Math.max(...rows.map(({ name }) => name.length));
  return `  keys:\n${rows.map(({ name, text }) => `    ${name.padEnd(width)}  ${text}\n`).join('')}`;
}

const markedDoc = (key: Key): string => `${key.legacy === undefined ? '' : '(legacy) '}${key.doc}`;
