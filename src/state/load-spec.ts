import { availableParallelism } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { ownValue } from '../base/own-value.ts';
import type { ClusterSpec } from '../core/spec/cluster.ts';
import type { Problem } from '../core/spec/problem.ts';
import { openCluster } from '../core/spec/read.ts';
import { isMap, type Source } from '../core/spec/source.ts';
import { descriptorOf, offeredWords, providers } from '../providers/table.ts';
import { builtInSpec } from './built-in-spec.ts';
import type { ClusterRecord } from './cluster-record.ts';
import { stateErrors } from './errors.ts';

/** A cluster file that was read and can be used. It is handed to everyone who needs it: the text is read once. */
export interface GivenFile {
  /** What is kept of it with the cluster. */
  readonly config: NonNullable<ClusterRecord['config']>;
  /** As the file says it. */
  readonly spec: ClusterSpec;
  readonly source: Source;
  /** What does not mean what its writer may believe. */
  readonly warnings: readonly Problem[];
}

/** Reads what is kept of a file, unless it is the one that was `given`. Throws when it cannot be used. */
export function readConfig(config: GivenFile['config'], given?: GivenFile): GivenFile {
  return given !== undefined && isSame(config, given.config) ? given : { config, ...read(config) };
}

const isSame = (one: GivenFile['config'], other: GivenFile['config']): boolean =>
  one.path === other.path && one.text === other.text && isDeepStrictEqual(one.env, other.env);

function read({ path, text, env }: GivenFile['config']): Omit<GivenFile, 'config'> {
  const { spec, problems, source } = openCluster(path, Buffer.from(text), env, providers);
  const errors = problems.filter((problem) => problem.severity === 'error');
  if (spec === undefined || source === undefined || errors.length > 0)
    throw stateErrors.BadSpec({ file: path, problems: errors.map((problem) => problemLine(path, problem)) });
  return { spec, source, warnings: problems };
}

/** The spec that a file stands for, with what was said on the command line. Throws when no cluster can be run by it. */
export function specOf(
  { config, spec, source }: Pick<GivenFile, 'config' | 'spec' | 'source'>,
  overrides: NonNullable<ClusterRecord['overrides']> = {},
): ClusterSpec {
  const { type } = spec.provider;
  const provider = descriptorOf(type);
  if (provider === undefined) throw stateErrors.OtherProvider({ file: config.path, type, runs: offeredWords });
  provider.check?.(spec);
  return withOverrides(spec, overrides, source);
}

/** The spec that a cluster's record stands for. Throws when its file cannot be used. */
export function loadSpec(
  record: Pick<ClusterRecord, 'name' | 'config' | 'overrides'> & Partial<Pick<ClusterRecord, 'engine'>>,
  given?: GivenFile,
): ClusterSpec {
  const { name, engine, overrides } = record;
  const builtIn = (): string => builtInSpec(name, availableParallelism(), engine);
  return specOf(readConfig(record.config ?? { path: 'built-in', text: builtIn(), env: {} }, given), overrides);
}

const problemLine = (file: string, { at, message }: Problem): string => `${file}:${at.line}:${at.column}: ${message}`;

/**
 * As in Ray, `--max-workers` stands for the file's own `max_workers`: types that name a limit keep it, the others follow.
 * `--min-workers` says how many of which type only where there is one type of worker.
 */
function withOverrides(
  spec: ClusterSpec,
  overrides: NonNullable<ClusterRecord['overrides']>,
  source: Source,
): ClusterSpec {
  const { minWorkers, maxWorkers } = overrides;
  if (minWorkers === undefined && maxWorkers === undefined) return spec;
  const workers = spec.nodeTypes.filter((type) => type.name !== spec.headType);
  if (minWorkers !== undefined && workers.length !== 1)
    throw stateErrors.WhichType({ types: workers.map((type) => type.name) });
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

function hasOwnLimit(source: Source, type: string): boolean {
  const types = isMap(source.value) ? source.value.available_node_types : undefined;
  const own = isMap(types) ? ownValue(types, type) : undefined;
  return isMap(own) && own.max_workers !== undefined && own.max_workers !== null;
}
