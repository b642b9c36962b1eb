import { ownValue } from '../../base/own-value.ts';
import { templateProblems as problems } from './check/template-problems.ts';
import type { Plain, PlainMap } from './cluster.ts';
import { type KeyNode, keyFor } from './keys/table.ts';
import type { Path, Problem } from './problem.ts';
import { pathText, report } from './problems.ts';
import { isMap, type Source } from './source.ts';

/** Values by name: what `${env:NAME}` in a file stands for. */
export type Environment = Readonly<Record<string, string | undefined>>;

const reference = /\$\{env:([^}\n]{0,200})\}/g;
const name = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The file with every `${env:NAME}` filled in, and a problem for each one that is unset. */
export function fillEnvironment(
  source: Source,
  env: Environment,
  keyTree: KeyNode,
): { readonly source: Source; readonly problems: readonly Problem[] } {
  if (!source.text.includes('${env:')) return { source, problems: [] };
  const found: Problem[] = [];
  const value = fill(source.value, []);
  return { source: { ...source, value }, problems: found };

  function fill(value: Plain, path: Path): Plain {
    if (typeof value === 'string') return fillText(value, path);
    if (Array.isArray(value)) return (value as readonly Plain[]).map((entry, index) => fill(entry, [...path, index]));
    if (isMap(value)) return mapValues(value, (entry, key) => fill(entry, [...path, key]));
    return value;
  }

  function fillText(text: string, path: Path): Plain {
    const spot = { at: source.at(path), path };
    let whole = false;
    const filled = text.replace(reference, (match: string, inside: string) => {
      if (!name.test(inside)) {
        found.push(report(problems.EnvSyntax, spot, { text: match, what: pathText(path) }));
        return match;
      }
      const given = ownValue(env, inside);
      if (given === undefined) {
        found.push(report(problems.EnvUnset, spot, { name: inside, what: pathText(path) }));
        return match;
      }
      whole = match === text;
      return given;
    });
    return whole && !isQuoted(path) && keyFor(keyTree, path)?.shape !== 'string' ? scalar(filled) : filled;
  }

  function isQuoted(path: Path): boolean {
    const place = source.rangeOf(path);
    return place !== undefined && /['"|>]/.test(source.text[place.value.start] ?? '');
  }
}

/** Numbers and booleans as YAML reads them where nothing quotes them. */
function scalar(text: string): Plain {
  if (/^[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?$/.test(text)) return Number(text);
  if (/^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  return text;
}

const mapValues = (map: PlainMap, change: (value: Plain, key: string) => Plain): PlainMap =>
  Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value, key)]));

/** The variables of a `.env` file: `NAME=value` lines, `export ` allowed, quotes taken off, `#` comments passed over. */
export function parseDotEnv(text: string): Environment {
  const found: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    const match = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=(.*)$/.exec(line.trim());
    if (!match) continue;
    const [, key, behind] = match as unknown as [string, string, string];
    const raw = behind.trimStart();
    const quoted = /^(?:"((?:[^"\\]|\\.)*)"|'([^']*)')\s*(?:#.*)?$/.exec(raw);
    found[key] = quoted
      ? (quoted[2] ?? (quoted[1] as string).replace(/\\n/g, '\n').replace(/\\(.)/g, '$1'))
      : (raw.split(/\s#/, 1)[0] ?? '').trim();
  }
  return found;
}
