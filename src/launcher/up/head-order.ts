import { randomBytes } from 'node:crypto';
import type { NodeFiles, NodeOrder } from '../../bringup/node/node.ts';
import { gcsPortOf, headOrder } from '../../bringup/node/order.ts';
import { hasTokenMode, rayVersions } from '../../bringup/ray/versions.ts';
import { findStaging } from '../../bringup/sync/staging.ts';
import { stagedPath } from '../../bringup/sync/sync.ts';
import type { HeadIdentity } from '../../providers/clouds.ts';
import { type RayHead, readLaptopRecord } from '../../state/cluster-record.ts';
import { launcherEvents } from '../events.ts';
import { type HeadLook, idByKey } from '../head/look.ts';
import type { UpRemoteRequest } from './remote.ts';

/** Ray's own page; what users talk to on 8265 is mantad. */
const dashboardPort = 8264;

/** What mantad is told of the head it runs on. */
export async function rayHeadFor(
  { cluster, loginShells, usageStats, noRestart }: UpRemoteRequest,
  files: NodeFiles,
  { look, identity }: { readonly look: HeadLook; readonly identity: HeadIdentity | undefined },
  signal: AbortSignal,
): Promise<RayHead> {
  const { head: host, spec, name } = cluster;
  const before = look.cluster;
  const { remote } = readLaptopRecord(cluster.folder) ?? {};
  return {
    id: before?.ray.id ?? remote?.clusterId ?? idByKey(look, 'cluster'),
    instance:
      remote?.instance ?? before?.ray.instance ?? look.record?.instance ?? `head-${idByKey(look, 'head').slice(0, 12)}`,
    address: cluster.headInside,
    gcsPort: gcsPortOf(spec),
    dashboardPort,
    loginShells,
    usageStats,
    ...(noRestart && { leaveWorkers: true }),
    ...(identity && { identity: identity.kind }),
    ...(remote?.prepared && { prepared: remote.prepared }),
    mounts: mountsOnHead(spec.head.container !== undefined ? await findStaging(host, name, { signal }) : '', files),
  };
}

/** The node that is made of the head's host. */
export function headOrderFor(
  { cluster: { spec } }: UpRemoteRequest,
  { address, loginShells, usageStats, instance }: RayHead,
  files: NodeFiles,
  token: string | undefined,
): NodeOrder {
  const shared = { spec, headAddress: address, loginShells, usageStats, dashboardPort };
  return headOrder({ ...shared, ...(token !== undefined && { token }) }, instance, files);
}

/** Ray's token; none where the Ray on the head knows of none and the file says that this is wanted. */
export async function tokenFor(
  { cluster, loginShells, events }: UpRemoteRequest,
  look: HeadLook,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (cluster.spec.provider.manta.allowNoAuth) {
    const found = await rayVersions(cluster.head, { loginShells }, cluster.place, signal).catch(() => undefined);
    if (found !== undefined && !hasTokenMode(found)) {
      events.emit(launcherEvents.noAuth, { version: found.ray });
      return undefined;
    }
  }
  return look.rayToken ?? randomBytes(32).toString('hex');
}

/** Where the mounts lie on the head's own host, from which its workers get them. */
const mountsOnHead = (staging: string, { mounts }: NodeFiles): RayHead['mounts'] =>
  mounts.map(({ remote, directory }) => ({
    remote,
    local: staging === '' ? remote : stagedPath(staging, remote),
    directory,
  }));
