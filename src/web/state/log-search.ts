import { plainText } from '../words/ansi.ts';

/** Numbers of the lines that contain the words, whatever their case; kept current as lines come and go. */
export class LogSearch {
  readonly #pattern: RegExp | undefined;
  #matches: number[] = [];
  #seen = 0;

  constructor(words: string) {
    this.#pattern = words === '' ? undefined : new RegExp(words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'gi');
  }

  get matches(): readonly number[] {
    return this.#matches;
  }

  get pattern(): RegExp | undefined {
    return this.#pattern;
  }

  /** Looks at the lines that were not there last time, the last one again: it may have grown. */
  update(lines: { readonly count: number; line(index: number): string }): void {
    if (this.#pattern === undefined) return;
    const from = Math.max(0, this.#seen - 1);
    while ((this.#matches.at(-1) ?? -1) >= from) this.#matches.pop();
    for (let index = from; index < lines.count; index += 1) {
      this.#pattern.lastIndex = 0;
      if (this.#pattern.test(plainText(lines.line(index)))) this.#matches.push(index);
    }
    this.#seen = lines.count;
  }

  /** Lines were dropped from (`by` negative) or added at the front. */
  shift(by: number): void {
    this.#matches = this.#matches.map((index) => index + by).filter((index) => index >= 0);
    this.#seen = Math.max(0, this.#seen + by);
  }

  /** Starts over: lines were put in front that were never looked at. */
  reset(): void {
    this.#matches = [];
    this.#seen = 0;
  }
}
