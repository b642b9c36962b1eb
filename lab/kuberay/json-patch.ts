type Value = unknown;
type Fields = Record<string, Value>;

export interface PatchStep {
  readonly op: string;
  readonly path: string;
  readonly value?: Value;
}

/** A JSON patch (RFC 6902) as far as clients of this server use it; throws for a test that fails, and for a path that is not there. */
export function jsonPatched<Object>(object: Object, steps: readonly PatchStep[]): Object {
  const copy = structuredClone(object);
  for (const { op, path, value } of steps) {
    const names = path
      .split('/')
      .slice(1)
      .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = names.pop() ?? '';
    const parent = names.reduce<Value>((at, name) => (at as Fields | undefined)?.[name], copy) as Fields | undefined;
    if (parent === undefined) throw new Error(`the path ${path} does not exist`);
    const isThere = Object.hasOwn(parent, last);
    if (op === 'add') parent[last] = value;
    else if (!isThere) throw new Error(`the path ${path} does not exist`);
    else if (op === 'replace') parent[last] = value;
    else if (op === 'remove') delete parent[last];
    else if (op !== 'test') throw new Error(`unknown operation '${op}'`);
    else if (JSON.stringify(parent[last]) !== JSON.stringify(value)) throw new Error(`testing value ${path} failed`);
  }
  return copy;
}
