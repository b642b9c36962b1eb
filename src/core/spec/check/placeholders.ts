import type { Plain } from '../cluster.ts';
import type { KeyNode } from '../keys/table.ts';
import type { Path, Position, Problem } from '../problem.ts';
import { pathText, report } from '../problems.ts';
import { isMap, type Source } from '../source.ts';
import { templateProblems as problems } from './template-problems.ts';

/** A whole value that only says what should stand there. */
const wholeValue = [
  /^<{1,3}[^<>\s][^<>]{0,80}>{1,3}$/,
  /^(YOUR|REPLACE|CHANGE|INSERT|ENTER|TYPICALLY|WORKER_NODE_\d)(_[A-Z0-9]+){1,12}$/,
  /^(YOUR|INSERT|REPLACE|CHANGE|ENTER)[- ][A-Za-z -]{2,60}(HERE|here)?$/,
];
/** Marks that never stand in a finished value. */
const marks = [
  /XXX-?CUSTOMIZE[-_]?THIS-?XXX/g,
  /\bX{3}[-_](?!CUSTOMIZE)[A-Z][A-Z-_]{2,40}[-_]X{3}\b/g,
  /<(?:YOUR|your|INSERT|REPLACE)[^<>\n]{1,60}>/g,
];
/** `{{ name }}`, but not the `{{.Field}}`, `{{json .}}` and `{{range …}}` that docker's --format takes in a command. */
const braces =
  /\{\{-?[ \t]{0,8}(?![- \t]{0,8}[.}])(?!(?:json|range|if|end|else|with|index|printf|len|println|join|upper|lower)\b)[^{}\n]{1,120}\}\}/g;
const blocks = /\{%-?[^\n]{0,200}?%\}/g;

/** Any text with a placeholder or a variable in it has one of these. */
const suspicious = /[{<$]|XXX|[A-Z]{4}/;

/** The placeholders in a text, as they stand there. */
function placeholdersIn(text: string): readonly string[] {
  const trimmed = text.trim();
  if (wholeValue.some((form) => form.test(trimmed))) return [trimmed];
  if (!/\{\{|XXX|</.test(text)) return [];
  return [...marks, braces].flatMap((form) => Array.from(text.matchAll(form), (match) => match[0]));
}

export const isPlaceholder = (text: string): boolean => placeholdersIn(text).length > 0;

/** `{name}` where no mapping belongs: YAML reads the placeholder of Python's format as a mapping. */
export function braceIn(value: Plain): string | undefined {
  if (!isMap(value)) return undefined;
  const names = Object.keys(value);
  return names.length === 1 && value[names[0] as string] === null && /^[A-Za-z_]\w*$/.test(names[0] as string)
    ? `{${names[0]}}`
    : undefined;
}

/** A `$NAME` or `${NAME}` that is neither Manta's own `${env:NAME}` nor the `$Latest` of an AWS launch template. */
export function variableIn(text: string): { readonly text: string; readonly name: string } | undefined {
  const match = /\$(?!(?:Latest|Default)$)(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))/.exec(text);
  return match ? { text: match[0], name: (match[1] ?? match[2]) as string } : undefined;
}

/** Placeholders that were not filled in, and shell variables where no shell reads them, each with its position. */
export function checkPlaceholders(source: Source, keyTree: KeyNode): Problem[] {
  const found: Problem[] = [];
  visit(source.value, keyTree, [], false);
  return found;

  function visit(value: Plain, node: KeyNode | undefined, path: Path, shell: boolean): void {
    if (typeof value === 'string') {
      if (!suspicious.test(value)) return;
      const what = pathText(path);
      const left = placeholdersIn(value);
      for (const [placeholder, at] of positionsIn(path, left)) {
        found.push(report(problems.Placeholder, { at, path }, { placeholder: cut(placeholder), what }));
      }
      const variable =
        left.length > 0 || shell || isScript(path) || expectsNoText(node) ? undefined : variableIn(value);
      if (variable) {
        const data = { variable: variable.text, what, name: variable.name };
        found.push(report(problems.Variable, { at: source.at(path), path }, data));
      }
    } else if (Array.isArray(value)) {
      for (const [index, entry] of (value as readonly Plain[]).entries())
        visit(entry, undefined, [...path, index], shell);
    } else if (isMap(value)) {
      const brace = node && /^(string|integer|number|boolean)$/.test(node.key.shape) ? braceIn(value) : undefined;
      if (brace !== undefined) {
        found.push(
          report(problems.Placeholder, { at: source.at(path), path }, { placeholder: brace, what: pathText(path) }),
        );
        return;
      }
      for (const [name, entry] of Object.entries(value)) {
        const child = node?.children.get(name) ?? node?.named;
        const here = [...path, name];
        for (const inKey of placeholdersIn(name)) {
          found.push(
            report(problems.Placeholder, { at: source.keyAt(here), path: here }, { placeholder: cut(inKey), what: '' }),
          );
        }
        visit(entry, child, here, shell || child?.key.shell === true);
      }
    }
  }

  /** Each placeholder with its place in the text of the value, one behind the other. */
  function positionsIn(path: Path, placeholders: readonly string[]): readonly (readonly [string, Position])[] {
    const range = source.rangeOf(path)?.value;
    let from = range?.start ?? 0;
    return placeholders.map((placeholder) => {
      const found = range === undefined ? -1 : source.text.slice(from, range.end).indexOf(placeholder);
      if (found === -1) return [placeholder, source.at(path)];
      const offset = from + found;
      from = offset + placeholder.length;
      return [placeholder, source.positionOf(offset)];
    });
  }
}

/** Texts inside a launch configuration that the machine itself runs. */
const isScript = (path: Path): boolean =>
  path.some((part) =>
    /^(UserData|user-?data|customData|startup-script|command|args|value|metadata)$/i.test(String(part)),
  );

/** A wrong type is reported there, with the same advice. */
const expectsNoText = (node: KeyNode | undefined): boolean =>
  node !== undefined && /^(integer|number|boolean|commands|list|texts|section|named|map)$/.test(node.key.shape);

const cut = (text: string): string => (text.length > 60 ? `${text.slice(0, 57)}…` : text);

/** Marks of a template engine in a text that cannot be read as YAML. Empty: it is not a template. */
function templateMarks(text: string): readonly { readonly text: string; readonly offset: number }[] {
  const found: { text: string; offset: number }[] = [];
  for (const form of [braces, blocks, variables, percentLines]) {
    for (const match of text.matchAll(form)) {
      if (found.length >= mostMarks) break;
      if (form === variables && inCommand(text, match.index)) continue;
      found.push({ text: match[0].trim(), offset: match.index });
    }
  }
  return found.sort((a, b) => a.offset - b.offset);
}

const variables = /\$\{[^}\n]{1,80}\}/g;
const percentLines = /^[ \t]{0,40}%[ \t]?(?:if|for|endif|endfor|else)\b[^\n]{0,200}/gm;
const mostMarks = 2_000;

/** `${X}` on a line of shell is not a mark of a template. */
function inCommand(text: string, offset: number): boolean {
  const line = text.slice(Math.max(text.lastIndexOf('\n', offset - 1) + 1, offset - 200), offset);
  return /^[ \t]*-[ \t]|&&|\|\||;|#|export |echo /.test(line);
}

/** What to say of a text that is a template and not YAML yet; undefined when it is not one. */
export function templateVerdict(
  text: string,
  failure: Problem,
  positionOf: (offset: number) => Position,
): readonly Problem[] | undefined {
  const found = templateMarks(text);
  if (found.length === 0) return undefined;
  const detail = `as YAML: ${failure.message}`;
  return [
    report(problems.Template, { at: failure.at, path: [] }, { count: found.length, detail }),
    ...found.map((mark) =>
      report(
        problems.Placeholder,
        { at: positionOf(mark.offset), path: [] },
        { placeholder: cut(mark.text), what: '', rendered: true },
      ),
    ),
  ];
}
