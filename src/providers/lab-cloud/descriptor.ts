import { key } from '../../core/spec/keys/key.ts';
import { isText } from '../../core/spec/plain.ts';
import type { CloudDescriptor } from '../descriptor.ts';
import { availabilityZone, cacheStoppedNodes } from '../shared-keys.ts';

const nodeConfig = 'available_node_types.<type>.node_config';

export const labCloud: CloudDescriptor = {
  name: 'lab_cloud',
  kind: 'cloud',
  machineOf: ({ machine_type: name }) => (isText(name) ? name : undefined),
  instances: 'hosts of a lab, from a small cloud for tests',
  internal: true,
  keys: [
    availabilityZone('those that the cloud chooses'),
    cacheStoppedNodes,
    key('provider.endpoint', 'string', 'Address of the API of a lab cloud.', {
      manta: true,
      example: 'http://10.77.0.254:8700',
    }),
    key('provider.token_file', 'string', "File with the token of the lab cloud's account.", {
      manta: true,
      example: '~/.lab-cloud-token',
    }),
    key('provider.token_env', 'string', 'Environment variable with the token; used without token_file.', {
      manta: true,
      default: 'LAB_CLOUD_TOKEN',
      example: 'LAB_CLOUD_TOKEN',
    }),
    key(`${nodeConfig}.machine_type`, 'string', 'Machine type of the lab cloud.', { required: true, example: 'small' }),
    key(`${nodeConfig}.zone`, 'string', 'Zone of the instances.', {
      default: 'provider.availability_zone',
      example: 'a',
    }),
    key(`${nodeConfig}.market`, 'string', 'Market to ask.', {
      choices: ['on-demand', 'spot'],
      default: 'on-demand',
      example: 'spot',
    }),
  ],
  offers: {
    markets: ['on-demand', 'spot'],
    zones: true,
    zoneOf: ({ zone }) => (typeof zone === 'string' ? zone : undefined),
    isSpot: ({ market }) => market === 'spot',
  },
  load: () => import('./provider.ts'),
};
