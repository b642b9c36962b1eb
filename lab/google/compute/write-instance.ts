import type { Disk } from '../../cloud/belongings.ts';
import type { CloudInstance, Snapshot } from '../../cloud/instance.ts';
import { fingerprintOf, lastOf, linkOf, time } from '../names.ts';
import type { Facts, GoogleWorld } from '../world.ts';
import { isSpot } from './launch-plan.ts';
import { writeMetadata } from './metadata.ts';

/** As Compute Engine calls it: what is stopped is TERMINATED, and what is deleted is not there. */
function statusOf({ state, address, preemptionAt }: Snapshot): string {
  switch (state) {
    case 'pending':
      return address === undefined ? 'PROVISIONING' : 'STAGING';
    case 'running':
      return preemptionAt === undefined ? 'RUNNING' : 'STOPPING';
    case 'stopped':
      return 'TERMINATED';
    default:
      return 'STOPPING';
  }
}

/** Labels of an instance have a fingerprint of their own. */
export const labelFingerprint = (labels: Readonly<Record<string, string>>, { changes }: Facts): string =>
  fingerprintOf([labels, changes]);

export function writeInstance(
  world: GoogleWorld,
  instance: CloudInstance,
  snapshot: Snapshot,
  disks: readonly Disk[] = world.disksOf(instance.id),
): object {
  const facts = world.facts(instance)!;
  const { body, name, subnetwork, account, type } = facts;
  const zone = `projects/${instance.account}/zones/${instance.zone}`;
  const spot = isSpot(body);
  const [given] = body.networkInterfaces ?? [];
  const nat = given?.accessConfigs?.[0];
  const { labels: _labels, metadata: _metadata, ...asked } = body;
  return {
    ...asked,
    kind: 'compute#instance',
    id: facts.number,
    name,
    creationTimestamp: time(instance.launchedAt),
    zone: linkOf(zone),
    machineType: linkOf(`${zone}/machineTypes/${type.name}`),
    status: statusOf(snapshot),
    ...(snapshot.reason !== undefined && { statusMessage: snapshot.reason }),
    cpuPlatform: 'Intel Haswell',
    selfLink: linkOf(`${zone}/instances/${name}`),
    ...(snapshot.state === 'running' && { lastStartTimestamp: time(snapshot.at) }),
    ...(snapshot.state === 'stopped' && { lastStopTimestamp: time(snapshot.at) }),
    canIpForward: body.canIpForward ?? false,
    deletionProtection: body.deletionProtection ?? false,
    startRestricted: false,
    fingerprint: fingerprintOf([instance.id, facts.changes]),
    tags: { ...body.tags, fingerprint: fingerprintOf(body.tags ?? {}) },
    ...(Object.keys(snapshot.tags).length > 0 && { labels: snapshot.tags }),
    labelFingerprint: labelFingerprint(snapshot.tags, facts),
    metadata: writeMetadata(facts.metadata, facts.changes),
    ...(body.guestAccelerators && {
      guestAccelerators: body.guestAccelerators.map(({ acceleratorType = '', acceleratorCount = 0 }) => ({
        acceleratorType: linkOf(`${zone}/acceleratorTypes/${lastOf(acceleratorType)}`),
        acceleratorCount,
      })),
    }),
    ...(account && { serviceAccounts: [account] }),
    scheduling: {
      onHostMaintenance: spot ? 'TERMINATE' : 'MIGRATE',
      automaticRestart: !spot,
      ...body.scheduling,
      preemptible: spot,
      provisioningModel: body.scheduling?.provisioningModel ?? 'STANDARD',
    },
    disks: disks.map((disk, index) => writeAttached(world, zone, disk, index)),
    networkInterfaces: [
      {
        kind: 'compute#networkInterface',
        name: 'nic0',
        fingerprint: fingerprintOf(instance.id),
        stackType: 'IPV4_ONLY',
        network: linkOf(subnetwork.network),
        subnetwork: linkOf(subnetwork.link),
        ...(snapshot.address !== undefined && { networkIP: snapshot.address }),
        ...(nat && {
          accessConfigs: [
            {
              kind: 'compute#accessConfig',
              type: 'ONE_TO_ONE_NAT',
              name: nat.name ?? 'external-nat',
              networkTier: 'PREMIUM',
              ...(snapshot.outside !== undefined && { natIP: snapshot.outside }),
            },
          ],
        }),
      },
    ],
  };
}

function writeAttached(world: GoogleWorld, zone: string, disk: Disk, index: number): object {
  return {
    kind: 'compute#attachedDisk',
    type: disk.kind === 'local-ssd' ? 'SCRATCH' : 'PERSISTENT',
    mode: 'READ_WRITE',
    source: linkOf(`${zone}/disks/${world.diskNames.get(disk.id) ?? disk.id}`),
    deviceName: disk.device,
    index,
    boot: index === 0,
    autoDelete: disk.deleteWithInstance,
    interface: disk.kind === 'local-ssd' ? 'NVME' : 'SCSI',
    diskSizeGb: String(disk.gib),
  };
}
