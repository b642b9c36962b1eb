import { type Key, key } from './key.ts';

const aws = { providers: ['aws'] } as const;
const gcp = { providers: ['gcp'] } as const;
const azure = { providers: ['azure'] } as const;
const aliyun = { providers: ['aliyun'] } as const;
const local = { providers: ['local'] } as const;
const labCloud = { providers: ['lab_cloud'], manta: true } as const;
const fake = { providers: ['fake_multinode', 'fake_multinode_docker'] } as const;

export const providerKeys: readonly Key[] = [
  key('provider.type', 'string', 'Which provider: aws, gcp, azure, local, aliyun, vsphere, external and others.', {
    required: true,
    example: 'aws',
  }),
  key('provider.region', 'string', 'Region of the instances.', {
    providers: ['aws', 'gcp', 'aliyun'],
    default: 'us-west-2 (aws), us-west1 (gcp) when there is no provider block of yours',
    example: 'us-west-2',
  }),
  key(
    'provider.availability_zone',
    'string',
    'Zones, comma-separated, in order of preference. Azure: numbers, `auto` or `none`.',
    {
      providers: ['aws', 'gcp', 'azure', 'lab_cloud'],
      default: 'all zones of the region (aws), those that the cloud chooses (lab_cloud)',
      example: 'us-west-2a,us-west-2b',
    },
  ),
  key(
    'provider.cache_stopped_nodes',
    'boolean',
    'Stop instances in place of ending them, to start again faster; their disks go on costing.',
    { providers: ['aws', 'gcp', 'azure', 'aliyun'], default: 'true', example: false },
  ),
  key('provider.use_internal_ips', 'boolean', 'Reach the instances by their internal addresses.', {
    default: 'false',
    example: true,
  }),
  key(
    'provider.use_external_head_ip',
    'boolean',
    'With use_internal_ips: reach the head from outside by its public address.',
    { nullable: true, default: 'false', example: true },
  ),
  key('provider.disable_node_updaters', 'boolean', 'Run nothing on the nodes: they set themselves up.', {
    default: 'false',
    example: false,
  }),
  key('provider.disable_launch_config_check', 'boolean', 'False: end workers whose launch configuration is outdated.', {
    nullable: true,
    default: 'true',
    example: false,
  }),
  key('provider.foreground_node_launch', 'boolean', 'Launch one call at a time.', {
    nullable: true,
    default: 'false',
    example: false,
  }),
  key('provider.worker_liveness_check', 'boolean', 'Restart Ray on workers that went silent.', {
    nullable: true,
    default: 'true',
    example: true,
  }),
  key('provider.security_group', 'section', 'Security group to use or make.', {
    ...aws,
    example: { GroupName: 'ray' },
  }),
  key('provider.security_group.GroupName', 'string', 'Its name.', {
    ...aws,
    default: 'ray-autoscaler-<cluster_name>',
    example: 'ray',
  }),
  key('provider.security_group.IpPermissions', 'list', 'Inbound rules beside SSH and traffic inside the group.', {
    ...aws,
    open: true,
    example: [{ FromPort: 443, ToPort: 443, IpProtocol: 'TCP', IpRanges: [{ CidrIp: '10.0.0.0/8' }] }],
  }),
  key('provider.cloudwatch', 'map', 'CloudWatch agent, dashboard and alarms.', { nullable: true, ...aws, open: true }),
  key('provider.key_pair', 'map', 'Name of the key pair to make: key_name.', {
    nullable: true,
    providers: ['aws', 'gcp'],
    open: true,
    example: { key_name: 'my-key' },
  }),
  key('provider.aws_credentials', 'map', 'Credentials in place of those of the environment.', {
    nullable: true,
    ...aws,
    open: true,
  }),
  key('provider.project_id', 'string', 'Project of the instances.', {
    ...gcp,
    nullable: true,
    example: 'my-project-123',
  }),
  key('provider.gcp_credentials', 'section', 'Credentials in place of those of the environment.', gcp),
  key('provider.gcp_credentials.type', 'string', 'Their kind.', {
    ...gcp,
    required: true,
    choices: ['credentials_token', 'service_account'],
    example: 'service_account',
  }),
  key('provider.gcp_credentials.credentials', 'string', 'The credentials themselves.', {
    ...gcp,
    example: '${env:GCP_CREDENTIALS}',
  }),
  key('provider.location', 'string', 'Location of the instances.', {
    ...azure,
    default: 'westus2 when there is no provider block of yours',
    example: 'westus2',
  }),
  key('provider.resource_group', 'string', 'Resource group to use or make.', {
    ...azure,
    default: 'ray-cluster when there is no provider block of yours',
    example: 'ray-cluster',
  }),
  key('provider.subscription_id', 'string', 'Subscription that pays.', {
    ...azure,
    default: "that of the Azure CLI's login",
    example: '00000000-0000-0000-0000-000000000000',
  }),
  key('provider.tags', 'map', 'Tags for everything that is made.', {
    ...azure,
    open: true,
    example: { team: 'vision' },
  }),
  key('provider.msi_identity_id', 'string', 'Managed identity of the instances.', azure),
  key('provider.msi_identity_principal_id', 'string', 'Principal of the managed identity.', azure),
  key('provider.msi_name', 'any', 'Name of the managed identity to make.', azure),
  key('provider.msi_resource_group', 'any', 'Resource group of the managed identity.', azure),
  key('provider.subnet_id', 'string', 'Subnet of the instances.', azure),
  key('provider.subnet_mask', 'any', 'Range of the subnet to make.', { ...azure, example: '10.0.0.0/16' }),
  key('provider.unique_id', 'any', 'Part of the names of what is made, to keep clusters apart.', azure),
  key('provider.head_ip', 'string', 'Host of the head.', { ...local, example: '10.0.0.1' }),
  key('provider.worker_ips', 'list', 'Hosts of the workers. All of them become workers unless max_workers is lower.', {
    ...local,
    example: ['10.0.0.2', '10.0.0.3'],
  }),
  key('provider.external_head_ip', 'string', 'Address of the head as seen from outside.', {
    nullable: true,
    ...local,
    example: '203.0.113.7',
  }),
  key(
    'provider.coordinator_address',
    'string',
    'Coordinator that hands out hosts, as host:port, in place of head_ip and worker_ips.',
    { nullable: true, ...local, example: '10.0.0.9:1234' },
  ),
  key('provider.module', 'string', 'Python class of the provider, as package.module.Class.', {
    providers: ['external'],
    example: 'my_cloud.MyProvider',
  }),
  key('provider.zone_id', 'string', 'Zone of the instances.', { ...aliyun, nullable: true, example: 'cn-hangzhou-b' }),
  key('provider.cidr_block', 'string', 'Range of the network to make.', {
    ...aliyun,
    nullable: true,
    example: '172.16.0.0/24',
  }),
  key('provider.access_key', 'string', 'Access key.', {
    ...aliyun,
    nullable: true,
    example: '${env:ALIYUN_ACCESS_KEY}',
  }),
  key('provider.access_key_secret', 'string', 'Secret of the access key.', {
    ...aliyun,
    nullable: true,
    example: '${env:ALIYUN_ACCESS_KEY_SECRET}',
  }),
  key('provider.key_name', 'string', 'Name of the key pair.', { ...aliyun, nullable: true, example: 'my-key' }),
  key('provider.security_group_rule', 'any', 'Inbound rules of the security group.', aliyun),
  key('provider.vsphere_config', 'map', 'How to reach the Supervisor and what to make there.', {
    providers: ['vsphere'],
    open: true,
    nullable: true,
  }),
  key('provider.namespace', 'string', 'Namespace of the pods.', { providers: ['kuberay', 'vsphere'], example: 'ray' }),
  key(
    'provider.autoscaler_service_account',
    'map',
    'Service account of the autoscaler (removed Kubernetes provider).',
    { providers: ['kubernetes'], open: true },
  ),
  key('provider.autoscaler_role', 'map', 'Role of the autoscaler (removed Kubernetes provider).', {
    providers: ['kubernetes'],
    open: true,
  }),
  key('provider.autoscaler_role_binding', 'map', 'Role binding of the autoscaler (removed Kubernetes provider).', {
    providers: ['kubernetes'],
    open: true,
  }),
  key('provider.use_node_id_as_ip', 'boolean', 'The id of a node is its address.', {
    nullable: true,
    ...fake,
    example: true,
  }),
  key('provider.head_node_id', 'any', 'Node id of the head.', fake),
  key('provider.gcs_address', 'string', "Address of the head's GCS.", {
    nullable: true,
    providers: ['fake_multinode', 'kuberay'],
    example: '10.0.0.1:6379',
  }),
  key('provider.endpoint', 'string', 'Address of the API of a lab cloud.', {
    ...labCloud,
    example: 'http://10.77.0.254:8700',
  }),
  key('provider.token_file', 'string', "File that holds the token of the lab cloud's account.", {
    ...labCloud,
    example: '~/.lab-cloud-token',
  }),
  key('provider.token_env', 'string', 'Variable of the environment that holds it, where there is no file.', {
    ...labCloud,
    default: 'LAB_CLOUD_TOKEN',
    example: 'LAB_CLOUD_TOKEN',
  }),
  key('provider.launch_multiple', 'boolean', 'Launch several nodes in one call.', { ...fake, nullable: true }),
];
