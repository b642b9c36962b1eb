/** Which names lead where, by what the API server says: https://github.com/kubernetes/dns/blob/master/docs/specification.md */

interface Metadata {
  readonly name: string;
  readonly namespace: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface Service {
  readonly metadata: Metadata;
  readonly spec: { readonly clusterIP?: string };
}

export interface EndpointSlice {
  readonly metadata: Metadata;
  readonly addressType: string;
  readonly endpoints?: readonly {
    readonly addresses: readonly string[];
    /** True for every pod of a Service that publishes those that are not ready. */
    readonly conditions?: { readonly ready?: boolean | null };
    readonly hostname?: string;
  }[];
}

const zone = 'svc.cluster.local';

/** Addresses by name. A headless Service has those of its pods, and may have none. */
export function namesOf(
  services: Iterable<Service>,
  slices: Iterable<EndpointSlice>,
): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  const add = (name: string, addresses: readonly string[]): void =>
    void names.set(name, [...(names.get(name) ?? []), ...addresses]);
  for (const { metadata, spec } of services)
    add(`${metadata.name}.${metadata.namespace}.${zone}`, /^\d/.test(spec.clusterIP ?? '') ? [spec.clusterIP!] : []);
  const headless = new Set([...names].filter(([, addresses]) => addresses.length === 0).map(([name]) => name));
  for (const { metadata, addressType, endpoints = [] } of slices) {
    const service = `${metadata.labels?.['kubernetes.io/service-name']}.${metadata.namespace}.${zone}`;
    if (addressType !== 'IPv4' || !headless.has(service)) continue;
    for (const { addresses, conditions, hostname } of endpoints ?? []) {
      if (conditions?.ready === false) continue;
      add(service, addresses);
      if (hostname !== undefined) add(`${hostname}.${service}`, addresses);
    }
  }
  return names;
}
