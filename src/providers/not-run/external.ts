import { key } from '../../core/spec/keys/key.ts';
import type { ProviderFacts } from '../../core/spec/provider-facts.ts';

/** A provider of the user's own, in Python. */
export const external: ProviderFacts = {
  name: 'external',
  kind: 'cloud',
  keys: [
    key('provider.module', 'string', 'Python class of the provider, as package.module.Class.', {
      example: 'my_cloud.MyProvider',
    }),
  ],
  defaults: {
    available_node_types: { 'ray.head.default': {}, 'ray.worker.default': {} },
    head_node_type: 'ray.head.default',
    head_node: {},
    worker_nodes: {},
  },
  ray: 'defaults',
  offers: { markets: ['on-demand', 'spot'] },
};
