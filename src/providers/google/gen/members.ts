/** Written by scripts/cloud-models.ts from google-api-python-client 2.202.0: `NAME:TYPE`. */
export const googleMembers: ReadonlyMap<string, string> = new Map([
  [
    'Instance',
    'advancedMachineFeatures:AdvancedMachineFeatures canIpForward:boolean confidentialInstanceConfig:ConfidentialInstanceConfig cpuPlatform:- creationTimestamp:- deletionProtection:boolean description:string disks:[AttachedDisk] displayDevice:DisplayDevice fingerprint:string guestAccelerators:[AcceleratorConfig] hostname:string id:- instanceEncryptionKey:CustomerEncryptionKey keyRevocationActionType:string kind:- labelFingerprint:string labels:{string} lastStartTimestamp:- lastStopTimestamp:- lastSuspendedTimestamp:- localSsdEncryptionMode:string machineType:string metadata:Metadata minCpuPlatform:string name:string networkInterfaces:[NetworkInterface] networkPerformanceConfig:NetworkPerformanceConfig params:InstanceParams privateIpv6GoogleAccess:string reservationAffinity:ReservationAffinity resourcePolicies:[string] resourceStatus:- satisfiesPzi:- satisfiesPzs:- scheduling:Scheduling selfLink:- serviceAccounts:[ServiceAccount] shieldedInstanceConfig:ShieldedInstanceConfig shieldedInstanceIntegrityPolicy:ShieldedInstanceIntegrityPolicy sourceMachineImage:string sourceMachineImageEncryptionKey:CustomerEncryptionKey startRestricted:- status:- statusMessage:- tags:Tags workloadIdentityConfig:WorkloadIdentityConfig zone:-',
  ],
  [
    'AdvancedMachineFeatures',
    'enableNestedVirtualization:boolean enableUefiNetworking:boolean performanceMonitoringUnit:string threadsPerCore:integer turboMode:string visibleCoreCount:integer',
  ],
  [
    'ConfidentialInstanceConfig',
    'confidentialInstanceType:string confidentialParavisorConfig:ConfidentialParavisorConfig enableConfidentialCompute:boolean',
  ],
  ['ConfidentialParavisorConfig', 'confidentialTpmType:string sevSnpIrqMode:string'],
  [
    'AttachedDisk',
    'architecture:- autoDelete:boolean boot:boolean deviceName:string diskEncryptionKey:CustomerEncryptionKey diskSizeGb:string forceAttach:boolean guestOsFeatures:[GuestOsFeature] index:- initializeParams:AttachedDiskInitializeParams interface:string kind:- licenses:- mode:string savedState:- shieldedInstanceInitialState:- source:string type:string',
  ],
  [
    'CustomerEncryptionKey',
    'kmsKeyName:string kmsKeyServiceAccount:string rawKey:string rsaEncryptedKey:string sha256:string',
  ],
  ['GuestOsFeature', 'type:string'],
  [
    'AttachedDiskInitializeParams',
    'architecture:string description:string diskName:string diskSizeGb:string diskType:string enableConfidentialCompute:boolean labels:{string} licenses:[string] onUpdateAction:string provisionedIops:string provisionedThroughput:string replicaZones:[string] resourceManagerTags:{string} resourcePolicies:[string] sourceImage:string sourceImageEncryptionKey:CustomerEncryptionKey sourceSnapshot:string sourceSnapshotEncryptionKey:CustomerEncryptionKey storagePool:string',
  ],
  ['DisplayDevice', 'enableDisplay:boolean'],
  ['AcceleratorConfig', 'acceleratorCount:integer acceleratorType:string'],
  ['Metadata', 'fingerprint:string items:[Metadata.items] kind:-'],
  ['Metadata.items', 'key:string value:string'],
  [
    'NetworkInterface',
    'accessConfigs:[AccessConfig] aliasIpRanges:[AliasIpRange] aliasIpv6Ranges:[AliasIpRange] enableVpcScopedDns:boolean fingerprint:string igmpQuery:string internalIpv6PrefixLength:integer ipv6AccessConfigs:[AccessConfig] ipv6AccessType:- ipv6Address:string kind:- name:string network:string networkAttachment:string networkIP:string nicType:string parentNicName:string queueCount:integer serviceClassId:string stackType:string subnetwork:string vlan:integer',
  ],
  [
    'AccessConfig',
    'externalIpv6:string externalIpv6PrefixLength:integer ipCollection:string kind:- name:string natIP:string networkTier:string publicPtrDomainName:string securityPolicy:string setPublicPtr:boolean type:string',
  ],
  ['AliasIpRange', 'ipCidrRange:string subnetworkRangeName:string'],
  ['NetworkPerformanceConfig', 'totalEgressBandwidthTier:string'],
  ['InstanceParams', 'requestValidForDuration:Duration resourceManagerTags:{string}'],
  ['Duration', 'nanos:integer seconds:string'],
  ['ReservationAffinity', 'consumeReservationType:string key:string values:[string]'],
  [
    'Scheduling',
    'automaticRestart:boolean availabilityDomain:integer exposeHostTopology:boolean gracefulShutdown:SchedulingGracefulShutdown hostErrorTimeoutSeconds:integer instanceTerminationAction:string localSsdRecoveryTimeout:Duration locationHint:string maxRunDuration:Duration minNodeCpus:integer nodeAffinities:[SchedulingNodeAffinity] onHostMaintenance:string onInstanceStopAction:SchedulingOnInstanceStopAction preemptible:boolean preemptionNoticeDuration:Duration protectionTier:string provisioningModel:string skipGuestOsShutdown:boolean terminationTime:string',
  ],
  ['SchedulingGracefulShutdown', 'enabled:boolean maxDuration:Duration'],
  ['SchedulingNodeAffinity', 'key:string operator:string values:[string]'],
  ['SchedulingOnInstanceStopAction', 'discardLocalSsd:boolean'],
  ['ServiceAccount', 'email:string scopes:[string]'],
  ['ShieldedInstanceConfig', 'enableIntegrityMonitoring:boolean enableSecureBoot:boolean enableVtpm:boolean'],
  ['ShieldedInstanceIntegrityPolicy', 'updateAutoLearnPolicy:boolean'],
  ['Tags', 'fingerprint:string items:[string]'],
  ['WorkloadIdentityConfig', 'identity:string identityCertificateEnabled:boolean identityType:string'],
  [
    'InstanceProperties',
    'advancedMachineFeatures:AdvancedMachineFeatures canIpForward:boolean confidentialInstanceConfig:ConfidentialInstanceConfig description:string disks:[AttachedDisk] guestAccelerators:[AcceleratorConfig] keyRevocationActionType:string labels:{string} localSsdEncryptionMode:string machineType:string metadata:Metadata minCpuPlatform:string networkInterfaces:[NetworkInterface] networkPerformanceConfig:NetworkPerformanceConfig privateIpv6GoogleAccess:string reservationAffinity:ReservationAffinity resourceManagerTags:{string} resourcePolicies:[string] scheduling:Scheduling serviceAccounts:[ServiceAccount] shieldedInstanceConfig:ShieldedInstanceConfig tags:Tags workloadIdentityConfig:WorkloadIdentityConfig',
  ],
  [
    'Node',
    'acceleratorConfig:TpuAcceleratorConfig acceleratorType:string apiVersion:- bootDiskConfig:TpuBootDiskConfig cidrBlock:string createTime:- dataDisks:[TpuAttachedDisk] description:string health:string healthDescription:- id:- labels:{string} metadata:{string} multisliceNode:- name:- networkConfig:TpuNetworkConfig networkConfigs:[TpuNetworkConfig] networkEndpoints:- protectionTier:- queuedResource:- runtimeVersion:string schedulingConfig:TpuSchedulingConfig serviceAccount:TpuServiceAccount shieldedInstanceConfig:TpuShieldedInstanceConfig state:- symptoms:- tags:[string] upcomingMaintenance:-',
  ],
  ['TpuAcceleratorConfig', 'topology:string type:string'],
  ['TpuBootDiskConfig', 'customerEncryptionKey:TpuCustomerEncryptionKey'],
  ['TpuCustomerEncryptionKey', 'kmsKeyName:string'],
  ['TpuAttachedDisk', 'mode:string sourceDisk:string'],
  [
    'TpuNetworkConfig',
    'canIpForward:boolean enableExternalIps:boolean network:string queueCount:integer subnetwork:string',
  ],
  ['TpuSchedulingConfig', 'preemptible:boolean reserved:boolean spot:boolean'],
  ['TpuServiceAccount', 'email:string scope:[string]'],
  ['TpuShieldedInstanceConfig', 'enableSecureBoot:boolean'],
]);
