import type { Path, Position } from '../problem.ts';
import type { Source, SourceSpan } from '../source.ts';
import type { Constructed } from './construct.ts';
import type { Node, Pair, Use } from './node.ts';

/** Positions of offsets as editors count: lines end with LF, CR LF or CR; a byte order mark has no column. */
export function positionsOf(text: string): (offset: number) => Position {
  let starts: number[] | undefined;
  return (offset) => {
    starts ??= lineStarts(text);
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    const line = text.slice(starts[low], offset);
    return { line: low + 1, column: charactersIn(line) + 1 };
  };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (const { index, 0: ending } of text.matchAll(/\r\n|\n|\r/g)) starts.push(index + ending.length);
  return starts;
}

function charactersIn(line: string): number {
  const plain = line.startsWith('\uFEFF') ? line.slice(1) : line;
  return /[\uD800-\uDBFF]/.test(plain) ? [...plain].length : plain.length;
}

/** A place on a path: how it is used there, and the pair that holds it. */
interface Step {
  readonly use: Use;
  readonly pair?: Pair;
  /** Reached through an alias or a merge. */
  readonly shared: boolean;
}

/** A source over a parsed document, or over a text without one, whose value is null. */
export function sourceOf(
  file: string,
  text: string,
  positionOf: (offset: number) => Position,
  document?: { readonly root: Node; readonly constructed: Constructed },
): Source {
  /** The steps of a path as far as they exist, the root first. */
  const walk = (path: Path): readonly [Step, ...Step[]] | undefined => {
    if (document === undefined) return undefined;
    const { root, constructed } = document;
    let step: Step = { use: { node: root, start: root.start, end: root.end, alias: false }, shared: false };
    const steps: [Step, ...Step[]] = [step];
    for (const part of path) {
      const next = stepInto(step, part, constructed.entries);
      if (next === undefined) break;
      steps.push(next);
      step = next;
    }
    return steps;
  };
  const reached = (path: Path): Step | undefined => {
    const steps = walk(path);
    return steps?.length === path.length + 1 ? steps.at(-1) : undefined;
  };

  return {
    file,
    text,
    value: document?.constructed.value ?? null,
    positionOf,
    at: (path) => positionOf(walk(path)?.at(-1)?.use.start ?? 0),
    keyAt: (path) => {
      const last = walk(path)?.at(-1);
      return positionOf((last?.pair?.key ?? last?.use)?.start ?? 0);
    },
    rangeOf: (path) => {
      const step = reached(path);
      return step && placeOf(step);
    },
    keys: (path) => {
      const node = reached(path)?.use.node;
      return node === undefined ? [] : [...(document?.constructed.entries.get(node)?.keys() ?? [])];
    },
  };
}

function stepInto({ use, shared }: Step, part: string | number, entries: Constructed['entries']): Step | undefined {
  if (use.node.kind === 'sequence') {
    const item = use.node.items[Number(part)];
    return item && { use: item, shared: shared || use.alias };
  }
  const pair = entries.get(use.node)?.get(String(part));
  return pair && { use: pair.value, pair, shared: shared || use.alias || pair.merged };
}

function placeOf({ use, pair, shared }: Step): SourceSpan {
  const value = { start: use.start, end: use.end };
  return pair === undefined ? { value, shared } : { key: { start: pair.key.start, end: pair.key.end }, value, shared };
}
