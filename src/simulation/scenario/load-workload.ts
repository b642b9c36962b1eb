import { readFile } from 'node:fs/promises';
import type { ScalingSpec } from '../../core/scaling.ts';
import { readYamlBytes } from '../../core/spec/yaml/read.ts';
import { simulationErrors } from '../errors.ts';
import { readScenario } from './read-scenario.ts';
import type { Scenario } from './scenario.ts';
import type { ScenarioFile } from './scenario-file.ts';

/** Reads a workload file, YAML or JSON. `spec` takes the place of its own `cluster`. Every problem has its position. */
export async function loadWorkload(path: string, file: string, spec?: ScalingSpec): Promise<Scenario> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (error) {
    const what = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'no such file' : 'cannot be read';
    throw simulationErrors.BadWorkload({ file, line: 1, column: 1, what, more: 0 }, error);
  }
  const read = readYamlBytes(file, bytes);
  if ('problems' in read) {
    const [first] = read.problems;
    throw simulationErrors.BadWorkload({
      file,
      line: first?.at.line ?? 1,
      column: first?.at.column ?? 1,
      what: first?.message ?? 'not valid YAML',
      hint: first?.hint,
      more: read.problems.length - 1,
    });
  }
  const result = readScenario(read.source.value, spec, read.source.keys);
  if ('scenario' in result) return result.scenario;
  const [first] = result.problems;
  const at = read.source.at(first?.path ?? []);
  throw simulationErrors.BadWorkload({
    file,
    line: at.line,
    column: at.column,
    what: first?.what ?? 'not a valid workload',
    hint: first?.hint,
    more: result.problems.length - 1,
  });
}

/** A scenario that is part of Manta. */
export function builtInScenario(file: ScenarioFile): Scenario {
  const result = readScenario(file);
  if ('scenario' in result) return result.scenario;
  const [first] = result.problems;
  const what = `${first?.path.join('.') ?? ''}: ${first?.what ?? ''}`;
  throw simulationErrors.BadWorkload({
    file: file.name ?? 'workload',
    line: 1,
    column: 1,
    what,
    more: result.problems.length - 1,
  });
}

export interface EqualTasks {
  readonly tasks?: number;
  readonly cpus: number;
  readonly gpus?: number;
  /** In GiB, of each. */
  readonly memory?: number;
  readonly duration: string;
  /** Absent: all are submitted at once. */
  readonly over?: string;
}

/** Equal tasks, as the command line asks for them. */
export function taskScenario(
  spec: ScalingSpec,
  { tasks = 100, cpus, gpus = 0, memory = 0, duration, over }: EqualTasks,
): Scenario {
  const needs = {
    ...(cpus > 0 ? { CPU: cpus } : {}),
    ...(gpus > 0 ? { GPU: gpus } : {}),
    ...(memory > 0 ? { memory: Math.round(memory * 1024 ** 3) } : {}),
  };
  const work = [{ tasks, needs, duration, ...(over !== undefined && { over }) }];
  const result = readScenario({ name: `${tasks} tasks`, work }, spec);
  if ('scenario' in result) return result.scenario;
  const [first] = result.problems;
  throw simulationErrors.BadOption({
    option: String(first?.path.at(-1) ?? 'tasks'),
    what: first?.what ?? '',
    hint: first?.hint,
  });
}
