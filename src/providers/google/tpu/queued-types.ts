import type { ClusterSpec } from '../../../core/spec/cluster.ts';
import { isSlice } from '../slice-shape.ts';

/** Whether a type of the file asks for slices by requests that wait. */
export const hasQueued = ({ nodeTypes, provider }: ClusterSpec): boolean =>
  nodeTypes.some(
    ({ name, offers, launchConfig }) =>
      isSlice(launchConfig) &&
      (provider.manta.nodeTypes.get(name)?.queued === true || offers.some(({ market }) => market === 'reserved')),
  );
