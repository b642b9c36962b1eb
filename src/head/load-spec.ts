import { availableParallelism } from 'node:os';
import { ownValue } from '../base/own-value.ts';
import type { ClusterSpec } from '../core/spec/cluster.ts';
import type { Problem } from '../core/spec/problem.ts';
import { openCluster } from '../core/spec/read.ts';
import { isMap, type Source } from '../core/spec/source.ts';
import { readFaults } from '../providers/process/faults.ts';
import { builtInSpec } from './built-in-spec.ts';
import { headErrors } from './errors.ts';
import type { ClusterFile } from './state-folder.ts';

/** Providers that clusters can be run on. */
const runnable: ReadonlySet<string> = new Set(['process', 'local', 'lab_cloud']);

/** The spec that a cluster's record stands for. Throws when its file cannot be used. */
export function loadSpec(
  record: Pick<ClusterFile, 'name' | 'config' | 'overrides'> & Partial<Pick<ClusterFile, 'engine'>>,
): ClusterSpec {
  const path = record.config?.path ?? 'built-in';
  const text = record.config?.text ?? builtInSpec(record.name, availableParallelism(), record.engine);
  const { spec, problems, source } = openCluster(path, Buffer.from(text), record.config?.env ?? {});
  const errors = problems.filter((problem) => problem.severity === 'error');
  if (spec === undefined || errors.length > 0)
    throw headErrors.BadSpec({ file: path, problems: errors.map((problem) => problemLine(path, problem)) });
  if (!runnable.has(spec.provider.type)) throw headErrors.OtherProvider({ file: path, type: spec.provider.type });
  // Throws for a rule that cannot be read.
  if (spec.provider.type === 'process') readFaults(spec.provider);
  return withOverrides(spec, record.overrides ?? {}, source);
}

const problemLine = (file: string, { at, message }: Problem): string => `${file}:${at.line}:${at.column}: ${message}`;

/**
 * As in Ray, `--max-workers` stands for the file's own `max_workers`: types that name a limit keep it, the others follow.
 * `--min-workers` says how many of which type only where there is one type of worker.
 */
function withOverrides(
  spec: ClusterSpec,
  overrides: NonNullable<ClusterFile['overrides']>,
  source: Source | undefined,
): ClusterSpec {
  const { minWorkers, maxWorkers } = overrides;
  if (minWorkers === undefined && maxWorkers === undefined) return spec;
  const workers = spec.nodeTypes.filter((type) => type.name !== spec.headType);
  if (minWorkers !== undefined && workers.length !== 1)
    throw headErrors.WhichType({ types: workers.map((type) => type.name) });
  return {
    ...spec,
    ...(maxWorkers === undefined ? {} : { maxWorkers }),
    nodeTypes: spec.nodeTypes.map((type) => {
      if (type.name === spec.headType) return type;
      const most = maxWorkers === undefined || hasOwnLimit(source, type.name) ? type.maxWorkers : maxWorkers;
      return { ...type, maxWorkers: most, minWorkers: Math.min(minWorkers ?? type.minWorkers, most) };
    }),
  };
}

function hasOwnLimit(source: Source | undefined, type: string): boolean {
  const types = source !== undefined && isMap(source.value) ? source.value.available_node_types : undefined;
  const own = isMap(types) ? ownValue(types, type) : undefined;
  return isMap(own) && own.max_workers !== undefined && own.max_workers !== null;
}
