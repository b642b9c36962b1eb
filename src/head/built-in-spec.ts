/**
 * The cluster that `manta up` starts without a file: workers of one CPU each, one for every core of this machine, and
 * gone half a minute after their last job. Written as a cluster file so that it takes the same path as any other.
 */
export function builtInSpec(name: string, cores: number): string {
  const workers = Math.max(2, cores);
  return `cluster_name: ${name}
provider:
  type: process
max_workers: ${workers}
idle_timeout_minutes: 0.5
head_node_type: head
available_node_types:
  head:
    resources: {CPU: 0}
    node_config: {}
  worker:
    resources: {CPU: 1}
    min_workers: 0
    node_config: {}
`;
}
