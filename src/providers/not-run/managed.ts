import type { Plain, PlainMap } from '../../core/spec/cluster.ts';
import { key } from '../../core/spec/keys/key.ts';
import type { ProviderFacts } from '../../core/spec/provider-facts.ts';
import { setPythonFacts } from '../../core/spec/yaml/python.ts';
import { noFiles, noSetup } from '../ray-defaults.ts';
import { gcsAddress } from './kuberay.ts';

/** Providers that look after nodes which something else starts. */

const noCommands: PlainMap = { ...noSetup, head_start_ray_commands: [], worker_start_ray_commands: [] };

function managedElsewhere(type: string, name: string, maxWorkers: number, nodeTypes: PlainMap): Record<string, Plain> {
  return {
    cluster_name: name,
    max_workers: maxWorkers,
    provider: { type, use_node_id_as_ip: true, disable_node_updaters: true, disable_launch_config_check: true },
    available_node_types: nodeTypes,
    head_node_type: 'ray.head.default',
    upscaling_speed: 1,
    auth: {},
    docker: {},
    ...noCommands,
    ...noFiles,
  };
}

const fixedHead = (resources: PlainMap): PlainMap => ({ resources, node_config: {}, max_workers: 0 });
const fakeWorker = (resources: PlainMap, minWorkers: number, maxWorkers: number): PlainMap => ({
  resources: { ...resources, object_store_memory: 1_000_000_000 },
  node_config: {},
  min_workers: minWorkers,
  max_workers: maxWorkers,
});

export const readonlyCluster: ProviderFacts = {
  name: 'readonly',
  kind: 'elsewhere',
  defaults: managedElsewhere('readonly', 'default', 0, { 'ray.head.default': fixedHead({}) }),
  ray: 'defaults',
};

/** Its idle timeout is a float, and Python shows that. */
export function sparkDefaults(): PlainMap {
  const types = { 'ray.head.default': fixedHead({ CPU: 8, GPU: 0 }), 'ray.worker': fakeWorker({ CPU: 1 }, 0, 4) };
  const defaults = { ...managedElsewhere('spark', 'spark', 8, types), idle_timeout_minutes: 1 };
  setPythonFacts(defaults, { floats: new Set(['idle_timeout_minutes']), keys: new Map() });
  return defaults;
}

const fakeKeys = [
  key('provider.use_node_id_as_ip', 'boolean', 'The id of a node is its address.', { nullable: true, example: true }),
  key('provider.head_node_id', 'any', 'Node id of the head.'),
  key('provider.launch_multiple', 'boolean', 'Launch several nodes in one call.', { nullable: true }),
];

/** The defaults of the fake providers are those of the last wheels that shipped them. */
export const fakeMultinode: ProviderFacts = {
  name: 'fake_multinode',
  kind: 'elsewhere',
  keys: [...fakeKeys, gcsAddress],
  defaults: {
    ...managedElsewhere('fake_multinode', 'fake_multinode', 8, {
      'ray.head.default': fixedHead({ CPU: 8, GPU: 0 }),
      'ray.worker.cpu': fakeWorker({ CPU: 1 }, 0, 4),
      'ray.worker.gpu': fakeWorker({ CPU: 4, GPU: 1 }, 0, 2),
    }),
    idle_timeout_minutes: 0.1,
  },
  ray: 'defaults',
};

export const fakeMultinodeDocker: ProviderFacts = {
  name: 'fake_multinode_docker',
  kind: 'elsewhere',
  keys: fakeKeys,
  defaults: {
    ...managedElsewhere('fake_multinode_docker', 'fake_docker', 8, {
      'ray.head.default': fixedHead({ CPU: 4, GPU: 0 }),
      'ray.worker.cpu': fakeWorker({ CPU: 2 }, 1, 4),
      'ray.worker.gpu': fakeWorker({ CPU: 4, GPU: 1 }, 1, 2),
    }),
    provider: {
      type: 'fake_multinode_docker',
      disable_launch_config_check: true,
      disable_node_updaters: true,
      project_name: 'fake_docker',
      image: 'rayproject/ray:nightly',
      shared_volume_dir: '/tmp/fake_docker',
      head_resources: { CPU: 4, GPU: 0 },
    },
    auth: { ssh_user: 'ubuntu' },
    idle_timeout_minutes: 0.1,
  },
  ray: 'defaults',
};
