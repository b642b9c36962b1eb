import type { InstanceView } from '../instance.ts';
import { isPending } from '../lifecycle.ts';
import { end, mayEnd } from './limits.ts';
import type { Bin } from './packing/bin.ts';
import type { Pass } from './pass.ts';

/** Ends what is left of a slice that has lost a host: its hosts only work together. */
export function endBrokenSlices(pass: Pass): void {
  if (!mayEnd(pass)) return;
  const slices = new Map<string, Bin[]>();
  for (const bin of pass.bins) {
    const slice = bin.instance?.slice;
    if (slice === undefined || bin.state.type.hosts === 1 || bin.state.head) continue;
    const hosts = slices.get(slice);
    if (hosts === undefined) slices.set(slice, [bin]);
    else hosts.push(bin);
  }
  for (const [slice, hosts] of slices) {
    const { type } = (hosts[0] as Bin).state;
    const ending = hosts.find((bin) => bin.fate === 'end');
    if (ending?.end !== undefined) for (const bin of hosts) if (bin.fate !== 'end') end(bin, ending.end);
    if (hosts.length >= type.hosts || hosts.some(({ instance }) => isForming(instance))) continue;
    for (const bin of hosts) if (bin.fate !== 'end') end(bin, { kind: 'slice-broken', slice });
  }
}

/** Hosts of a slice that the provider has not answered for may still turn up. */
const isForming = (instance: InstanceView | undefined): boolean =>
  instance !== undefined &&
  isPending(instance.status) &&
  (instance.status === 'queued' || instance.status === 'requested');
