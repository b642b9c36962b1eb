import type { Plain, PlainMap } from '../cluster.ts';
import type { Path, Problem } from '../problem.ts';
import { pathText, report } from '../problems.ts';
import type { Source } from '../source.ts';
import { legacyProblems as problems } from './problems.ts';

export type Draft = Record<string, Plain>;

/** A file on its way into current keys, and what its legacy keys were found to be. */
export class LegacyDraft {
  readonly source: Source;
  /** Those of the provider. */
  readonly defaults: PlainMap;
  readonly value: Draft;
  readonly problems: Problem[] = [];

  constructor(source: Source, defaults: PlainMap) {
    this.source = source;
    this.defaults = defaults;
    this.value = { ...(source.value as PlainMap) };
  }

  legacy(path: Path, modern: string): void {
    const spot = { at: this.source.keyAt(path), path };
    this.problems.push(report(problems.LegacyKey, spot, { key: pathText(path), modern }));
  }

  ignored(path: Path, why: string): void {
    const spot = { at: this.source.keyAt(path), path };
    this.problems.push(report(problems.LegacyIgnored, spot, { key: pathText(path), why }));
  }
}
