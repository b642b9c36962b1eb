import type { ClusterSpec } from '../core/spec/cluster.ts';
import type { InstanceAddress } from '../providers/provider.ts';

/** Where the head of a cloud's cluster is found, each as far as it is known. */
export interface HeadAddresses {
  /** As the machine that commands are given on reaches it. */
  readonly forLaptop?: string;
  /** As workers, Ray and mantad reach it. */
  readonly forWorkers?: string;
}

/** Whether the laptop uses the address inside even where there is another: as Ray reads these keys. */
export function usesInside({ provider: { config } }: ClusterSpec): boolean {
  return config.use_internal_ips === true && config.use_external_head_ip !== true;
}

/** An instance that has no address outside is reached inside by everyone, such as through a proxy command. */
export function headAddresses({ inside, outside }: InstanceAddress, spec: ClusterSpec): HeadAddresses {
  const forLaptop = usesInside(spec) ? inside : (outside ?? inside);
  const forWorkers = inside ?? outside;
  return { ...(forLaptop !== undefined && { forLaptop }), ...(forWorkers !== undefined && { forWorkers }) };
}
