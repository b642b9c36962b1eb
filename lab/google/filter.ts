/** Filters of lists, as Compute Engine reads them: `(labels.a = b) AND (status = RUNNING OR NOT labels.c:*)`. */
import { googleError } from './errors.ts';

type Test = (item: unknown) => boolean;

const words = /\s*(?:("(?:[^"\\]|\\.)*"|'[^']*')|(!=|<=|>=|[()=<>:])|([^\s()=<>:!"']+))/y;

interface Word {
  readonly text: string;
  readonly quoted: boolean;
}

function split(filter: string): readonly Word[] {
  const found: Word[] = [];
  words.lastIndex = 0;
  while (words.lastIndex < filter.trimEnd().length) {
    const match = words.exec(filter);
    if (match === null) throw invalid(filter);
    const [, quoted, sign, bare] = match;
    if (quoted !== undefined) found.push({ text: quoted.slice(1, -1).replace(/\\(.)/g, '$1'), quoted: true });
    else found.push({ text: (sign ?? bare)!, quoted: false });
  }
  return found;
}

const invalid = (filter: string) =>
  googleError('invalid', `Invalid value for field 'filter': '${filter}'. Invalid list filter expression.`);

/** Whether an item of a list, as it is shown, fits. */
export function readFilter(filter: string | undefined): Test {
  if (filter === undefined || filter.trim() === '') return () => true;
  return new Reader(filter).whole();
}

class Reader {
  readonly #filter: string;
  readonly #words: readonly Word[];
  #at = 0;

  constructor(filter: string) {
    this.#filter = filter;
    this.#words = split(filter);
  }

  whole(): Test {
    const test = this.#either();
    if (this.#at < this.#words.length) throw invalid(this.#filter);
    return test;
  }

  #either(): Test {
    const tests = [this.#all()];
    while (this.#takes('OR')) tests.push(this.#all());
    return (item) => tests.some((test) => test(item));
  }

  /** Parts side by side must all fit, with AND between them or without. */
  #all(): Test {
    const tests = [this.#one()];
    while (this.#takes('AND') || this.#begins()) tests.push(this.#one());
    return (item) => tests.every((test) => test(item));
  }

  #begins(): boolean {
    const next = this.#words[this.#at];
    return next !== undefined && next.text !== ')' && next.text !== 'OR';
  }

  #one(): Test {
    if (this.#takes('NOT')) {
      const test = this.#one();
      return (item) => !test(item);
    }
    if (this.#takes('(')) {
      const test = this.#either();
      if (!this.#takes(')')) throw invalid(this.#filter);
      return test;
    }
    const field = this.#next();
    const sign = this.#next();
    const value = this.#next();
    return comparison(this.#filter, field, sign, value);
  }

  #takes(word: string): boolean {
    const next = this.#words[this.#at];
    if (next === undefined || next.quoted || next.text !== word) return false;
    this.#at++;
    return true;
  }

  #next(): string {
    const next = this.#words[this.#at++];
    if (next === undefined || (!next.quoted && /^[()]$/.test(next.text))) throw invalid(this.#filter);
    return next.text;
  }
}

function comparison(filter: string, field: string, sign: string, value: string): Test {
  const values = (item: unknown): readonly string[] => valuesAt(item, field.split('.'));
  const whole = (): RegExp => {
    try {
      return new RegExp(`^(?:${value})$`);
    } catch {
      throw invalid(filter);
    }
  };
  const ordered = (compare: (order: number) => boolean): Test => {
    const wanted = Number(value);
    return (item) =>
      values(item).some((each) =>
        compare(
          Number.isNaN(wanted) || each.trim() === ''
            ? each < value
              ? -1
              : each > value
                ? 1
                : 0
            : Number(each) - wanted,
        ),
      );
  };
  switch (sign) {
    case '=':
      return (item) => values(item).includes(value);
    case '!=':
      return (item) => !values(item).includes(value);
    case 'eq': {
      const expression = whole();
      return (item) => values(item).some((each) => expression.test(each));
    }
    case 'ne': {
      const expression = whole();
      return (item) => !values(item).some((each) => expression.test(each));
    }
    case ':':
      return value === '*'
        ? (item) => values(item).length > 0
        : (item) => values(item).some((each) => each.includes(value));
    case '<':
      return ordered((order) => order < 0);
    case '>':
      return ordered((order) => order > 0);
    case '<=':
      return ordered((order) => order <= 0);
    case '>=':
      return ordered((order) => order >= 0);
    default:
      throw invalid(filter);
  }
}

/** What stands at a path; of lists, of each of their items. */
function valuesAt(item: unknown, [name, ...rest]: readonly string[]): readonly string[] {
  if (Array.isArray(item)) return item.flatMap((each) => valuesAt(each, name === undefined ? [] : [name, ...rest]));
  if (name === undefined) return typeof item === 'object' || item === undefined ? [] : [String(item)];
  if (typeof item !== 'object' || item === null || !Object.hasOwn(item, name)) return [];
  return valuesAt((item as Readonly<Record<string, unknown>>)[name], rest);
}
