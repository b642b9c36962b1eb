import { key } from '../../core/spec/keys/key.ts';
import type { OwnHostsDescriptor } from '../descriptor.ts';
import { bootstrapFile, noFiles, noSetup } from '../ray-defaults.ts';

export const local: OwnHostsDescriptor = {
  name: 'local',
  kind: 'own-hosts',
  instances: 'your own machines, over SSH',
  keys: [
    key('provider.head_ip', 'string', 'Host of the head.', { example: '10.0.0.1' }),
    key(
      'provider.worker_ips',
      'list',
      'Hosts of the workers. All of them become workers unless max_workers is lower.',
      { example: ['10.0.0.2', '10.0.0.3'] },
    ),
    key('provider.external_head_ip', 'string', 'Address of the head as seen from outside.', {
      nullable: true,
      example: '203.0.113.7',
    }),
    key(
      'provider.coordinator_address',
      'string',
      'Coordinator that hands out hosts, as host:port, instead of head_ip and worker_ips.',
      { nullable: true, example: '10.0.0.9:1234' },
    ),
    key('provider.worker_node_ips', 'list', 'Short-lived other name of worker_ips (2023).', {
      example: ['10.0.0.2'],
      legacy: 'provider.worker_ips',
    }),
  ],
  defaults: {
    cluster_name: 'default',
    auth: {},
    upscaling_speed: 1,
    idle_timeout_minutes: 5,
    docker: {},
    ...noSetup,
    head_start_ray_commands: [
      'ray stop',
      `ulimit -c unlimited; ray start --head --port=6379 --autoscaling-config=${bootstrapFile}`,
    ],
    worker_start_ray_commands: ['ray stop', 'ray start --address=$RAY_HEAD_IP:6379'],
    ...noFiles,
  },
  ray: 'defaults',
  offers: { markets: ['on-demand'] },
  completesResources: true,
  load: () => import('./provider.ts'),
};
