import { buildSpec } from './build.ts';
import { checkDuplicates } from './check/duplicates.ts';
import { checkMeaning } from './check/meaning.ts';
import { checkPlaceholders } from './check/placeholders.ts';
import { checkStructure } from './check/structure.ts';
import { templateProblems } from './check/template-problems.ts';
import { checkTraps } from './check/traps.ts';
import type { ClusterSpec } from './cluster.ts';
import { defaultsOf } from './defaults.ts';
import { type Environment, fillEnvironment } from './env.ts';
import { keyFor } from './keys/table.ts';
import { modernise } from './legacy/modernise.ts';
import type { Problem } from './problem.ts';
import { isMap, type Source } from './source.ts';

export interface Resolution {
  /** Absent when the file cannot be understood; present, too, while only placeholders are left to fill in. */
  readonly spec?: ClusterSpec;
  /** All problems of the file at once, in the order of the file. With an `error` among them nothing may be launched. */
  readonly problems: readonly Problem[];
}

/** The spec that a file of any era stands for, and everything that is wrong or doubtful in it. */
export function resolveCluster(read: Source, env: Environment): Resolution {
  const filled = fillEnvironment(read, env);
  const { source } = filled;
  const structure = checkStructure(source).filter(
    (problem) => !(isLocal(source) && problem.path[0] === 'head_node_type'),
  );
  if (!isMap(source.value)) return { problems: structure };
  const defaults = defaultsOf(source.value);
  const modern = modernise(source, defaults);
  const problems = [
    ...filled.problems,
    ...structure,
    ...checkDuplicates(read),
    ...modern.problems,
    ...checkPlaceholders(source),
    ...checkMeaning(source, modern, defaults),
  ];
  if (problems.some(prevents)) return { problems: inOrder(problems) };
  const spec = buildSpec(source, modern, defaults);
  return { spec, problems: inOrder([...problems, ...checkTraps(source, modern.value, spec)]) };
}

/** A placeholder is a text like any other until something is launched with it, but no number and no provider. */
function prevents(problem: Problem): boolean {
  if (problem.severity !== 'error') return false;
  if (problem.code !== templateProblems.Placeholder.code) return true;
  const key = keyFor(problem.path);
  return (
    key !== undefined &&
    (!(key.shape === 'string' || key.shape === 'any') || key.path === 'provider.type' || key.path === 'head_node_type')
  );
}

const inOrder = (problems: readonly Problem[]): readonly Problem[] =>
  [...problems].sort(
    (a, b) =>
      a.at.line - b.at.line ||
      a.at.column - b.at.column ||
      (a.severity === b.severity ? 0 : a.severity === 'error' ? -1 : 1),
  );

/** A local cluster has one node type, whatever `head_node_type` says. */
const isLocal = (source: Source): boolean =>
  isMap(source.value) && isMap(source.value.provider) && source.value.provider.type === 'local';
