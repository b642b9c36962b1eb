import type { Path, Problem } from '../problem.ts';
import { type ProblemKind, report } from '../problems.ts';
import type { Source } from '../source.ts';

/** What a check has found in a file, each at its place. */
export class Findings {
  readonly problems: Problem[] = [];
  readonly #source: Source;

  constructor(source: Source) {
    this.#source = source;
  }

  /** At the value of a key. */
  add<Data>(kind: ProblemKind<Data>, path: Path, data: Data): void {
    this.problems.push(report(kind, { at: this.#source.at(path), path }, data));
  }

  /** At the key itself. */
  addAtKey<Data>(kind: ProblemKind<Data>, path: Path, data: Data): void {
    this.problems.push(report(kind, { at: this.#source.keyAt(path), path }, data));
  }
}
