import { defineError } from '../base/errors.ts';
import { rayVersion } from '../core/ray-version.ts';

export const simulationErrors = {
  BadWorkload: defineError<{
    file: string;
    line: number;
    column: number;
    what: string;
    hint?: string | undefined;
    more: number;
  }>({
    code: 'MANTA_SIMULATION_BAD_WORKLOAD',
    exit: 2,
    message: (e) =>
      `${e.file}:${e.line}:${e.column}: ${e.what}${e.more > 0 ? ` (and ${e.more} more ${e.more === 1 ? 'problem' : 'problems'})` : ''}`,
    hint: (e) => e.hint ?? 'see docs/simulation.md for the format of a workload file',
  }),
  BadOption: defineError<{ option: string; what: string; hint?: string | undefined }>({
    code: 'MANTA_SIMULATION_BAD_OPTION',
    exit: 2,
    message: (e) => `--${e.option}: ${e.what}`,
    hint: (e) => e.hint,
  }),
  SetupFailed: defineError<{ id: string }>({
    code: 'MANTA_SIMULATION_SETUP_FAILED',
    exit: 1,
    message: (e) => `setup of ${e.id} failed`,
  }),
  NoCluster: defineError({
    code: 'MANTA_SIMULATION_NO_CLUSTER',
    exit: 2,
    message: () => 'no cluster to simulate',
    hint: () => 'give a cluster file, a workload file with its own `cluster`, or --demo',
  }),
  UnknownWorkload: defineError<{ name: string; known: readonly string[] }>({
    code: 'MANTA_SIMULATION_UNKNOWN_WORKLOAD',
    exit: 2,
    message: (e) => `unknown workload '${e.name}'`,
    hint: (e) => `known workloads: ${e.known.join(', ')}`,
  }),
  NoRay: defineError<{ tried: readonly string[] }>({
    code: 'MANTA_SIMULATION_NO_RAY',
    exit: 3,
    message: (e) => `no Python with Ray was found (tried ${e.tried.join(', ')})`,
    hint: () => `set MANTA_RAY_PYTHON to a Python with Ray (pip install "ray==${rayVersion}")`,
  }),
  RayPlannerFailed: defineError<{ detail: string }>({
    code: 'MANTA_SIMULATION_RAY_PLANNER_FAILED',
    exit: 1,
    message: (e) => `Ray's planner failed: ${e.detail}`,
  }),
  Unsafe: defineError<{ rule: string; detail: string; replay: string }>({
    code: 'MANTA_SIMULATION_UNSAFE',
    exit: 1,
    message: (e) => `the rule '${e.rule}' was broken: ${e.detail}`,
    hint: (e) => `replay it with: ${e.replay}`,
  }),
};
