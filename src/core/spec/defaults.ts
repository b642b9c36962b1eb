import type { PlainMap } from './cluster.ts';
import { defaultsOf as rayDefaultsOf } from './ray/defaults.ts';
import { isMap } from './source.ts';

/** What Manta fills in where Ray has no default for the provider. */
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

/** Instances that are processes of this machine: a head and as many workers as are asked for. */
const processes: PlainMap = {
  cluster_name: 'default',
  available_node_types: { head: { resources: {}, node_config: {} }, worker: { resources: {}, node_config: {} } },
  head_node_type: 'head',
};

/** What stands in for the top-level keys that a file does not have: those of Ray for its provider. */
export function defaultsOf(file: PlainMap): PlainMap {
  const type = isMap(file.provider) ? file.provider.type : undefined;
  if (typeof type !== 'string') return bare;
  return { ...bare, ...(type === 'process' ? processes : rayDefaultsOf(type)) };
}
