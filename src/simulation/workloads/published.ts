import type { ScenarioFile } from '../scenario/scenario-file.ts';
import { cpuWorkloads } from './cpu.ts';
import { gpuWorkloads } from './gpu.ts';
import { marketWorkloads } from './market.ts';

/** The set that docs/planner.md reports on. It was fixed before anything was tuned; it does not change. */
export const publishedWorkloads: readonly ScenarioFile[] = [...cpuWorkloads, ...gpuWorkloads, ...marketWorkloads];
