import { ownValue } from '../../../base/own-value.ts';
import { defaultsOf } from '../defaults.ts';
import type { Environment } from '../env.ts';
import type { Path, Problem } from '../problem.ts';
import { pathText, report } from '../problems.ts';
import { factsOf, type ProviderTable } from '../provider-table.ts';
import { resolveCluster } from '../resolve.ts';
import type { Source } from '../source.ts';
import { readYaml } from '../yaml/read.ts';
import { editsFor } from './edits.ts';
import { modernise } from './modernise.ts';
import { legacyProblems } from './problems.ts';
import { applyEdits } from './text-edit.ts';

export type Conversion =
  | { readonly text: string; readonly changed: boolean }
  | { readonly problems: readonly Problem[] };

/**
 * A file of any era with current keys, by edits of its text: comments and everything else stay. The result is read
 * again and must mean the same; a file that cannot be edited so is refused, never changed in meaning.
 */
export function convertCluster(source: Source, env: Environment, providers: ProviderTable): Conversion {
  const before = resolveCluster(source, env, providers);
  const { spec } = before;
  if (spec === undefined) return { problems: before.problems };
  let current = source;
  for (let pass = 0; pass < passes && hasLegacy(current, providers); pass++) {
    const read = readYaml(source.file, applyEdits(current.text, editsFor(current, providers)));
    const after = 'source' in read ? resolveCluster(read.source, env, providers).spec : undefined;
    const difference = after === undefined ? undefined : firstDifference(spec, after, []);
    if (!('source' in read) || after === undefined) return refuse('the edited text cannot be read');
    if (difference !== undefined) return refuse(`${pathText(difference)} would change`);
    current = read.source;
  }
  return hasLegacy(current, providers)
    ? refuse('its text cannot be edited')
    : { text: current.text, changed: current.text !== source.text };

  function refuse(why: string): Conversion {
    const path = legacyPath(before.problems);
    return {
      problems: [report(legacyProblems.NotConvertible, { at: source.keyAt(path), path }, { key: pathText(path), why })],
    };
  }
}

/** A key that stands twice in a file shows its other text only when the last one is gone. */
const passes = 3;

function hasLegacy(source: Source, providers: ProviderTable): boolean {
  const facts = factsOf(providers, source.value);
  return legacyPath(modernise(source, defaultsOf(facts), facts).problems).length > 0;
}

function legacyPath(problems: readonly Problem[]): Path {
  const codes: readonly string[] = [legacyProblems.LegacyKey.code, legacyProblems.LegacyIgnored.code];
  return problems.find((problem) => codes.includes(problem.code))?.path ?? [];
}

/** Where two values differ; undefined when they are equal. */
function firstDifference(a: unknown, b: unknown, path: Path): Path | undefined {
  if (Object.is(a, b)) return undefined;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return path;
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const found = firstDifference(ownValue(left, key), ownValue(right, key), [...path, key]);
    if (found !== undefined) return found;
  }
  return undefined;
}
