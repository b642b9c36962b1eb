import { globSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Makes text of data; of a placeholder it may give a placeholder. */
type Words = (data: unknown) => unknown;

export interface DeclaredError {
  readonly code: string;
  readonly exit: number;
  readonly message: string;
  readonly hint: string | undefined;
  readonly table: string;
}

export interface DeclaredEvent {
  readonly code: string;
  readonly level: string;
  readonly text: string;
  readonly table: string;
}

/** Something that can be wrong or doubtful in a cluster file. */
export interface DeclaredProblem {
  readonly code: string;
  readonly severity: string;
  readonly title: string;
  readonly meaning: string;
  readonly hint: string;
}

/** Every error that some `errors.ts` or `…-errors.ts` declares. */
export async function declaredErrors(): Promise<DeclaredError[]> {
  type Kind = {
    code: string;
    exit: number;
    recipe: { message: Words; hint?: Words };
  };
  const found = await entriesOf('src/**/*errors.ts', (value): value is Kind => has(value, ['code', 'exit', 'recipe']));
  return found.map(([{ code, exit, recipe }, table]) => ({
    code,
    exit,
    message: String(recipe.message(placeholder(''))),
    hint: recipe.hint === undefined ? undefined : String(recipe.hint(placeholder(''))),
    table,
  }));
}

/** Every event that some `events.ts` declares. */
export async function declaredEvents(): Promise<DeclaredEvent[]> {
  type Kind = { code: string; level: string; text: Words };
  const found = await entriesOf('src/**/*events.ts', (value): value is Kind => has(value, ['code', 'level', 'text']));
  return found.map(([{ code, level, text }, table]) => ({ code, level, text: String(text(placeholder(''))), table }));
}

export async function declaredProblems(): Promise<DeclaredProblem[]> {
  type Kind = Pick<DeclaredProblem, 'code' | 'title' | 'meaning'> & { severity?: string; hint?: string };
  const found = await entriesOf('src/{core/spec,providers}/**/*problems.ts', (value): value is Kind =>
    has(value, ['code', 'title', 'meaning']),
  );
  return found.map(([{ code, severity, title, meaning, hint }]) => ({
    code,
    severity: severity ?? 'error',
    title,
    meaning,
    hint: hint ?? '',
  }));
}

/** The values of all tables (exported objects) in the files, each with the path of its file, sorted by code. */
async function entriesOf<Kind extends { code: string }>(
  files: string,
  isKind: (value: unknown) => value is Kind,
): Promise<[Kind, string][]> {
  const found: [Kind, string][] = [];
  for (const file of globSync(files, { cwd: root }).sort()) {
    const exported = (await import(pathToFileURL(join(root, file)).href)) as Record<string, unknown>;
    for (const table of Object.values(exported)) {
      if (typeof table !== 'object' || table === null) continue;
      for (const value of Object.values(table)) if (isKind(value)) found.push([value, file.replaceAll(sep, '/')]);
    }
  }
  return found.sort(([a], [b]) => (a.code < b.code ? -1 : 1));
}

const has = (value: unknown, keys: readonly string[]): boolean =>
  value !== null && (typeof value === 'object' || typeof value === 'function') && keys.every((key) => key in value);

/** Stands for any data: printed, it is its own name in angle brackets; called or looked into, it goes on being that. */
function placeholder(name: string): unknown {
  const shown = `‹${name}›`;
  return new Proxy(() => placeholder(name), {
    get(_, key) {
      if (key === Symbol.toPrimitive) return (hint: string) => (hint === 'number' ? Number.NaN : shown);
      if (key === Symbol.iterator) return () => [placeholder(name)][Symbol.iterator]();
      if (key === 'toString') return () => shown;
      if (key === 'length') return 1;
      if (typeof key === 'symbol') return undefined;
      return /^(?:join|map|filter|slice|toFixed|toLocaleString|toSorted|sort)$/.test(key)
        ? () => placeholder(name)
        : placeholder(key);
    },
  });
}
