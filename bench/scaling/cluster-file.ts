/** One cluster, written down for Manta and for Ray's own autoscaler. */
export interface Shape {
  /** Node types of workers; each offers one of a resource of its own name. */
  readonly types: readonly string[];
  /** Of each type. The cluster may have three times as many: what was ended behind its back counts for a while. */
  readonly most: number;
  readonly idleSeconds: number;
  /** @default 1, as Ray's own */
  readonly upscalingSpeed?: number;
}

export const clusterName = 'bench';
export const gcsPort = 6379;
const small = '--memory=500000000 --object-store-memory=80000000 --disable-usage-stats';
export const headStart = `ray start --head --port=${gcsPort} --dashboard-host=127.0.0.1 --num-cpus=0 ${small} --autoscaling-config=~/ray_bootstrap_config.yaml`;
const workerStart = `ray start --address=$RAY_HEAD_IP:${gcsPort} ${small}`;

/** JSON is YAML. */
export const mantaFile = (shape: Shape, endpoint: string): string =>
  JSON.stringify({
    ...shared(shape),
    provider: { type: 'lab_cloud', endpoint, token_file: '~/cloud-token' },
    auth: { ssh_user: 'root' },
    head_start_ray_commands: ['ray stop', `ulimit -c unlimited; ${headStart}`],
    worker_start_ray_commands: ['ray stop', `ulimit -c unlimited; ${workerStart}`],
  });

export interface RayProviderConfig {
  readonly endpoint: string;
  readonly token: string;
  readonly login: { readonly user: string; readonly public_key: string };
}

/** Everything that `ray up` would have filled in: v2's monitor takes the file as it stands. */
export const rayFile = (shape: Shape, provider: RayProviderConfig): string =>
  JSON.stringify({
    ...shared(shape),
    provider: { type: 'external', module: 'lab_cloud_provider.LabCloudNodeProvider', ...provider },
    auth: { ssh_user: 'root', ssh_private_key: '~/.ssh/id_ed25519' },
    docker: {},
    file_mounts: {},
    cluster_synced_files: [],
    file_mounts_sync_continuously: false,
    rsync_exclude: [],
    rsync_filter: [],
    initialization_commands: [],
    setup_commands: [],
    head_setup_commands: [],
    worker_setup_commands: [],
    head_start_ray_commands: [],
    worker_start_ray_commands: ['ray stop', `ulimit -c unlimited; RAY_AUTH_MODE=disabled ${workerStart}`],
  });

function shared({ types, most, idleSeconds, upscalingSpeed = 1 }: Shape): Record<string, unknown> {
  const worker = (name: string): Record<string, unknown> => ({
    node_config: { machine_type: 'small' },
    resources: { CPU: 1, [name]: 1 },
    min_workers: 0,
    max_workers: most,
  });
  return {
    cluster_name: clusterName,
    max_workers: Math.max(20, 3 * most),
    upscaling_speed: upscalingSpeed,
    idle_timeout_minutes: idleSeconds / 60,
    head_node_type: 'head',
    available_node_types: {
      head: { node_config: { machine_type: 'small' }, resources: { CPU: 0 }, min_workers: 0, max_workers: 0 },
      ...Object.fromEntries(types.map((name) => [name, worker(name)])),
    },
  };
}
