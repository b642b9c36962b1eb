import type { BenchedCloud } from './cloud.ts';

export const file = 'bench.yaml';
const gcsPort = 6379;

const small = '--memory=500000000 --object-store-memory=80000000 --disable-usage-stats';

/** What both are given: nothing that one of them does not know, and no limit that is not Ray's default. */
export const clusterFile = (
  { provider, nodeConfig }: BenchedCloud,
  account: string,
  minWorkers: number,
): string => `cluster_name: bench
max_workers: 40
provider: ${provider(account)}
auth: {ssh_user: ubuntu}
head_node_type: head
available_node_types:
  head:
    resources: {CPU: 0}
    node_config: ${nodeConfig}
  worker:
    resources: {CPU: 1}
    node_config: ${nodeConfig}
    min_workers: ${minWorkers}
    max_workers: 40
setup_commands: []
head_setup_commands: []
head_start_ray_commands:
  - ray stop
  - ray start --head --port=${gcsPort} --num-cpus=0 ${small} --autoscaling-config=~/ray_bootstrap_config.yaml
worker_start_ray_commands:
  - ray stop
  - ray start --address=$RAY_HEAD_IP:${gcsPort} --num-cpus=1 ${small}
`;
