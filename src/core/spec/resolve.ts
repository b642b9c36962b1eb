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
import { type KeyNode, keyFor } from './keys/table.ts';
import { modernise } from './legacy/modernise.ts';
import type { Problem } from './problem.ts';
import { factsOf, type ProviderTable } from './provider-table.ts';
import { isMap, type Source } from './source.ts';

export interface Resolution {
  /** Absent when the file cannot be understood; present, too, while only placeholders are left to fill in. */
  readonly spec?: ClusterSpec;
  /** All problems of the file at once, in the order of the file. With an `error` among them nothing may be launched. */
  readonly problems: readonly Problem[];
}

/** The spec that a file of any era stands for, and everything that is wrong or doubtful in it. */
export function resolveCluster(read: Source, env: Environment, providers: ProviderTable): Resolution {
  const { keyTree } = providers;
  const filled = fillEnvironment(read, env, keyTree);
  const { source } = filled;
  const facts = factsOf(providers, source.value);
  // The hosts of a cluster are of one node type, whatever `head_node_type` says.
  const structure = checkStructure(source, keyTree).filter(
    (problem) => !(facts?.kind === 'own-hosts' && problem.path[0] === 'head_node_type'),
  );
  if (!isMap(source.value)) return { problems: structure };
  const defaults = defaultsOf(facts);
  const modern = modernise(source, defaults, facts);
  const problems = [
    ...filled.problems,
    ...structure,
    ...checkDuplicates(read),
    ...modern.problems,
    ...checkPlaceholders(source, keyTree),
    ...checkMeaning(source, modern, defaults, providers),
  ];
  if (facts === undefined || problems.some((problem) => prevents(problem, keyTree)))
    return { problems: inOrder(problems) };
  const spec = buildSpec(source, modern, defaults, facts);
  return { spec, problems: inOrder([...problems, ...checkTraps(source, modern.value, spec, facts)]) };
}

/** A placeholder is a text like any other until something is launched with it, but no number and no provider. */
function prevents(problem: Problem, keyTree: KeyNode): boolean {
  if (problem.severity !== 'error') return false;
  if (problem.code !== templateProblems.Placeholder.code) return true;
  const key = keyFor(keyTree, problem.path);
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
