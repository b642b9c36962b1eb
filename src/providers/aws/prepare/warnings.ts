import type { ClusterSpec } from '../../../core/spec/cluster.ts';

/** What a reader of the plan should know that no look at AWS tells. */
export function fileWarnings({ provider: { config } }: ClusterSpec): readonly string[] {
  if ((config.cloudwatch ?? null) === null) return [];
  return ['provider.cloudwatch has no effect: Manta does not set up the CloudWatch agent, dashboards and alarms'];
}
