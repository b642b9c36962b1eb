import type { ThisMachineDescriptor } from '../descriptor.ts';
import { readFaults } from './faults.ts';

export const process: ThisMachineDescriptor = {
  name: 'process',
  kind: 'this-machine',
  instances: 'processes of this machine',
  /** A head and as many workers as are asked for. */
  defaults: {
    cluster_name: 'default',
    available_node_types: { head: { resources: {}, node_config: {} }, worker: { resources: {}, node_config: {} } },
    head_node_type: 'head',
  },
  offers: { markets: ['on-demand'] },
  check: (spec) => void readFaults(spec.provider.manta.faults),
  load: () => import('./provider.ts'),
};
