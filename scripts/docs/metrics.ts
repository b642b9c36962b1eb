import type { InstanceView } from '../../src/core/instance.ts';
import type { JobState } from '../../src/core/jobs/job.ts';
import type { ScalingSpec } from '../../src/core/scaling.ts';
import { HeadMetrics } from '../../src/head/report/metrics.ts';

export interface DeclaredMetric {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
}

/** Every metric that a head shows, with the labels its samples carry; found by asking one that has seen something of each. */
export function declaredMetrics(): DeclaredMetric[] {
  const metrics = new HeadMetrics('docs');
  const resources = { CPU: 1 };
  const spec = { nodeTypes: [{ name: 'worker', resources }] } as unknown as ScalingSpec;
  const running = { type: 'worker', kind: 'worker', status: 'running', node: { total: resources } };
  const pending = { type: 'worker', kind: 'worker', status: 'requested' };
  const jobs = { running: 0 } as Record<JobState, number>;
  const instances = [running, pending] as unknown as InstanceView[];
  return metrics.metrics({ instances, spec, jobs, residentBytes: 0 }).map(({ name, type, help, samples }) => ({
    name,
    type,
    help,
    labels: [...new Set(samples.flatMap((sample) => Object.keys(sample.labels)))].filter((label) => label !== 'le'),
  }));
}
