/** No client has a reason to nest deeper, and what recurses over a value would run out of stack. */
const deepest = 100;

/**
 * Reads JSON that came from outside. Its objects have no prototype: a name that nobody sent is not there, `constructor`
 * no more than any other. Throws a SyntaxError for what is not JSON or is nested too deep.
 */
export function readOutsideJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  let level = isObject(value) ? [value] : [];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > deepest) throw new SyntaxError(`it is nested more than ${deepest} levels deep`);
    const next: object[] = [];
    for (const each of level) {
      for (const inner of Object.values(each) as unknown[]) if (isObject(inner)) next.push(inner);
      if (!Array.isArray(each)) Object.setPrototypeOf(each, null);
    }
    level = next;
  }
  return value;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
