import { warning } from '../../core/spec/problems.ts';

/** What files for these clouds may say and what nearly always hurts later. */
export const cloudProblems = {
  OldAmi: warning<{ type: string; given: string }>('OLD_AMI', {
    title: 'a machine image that changes (AWS)',
    meaning:
      'Without ImageId, or with latest_dlami, Manta uses the Ubuntu Deep Learning AMI that is current when `up` runs. Ray uses a fixed one with Ubuntu 18.04, which has had no updates since 2023.',
    hint: 'set ImageId in node_config to have the same image every time',
    message: (e) =>
      `node type '${e.type}' ${e.given}: Manta uses the current Deep Learning AMI; Ray uses one with Ubuntu 18.04`,
  }),
  StoppedDisks: warning<{ provider: string }>('STOPPED_DISKS', {
    title: 'cache_stopped_nodes is not set',
    meaning:
      'Without it, Manta terminates idle instances. Ray only stops them, and those of a cluster that was shut down: you keep paying for their disks.',
    hint: 'set `cache_stopped_nodes: false`, or `true` to stop idle on-demand workers and keep their disks',
    message: (e) =>
      `cache_stopped_nodes is not set: Manta terminates idle instances; Ray stops them on ${e.provider}, and you keep paying for their disks`,
  }),
  OpenPort: warning<{ ports: string; range: string }>('OPEN_PORT', {
    title: 'ports open to the world',
    meaning: "Anyone who can reach Ray's ports can run code. A rule opens ports other than SSH to every address.",
    hint: 'remove the rule, or narrow its CidrIp; `manta dashboard` and jobs use SSH',
    message: (e) =>
      `security_group opens ${e.ports} to ${e.range}: anyone who can reach Ray's ports can run code on the cluster`,
  }),
  KeyNameMissing: warning<{ types: string }>('KEY_NAME_MISSING', {
    title: 'a private key without KeyName (AWS)',
    meaning:
      'Ray needs the name of the key pair that your private key belongs to. Manta does not: it creates a key pair from your key.',
    hint: 'add KeyName to the node_config of every node type if the file is for Ray too',
    message: (e) =>
      `auth.ssh_private_key is set but node_config of ${e.types} has no KeyName: Manta creates a key pair from your key; Ray refuses the file`,
  }),
  ZoneOutsideRegion: warning<{ zone: string; region: string }>('ZONE_OUTSIDE_REGION', {
    title: 'a zone in another region',
    meaning: "A zone's name starts with its region; this one belongs to another region.",
    hint: 'correct region or availability_zone',
    message: (e) => `zone '${e.zone}' is not in region '${e.region}'`,
  }),
  HalfKeyPair: warning<{ given: string; missing: string }>('HALF_KEY_PAIR', {
    title: 'one half of a key pair (Azure)',
    meaning: 'Azure needs both paths of a key pair, or creates a pair when neither is given.',
    hint: 'set both ssh_private_key and ssh_public_key, or neither',
    message: (e) => `auth has ${e.given} but no ${e.missing}`,
  }),
  GpuMaintenance: warning<{ type: string }>('GPU_MAINTENANCE', {
    title: 'a GPU machine without onHostMaintenance (GCP)',
    meaning:
      'Google Cloud launches GPU machines only if they terminate on host maintenance. Manta adds it; Ray does not.',
    hint: 'add `scheduling: [{onHostMaintenance: TERMINATE}]` to node_config',
    message: (e) =>
      `node type '${e.type}' has guestAccelerators but no onHostMaintenance: TERMINATE: Google refuses that, so Manta adds it`,
  }),
};
