/** What Ray's own schema asks of a prepared config, as data. */
export type Rule =
  | { readonly kind: 'anything' }
  | { readonly kind: 'text'; readonly nullable?: boolean; readonly oneOf?: readonly string[] }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'integer' | 'number'; readonly minimum?: number }
  | { readonly kind: 'list'; readonly items?: Rule }
  | MapRule;

export interface MapRule {
  readonly kind: 'mapping';
  readonly keys?: Readonly<Record<string, Rule>>;
  readonly required?: readonly string[];
  /** No other keys than `keys`. */
  readonly closed?: boolean;
  /** For every key, whatever its name; keys must be text. */
  readonly each?: Rule;
  /** When the first key is true, the second must be there. */
  readonly needs?: readonly [flag: string, key: string];
}

const anything: Rule = { kind: 'anything' };
const text: Rule = { kind: 'text' };
const boolean: Rule = { kind: 'boolean' };
const list: Rule = { kind: 'list' };
const mapping: Rule = { kind: 'mapping' };
const integer: Rule = { kind: 'integer' };
const commands: Rule = { kind: 'list', items: text };

const provider: Rule = {
  kind: 'mapping',
  required: ['type'],
  keys: {
    type: text,
    region: text,
    module: text,
    head_ip: text,
    worker_ips: list,
    use_internal_ips: boolean,
    namespace: text,
    location: text,
    resource_group: text,
    tags: mapping,
    subscription_id: text,
    msi_identity_id: text,
    msi_identity_principal_id: text,
    subnet_id: text,
    autoscaler_service_account: mapping,
    autoscaler_role: mapping,
    autoscaler_role_binding: mapping,
    cache_stopped_nodes: boolean,
    availability_zone: text,
    project_id: { kind: 'text', nullable: true },
    security_group: { kind: 'mapping', closed: true, keys: { GroupName: text, IpPermissions: list } },
    disable_node_updaters: boolean,
    gcp_credentials: {
      kind: 'mapping',
      closed: true,
      required: ['type'],
      keys: { type: { kind: 'text', oneOf: ['credentials_token', 'service_account'] }, credentials: text },
    },
  },
};

const auth: Rule = {
  kind: 'mapping',
  closed: true,
  needs: ['ssh_proxy_use_node_id', 'ssh_proxy_command'],
  keys: {
    ssh_user: text,
    ssh_public_key: text,
    ssh_private_key: text,
    ssh_proxy_command: text,
    ssh_proxy_use_node_id: boolean,
  },
};

const container: Rule = {
  kind: 'mapping',
  closed: true,
  keys: {
    image: text,
    container_name: text,
    pull_before_run: boolean,
    run_options: list,
    head_image: text,
    head_run_options: list,
    worker_image: text,
    worker_run_options: list,
    disable_automatic_runtime_detection: boolean,
    disable_shm_size_detection: boolean,
    use_podman: boolean,
  },
};

const nodeType: Rule = {
  kind: 'mapping',
  closed: true,
  required: ['resources', 'node_config'],
  keys: {
    node_config: mapping,
    min_workers: integer,
    max_workers: integer,
    idle_timeout_s: { kind: 'number' },
    priority: integer,
    resources: { kind: 'mapping', each: { kind: 'integer', minimum: 0 } },
    labels: { kind: 'mapping', each: text },
    initialization_commands: commands,
    worker_setup_commands: commands,
    docker: {
      kind: 'mapping',
      closed: true,
      keys: { pull_before_run: boolean, worker_image: text, worker_run_options: list },
    },
  },
};

export const configRule: MapRule = {
  kind: 'mapping',
  closed: true,
  required: ['cluster_name', 'provider'],
  keys: {
    cluster_name: text,
    max_workers: { kind: 'integer', minimum: 0 },
    upscaling_speed: { kind: 'number', minimum: 0 },
    idle_timeout_minutes: { kind: 'number', minimum: 0 },
    provider,
    auth,
    docker: container,
    head_node_type: text,
    file_mounts: mapping,
    cluster_synced_files: list,
    file_mounts_sync_continuously: boolean,
    rsync_exclude: list,
    rsync_filter: list,
    metadata: mapping,
    initialization_commands: commands,
    setup_commands: commands,
    head_setup_commands: commands,
    worker_setup_commands: commands,
    head_start_ray_commands: commands,
    worker_start_ray_commands: commands,
    no_restart: anything,
    available_node_types: { kind: 'mapping', each: nodeType },
  },
};
