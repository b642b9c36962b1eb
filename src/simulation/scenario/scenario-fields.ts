import { ownValue } from '../../base/own-value.ts';
import type { Duration } from '../../base/time/clock.ts';
import type { Path } from '../../core/spec/problem.ts';
import { inFileOrder } from '../../core/spec/source.ts';
import type { Spread } from './scenario.ts';

/** What is wrong in a workload file, and where in its tree. */
export interface ScenarioProblem {
  readonly path: Path;
  readonly what: string;
  readonly hint?: string;
}

/** Collects every problem of one file instead of stopping at the first. */
export class FieldReader {
  readonly problems: ScenarioProblem[] = [];
  /** Keys of a mapping in the order of the file, where there is one: objects lose it for keys such as `8`. */
  readonly keysOf: ((path: Path) => readonly string[]) | undefined;

  constructor(keysOf?: (path: Path) => readonly string[]) {
    this.keysOf = keysOf;
  }

  root(value: unknown): Field {
    return new Field(this, [], value);
  }
}

/** A value at a path. Each reading method reports a problem and answers with a harmless value when it cannot read. */
export class Field {
  readonly #reader: FieldReader;
  readonly #path: Path;
  readonly #value: unknown;

  constructor(reader: FieldReader, path: Path, value: unknown) {
    this.#reader = reader;
    this.#path = path;
    this.#value = value;
  }

  problem(what: string, hint?: string): void {
    this.#reader.problems.push({ path: this.#path, what, ...(hint === undefined ? {} : { hint }) });
  }

  has(key: string): boolean {
    return isRecord(this.#value) && ownValue(this.#value, key) !== undefined;
  }

  optional(key: string): Field | undefined {
    if (!isRecord(this.#value)) return undefined;
    const value = ownValue(this.#value, key);
    return value === undefined || value === null ? undefined : new Field(this.#reader, [...this.#path, key], value);
  }

  required(key: string): Field | undefined {
    const field = this.optional(key);
    if (field === undefined) this.problem(`'${key}' is missing`);
    return field;
  }

  onlyKeys(known: readonly string[]): void {
    if (!isRecord(this.#value)) {
      this.problem(`expected a mapping, found ${describe(this.#value)}`);
      return;
    }
    for (const key of Object.keys(this.#value)) {
      if (known.includes(key)) continue;
      this.#reader.problems.push({
        path: [...this.#path, key],
        what: `unknown key '${key}'`,
        hint: `known here: ${known.join(', ')}`,
      });
    }
  }

  entries(): [string, Field][] {
    if (!isRecord(this.#value)) {
      this.problem(`expected a mapping, found ${describe(this.#value)}`);
      return [];
    }
    const map = this.#value;
    return inFileOrder(Object.keys(map), this.#reader.keysOf?.(this.#path) ?? []).map((key) => [
      key,
      new Field(this.#reader, [...this.#path, key], ownValue(map, key)),
    ]);
  }

  items(): Field[] {
    if (!Array.isArray(this.#value)) {
      this.problem(`expected a list, found ${describe(this.#value)}`);
      return [];
    }
    return this.#value.map((value, index) => new Field(this.#reader, [...this.#path, index], value));
  }

  text(): string {
    if (typeof this.#value === 'string') return this.#value;
    if (typeof this.#value === 'number' || typeof this.#value === 'boolean') return String(this.#value);
    this.problem(`expected text, found ${describe(this.#value)}`);
    return '';
  }

  oneOf<const T extends string>(choices: readonly T[]): T {
    const value = this.text();
    const found = choices.find((choice) => choice === value);
    if (found === undefined) this.problem(`'${value}' is not one of ${choices.join(', ')}`);
    return found ?? (choices[0] as T);
  }

  amount(): number {
    const value = typeof this.#value === 'bigint' ? Number(this.#value) : this.#value;
    if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
    this.problem(`expected a number of at least 0, found ${describe(this.#value)}`);
    return 0;
  }

  whole(): number {
    const value = this.amount();
    if (!Number.isSafeInteger(value)) this.problem(`expected a whole number, found ${value}`);
    return Math.floor(value);
  }

  duration(): Duration {
    const value = typeof this.#value === 'number' ? this.#value * 1_000 : parseDuration(this.#value);
    if (value !== undefined && Number.isFinite(value) && value >= 0) return value;
    this.problem(`expected a duration, found ${describe(this.#value)}`, 'write it like 90s, 5m or 1h30m');
    return 0;
  }

  spread(): Spread {
    if (!isRecord(this.#value)) return { kind: 'fixed', value: this.duration() };
    if (this.has('median') || this.has('p95')) {
      this.onlyKeys(['median', 'p95']);
      const median = Math.max(1, this.required('median')?.duration() ?? 1);
      const p95 = this.required('p95')?.duration() ?? median;
      if (p95 < median) this.problem('p95 is smaller than the median');
      return { kind: 'log-normal', median, p95: Math.max(median, p95) };
    }
    this.onlyKeys(['min', 'max']);
    const min = this.required('min')?.duration() ?? 0;
    const max = this.required('max')?.duration() ?? min;
    if (max < min) this.problem('max is smaller than min');
    return { kind: 'uniform', min, max };
  }
}

const unitLengths: Readonly<Record<string, Duration>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `1h30m`, `90s`, `250ms`; undefined when it is not a duration. */
export function parseDuration(text: unknown): Duration | undefined {
  if (typeof text !== 'string' || text.length > 40) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1_000;
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return undefined;
  return [...text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/gy)].reduce(
    (total, [, amount, unit]) => total + Number(amount) * (ownValue(unitLengths, unit ?? 's') ?? 0),
    0,
  );
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function describe(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  return `'${String(value)}'`;
}
