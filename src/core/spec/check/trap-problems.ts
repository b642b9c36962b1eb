import { rayVersion } from '../../ray-version.ts';
import { warning } from '../problems.ts';

/** What is allowed and nearly always hurts later. */
export const trapProblems = {
  OldAmi: warning<{ type: string; given: string }>('OLD_AMI', {
    title: 'no machine image of its own (AWS)',
    meaning:
      'Without ImageId, or with latest_dlami, Ray takes a fixed Deep Learning AMI with Ubuntu 18.04, which has had no updates since 2023.',
    hint: 'set ImageId in node_config to an image of today',
    message: (e) => `node type '${e.type}' ${e.given}: that is Ubuntu 18.04`,
  }),
  StoppedDisks: warning<{ provider: string }>('STOPPED_DISKS', {
    title: 'instances are stopped, not ended',
    meaning:
      'cache_stopped_nodes is true by default: idle instances, and those of a cluster taken down, are stopped, and their disks go on costing.',
    hint: 'write `cache_stopped_nodes: false`, or `true` to keep it that way knowingly',
    message: (e) =>
      `on ${e.provider} cache_stopped_nodes is true unless the file says otherwise: stopped instances keep their disks, which go on costing`,
  }),
  SpotHead: warning<{ type: string }>('SPOT_HEAD', {
    title: 'the head on the spot market',
    meaning: 'When the provider takes the head away, the whole cluster is lost with it.',
    hint: 'give the head a node type of its own, on demand',
    message: (e) => `the head's node type '${e.type}' is on the spot market: losing it ends the cluster`,
  }),
  OldWheel: warning<{ wheel: string; why: string }>('OLD_WHEEL', {
    title: 'a Ray wheel that cannot be installed any more',
    meaning:
      "The URL of a nightly wheel goes when Ray's version moves on, and Ray of today has no wheels for Python up to 3.9.",
    hint: `install a release: pip install -U 'ray[default]==${rayVersion}'`,
    message: (e) => `${e.wheel}: ${e.why}`,
  }),
  RedisFlags: warning<{ flag: string; now: string }>('REDIS_FLAGS', {
    title: 'options that `ray start` no longer has',
    meaning: '`--redis-port` and `--redis-address` were renamed in Ray 1.0 and removed in 2.0.',
    hint: 'write --port and --address',
    message: (e) => `\`ray start\` no longer has ${e.flag}`,
    advise: (e) => `write ${e.now}`,
  }),
  NoRayStart: warning<{ key: string }>('NO_RAY_START', {
    title: 'start commands that do not start Ray',
    meaning: 'None of the commands that should start Ray holds `ray start`.',
    hint: "add `ray start …`, or remove the key to take the provider's default",
    message: (e) => `no command in '${e.key}' runs \`ray start\``,
  }),
  TypeSetupReplaces: warning<{ type: string; count: number }>('TYPE_SETUP_REPLACES', {
    title: "a type's set-up commands replace all others",
    meaning:
      "worker_setup_commands of a node type stand in place of the cluster's worker_setup_commands and of setup_commands too.",
    hint: 'repeat in them what the workers of this type need',
    message: (e) =>
      `node type '${e.type}' has worker_setup_commands of its own: the ${e.count} commands of setup_commands and worker_setup_commands do not run on its workers`,
  }),
  NotRepeatable: warning<{ command: string }>('NOT_REPEATABLE', {
    title: 'a set-up command that fails the second time',
    meaning: 'Set-up commands run again when the file changes. `git clone` fails when its directory is already there.',
    hint: 'write `test -e DIR || git clone …`',
    message: (e) => `\`${e.command}\` fails when set-up runs again: the directory is there then`,
  }),
  ZoneOutsideRegion: warning<{ zone: string; region: string }>('ZONE_OUTSIDE_REGION', {
    title: 'a zone of another region',
    meaning: 'A zone bears the name of its region; this one belongs to another.',
    hint: 'correct region or availability_zone',
    message: (e) => `zone '${e.zone}' is not in region '${e.region}'`,
  }),
  OpenPort: warning<{ ports: string; range: string }>('OPEN_PORT', {
    title: 'ports open to the world',
    meaning: "Ray's ports let anyone who reaches them run code. A rule opens ports other than SSH to every address.",
    hint: 'remove the rule, or narrow its CidrIp; `manta dashboard` and jobs go through SSH',
    message: (e) =>
      `security_group opens ${e.ports} to ${e.range}: who reaches Ray's ports can run code on the cluster`,
  }),
  KeyNameMissing: warning<{ types: string }>('KEY_NAME_MISSING', {
    title: 'a private key without KeyName (AWS)',
    meaning: 'With a private key of your own, AWS must know which key pair to put on the instances.',
    hint: 'add KeyName to the node_config of every node type, or remove ssh_private_key to have a key pair made',
    message: (e) => `auth.ssh_private_key is set and node_config of ${e.types} has no KeyName: login will fail`,
  }),
  ProviderKeyMissing: warning<{ provider: string; key: string }>('PROVIDER_KEY_MISSING', {
    title: 'a key that the provider needs',
    meaning: 'The file is well-formed, and the launch will fail because the provider is not told where or for whom.',
    hint: 'add the key under provider',
    message: (e) => `provider.${e.key} is not set, which ${e.provider} needs for a launch`,
  }),
  HalfKeyPair: warning<{ given: string; missing: string }>('HALF_KEY_PAIR', {
    title: 'one half of a key pair (Azure)',
    meaning: 'Azure takes both paths of a key pair, or makes a pair when neither is given.',
    hint: 'give both ssh_private_key and ssh_public_key, or neither',
    message: (e) => `auth has ${e.given} and no ${e.missing}`,
  }),
  GpuMaintenance: warning<{ type: string }>('GPU_MAINTENANCE', {
    title: 'a GPU machine without onHostMaintenance (GCP)',
    meaning: 'Google Cloud launches machines with GPUs only when they end on host maintenance.',
    hint: 'add `scheduling: [{onHostMaintenance: TERMINATE}]` to node_config',
    message: (e) =>
      `node type '${e.type}' has guestAccelerators and no onHostMaintenance: TERMINATE: the launch will be refused`,
  }),
};
