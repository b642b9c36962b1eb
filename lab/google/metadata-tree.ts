/** Paths of a metadata server, and what stands at them. */

/** What is answered in place of it. */
export class Refusal extends Error {
  readonly status: number;
  constructor(status: number, text: string) {
    super(text);
    this.status = status;
  }
}

export interface Tree {
  readonly [name: string]: string | number | (() => string) | Tree;
}

/** What stands at a path; of a folder, what is in it, or with all that is below as JSON. */
export function lookUp(tree: Tree, path: readonly string[], whole: boolean): string {
  let at: Tree[string] = tree;
  for (const name of path) {
    if (typeof at !== 'object' || !Object.hasOwn(at, name)) throw new Refusal(404, 'Not found');
    at = at[name]!;
  }
  if (typeof at === 'function') return at();
  if (typeof at !== 'object') return String(at);
  if (whole) return JSON.stringify(written(at));
  return Object.entries(at)
    .map(([name, below]) => (typeof below === 'object' ? `${name}/\n` : `${name}\n`))
    .join('');
}

/** As JSON: names have capitals in place of dashes, but for those that people gave. Tokens are left out. */
function written(tree: Tree, given = false): unknown {
  const entries = Object.entries(tree)
    .filter(([, below]) => typeof below !== 'function')
    .map(([name, below]): [string, unknown] => [
      given || !/^[a-z]+(?:-[a-z]+)+$/.test(name)
        ? name
        : name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
      typeof below === 'object' ? written(below, name === 'attributes') : below,
    ]);
  const numbered = entries.length > 0 && entries.every(([name], index) => name === String(index));
  return numbered ? entries.map(([, below]) => below) : Object.fromEntries(entries);
}
