import type { PlainMap } from '../../core/spec/cluster.ts';
import { key } from '../../core/spec/keys/key.ts';
import type { ProviderFacts } from '../../core/spec/provider-facts.ts';
import { bootstrapFile, noFiles, noSetup } from '../ray-defaults.ts';
import { cloudLimits } from './cloud-defaults.ts';
import { namespace } from './kuberay.ts';

const defaults: PlainMap = {
  ...cloudLimits,
  cluster_name: 'ray-cluster',
  max_workers: 5,
  docker: {
    image: 'rayproject/ray-ml:latest',
    container_name: 'ray_container',
    pull_before_run: true,
    run_options: ['--ulimit nofile=65536:65536'],
  },
  provider: { type: 'vsphere' },
  auth: { ssh_user: 'ray', ssh_private_key: '~/ray-bootstrap-key.pem' },
  available_node_types: {
    'ray.head.default': { resources: {} },
    worker: { min_workers: 1, max_workers: 3, resources: {} },
    worker_2: { min_workers: 1, max_workers: 2, resources: {} },
  },
  head_node_type: 'ray.head.default',
  ...noFiles,
  ...noSetup,
  head_start_ray_commands: [
    'ray stop',
    `ulimit -n 65536; ray start --head --port=6379 --autoscaling-config=${bootstrapFile} --dashboard-host=0.0.0.0`,
  ],
  worker_start_ray_commands: ['ray stop', 'ulimit -n 65536; ray start --address=$RAY_HEAD_IP:6379'],
};

export const vsphere: ProviderFacts = {
  name: 'vsphere',
  kind: 'cloud',
  keys: [
    key('provider.vsphere_config', 'map', 'How to reach the Supervisor and what to create there.', {
      open: true,
      nullable: true,
    }),
    namespace,
  ],
  defaults,
  ray: 'defaults',
};
