/**
 * Ignore patterns with the meaning they have in Ray's packaging, which is that of git but for two things: a path is
 * matched without a trailing slash, so `build/` matches what lies in the folder and not the folder itself; and the last
 * pattern that matches decides, whatever folder it excludes.
 */
export type IgnoreRule = (path: string) => boolean;

/** True for paths (relative, forward slashes, `.` for the root) that the patterns exclude. */
export function ignoreRule(patterns: readonly string[]): IgnoreRule {
  const rules = patterns.flatMap((pattern) => compile(pattern) ?? []);
  return (path) => {
    let ignored = false;
    for (const rule of rules) if (rule.expression.test(path)) ignored = rule.ignores;
    return ignored;
  };
}

function compile(line: string): { expression: RegExp; ignores: boolean } | undefined {
  let pattern = line.trim();
  if (pattern === '' || pattern === '/' || pattern.startsWith('#')) return undefined;
  const ignores = !pattern.startsWith('!');
  if (!ignores) pattern = pattern.slice(1);
  if (pattern.startsWith('\\')) pattern = pattern.slice(1);
  const segments = anchored(pattern.split('/'));
  try {
    return {
      expression: new RegExp(
        `^${segments.map((segment, at) => translate(segment, at, segments, ignores)).join('')}$`,
        's',
      ),
      ignores,
    };
  } catch {
    return undefined;
  }
}

/** A name without a slash matches at any depth; a trailing slash stands for what lies below. */
function anchored(segments: string[]): string[] {
  const all = [...segments];
  if (all[0] === '') all.shift();
  else if ((all.length === 1 || (all.length === 2 && all[1] === '')) && all[0] !== '**') all.unshift('**');
  if (all.length > 1 && all.at(-1) === '') all[all.length - 1] = '**';
  return all;
}

function translate(segment: string, at: number, all: readonly string[], ignores: boolean): string {
  const last = all.length - 1;
  if (segment === '**') {
    if (last === 0) return '.+';
    if (at === 0) return '(?:.+/)?';
    return at === last ? '/.*' : '(?:/.+)?';
  }
  const slash = at > 0 && !(at === 1 && all[0] === '**') ? '/' : '';
  if (segment === '*') return `${slash}[^/]+`;
  return `${slash}${glob(segment)}${at === last && ignores ? '(?:/.*)?' : ''}`;
}

function glob(segment: string): string {
  let out = '';
  for (let at = 0; at < segment.length; at++) {
    const char = segment[at] as string;
    if (char === '\\') {
      at += 1;
      if (at < segment.length) out += literal(segment[at] as string);
    } else if (char === '*') out += '[^/]*';
    else if (char === '?') out += '[^/]';
    else if (char === '[') {
      const end = endOfSet(segment, at + 1);
      if (end === undefined) out += '\\[';
      else {
        out += set(segment.slice(at + 1, end));
        at = end;
      }
    } else out += literal(char);
  }
  return out;
}

const literal = (char: string): string => char.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&');

/** Position of the bracket that closes a set which begins at `from`; a closing bracket in first place is part of it. */
function endOfSet(segment: string, from: number): number | undefined {
  let at = from;
  if (segment[at] === '!') at += 1;
  if (segment[at] === ']') at += 1;
  const end = segment.indexOf(']', at);
  return end < 0 ? undefined : end;
}

function set(content: string): string {
  const negated = content.startsWith('!');
  const body = negated ? content.slice(1) : content;
  return `[${negated ? '^' : ''}${body.replaceAll('\\', '\\\\').replaceAll('[', '\\[').replaceAll(']', '\\]').replace(/^\^/, '\\^')}]`;
}
