import { key } from '../../../../src/core/spec/keys/key.ts';
import type { CloudDescriptor } from '../../../../src/providers/descriptor.ts';
import { availabilityZone } from '../../../../src/providers/shared-keys.ts';

export const tiny: CloudDescriptor = {
  name: 'tiny',
  kind: 'cloud',
  instances: 'files in a folder',
  keys: [
    availabilityZone('any'),
    key('provider.account_folder', 'string', 'Folder that stands for the account.', { example: '/srv/tiny' }),
    key('available_node_types.<type>.node_config.size', 'string', 'Size of the instances.', { example: 'small' }),
  ],
  defaults: {
    cluster_name: 'default',
    available_node_types: {
      head: { resources: { CPU: 1 }, node_config: { size: 'small' } },
      worker: { resources: { CPU: 2 }, node_config: { size: 'small' }, min_workers: 2 },
    },
    head_node_type: 'head',
    auth: { ssh_user: 'tina' },
  },
  offers: { markets: ['on-demand', 'spot'], zones: true, isSpot: ({ spot }) => spot === true },
  likelyResources: ({ size }) => (size === 'large' ? { CPU: 64 } : undefined),
  needs: ['account_folder'],
  load: () => import('./provider.ts'),
};
