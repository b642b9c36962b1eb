/** Each raylet is half a dozen processes: a machine has few of them. */
const mostRaylets = 4;

/**
 * The cluster that `manta up` starts without a file: workers of one CPU each, one for every core of this machine, and
 * gone half a minute after their last job; of real Ray a few that share the cores. Written as a cluster file so that it
 * takes the same path as any other.
 */
export function builtInSpec(name: string, cores: number, engine: 'embedded' | 'ray' = 'embedded'): string {
  const most = Math.max(2, cores);
  const workers = engine === 'ray' ? Math.min(mostRaylets, most) : most;
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
    resources: {CPU: ${Math.ceil(most / workers)}}
    min_workers: 0
    node_config: {}
`;
}
