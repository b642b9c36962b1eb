import type { PlainMap } from './cluster.ts';
import type { ProviderFacts } from './provider-facts.ts';
import { copyPlain } from './yaml/python.ts';

/** What Manta fills in where the provider has no default. */
const bare: PlainMap = {
  max_workers: 2,
  upscaling_speed: 1,
  idle_timeout_minutes: 5,
  docker: {},
  auth: {},
  available_node_types: {},
  file_mounts: {},
  cluster_synced_files: [],
  file_mounts_sync_continuously: false,
  rsync_exclude: [],
  rsync_filter: [],
  initialization_commands: [],
  setup_commands: [],
  head_setup_commands: [],
  worker_setup_commands: [],
  head_start_ray_commands: [
    'ray stop',
    'ulimit -n 65536; ray start --head --port=6379 --autoscaling-config=~/ray_bootstrap_config.yaml',
  ],
  worker_start_ray_commands: ['ray stop', 'ulimit -n 65536; ray start --address=$RAY_HEAD_IP:6379'],
};

/** What stands in for the top-level keys that a file does not have. Each call gives a copy of its own. */
export const defaultsOf = (facts: ProviderFacts | undefined): PlainMap => ({
  ...bare,
  ...copyPlain(facts?.defaults ?? {}),
});
