/** Written by scripts/cloud-models.ts from botocore 1.44.0: `NAME:TYPE`, `NAME!:TYPE` where it is required. */
export const runInstances: ReadonlyMap<string, string> = new Map([
  [
    'RunInstances',
    'BlockDeviceMappings:[BlockDeviceMapping] ImageId:string InstanceType:string Ipv6AddressCount:integer Ipv6Addresses:[InstanceIpv6Address] KernelId:string KeyName:string MaxCount!:integer MinCount!:integer Monitoring:RunInstancesMonitoringEnabled Placement:Placement RamdiskId:string SecurityGroupIds:[string] SecurityGroups:[string] SubnetId:string UserData:string ElasticGpuSpecification:[ElasticGpuSpecification] ElasticInferenceAccelerators:[ElasticInferenceAccelerator] TagSpecifications:[TagSpecification] LaunchTemplate:LaunchTemplateSpecification InstanceMarketOptions:InstanceMarketOptionsRequest CreditSpecification:CreditSpecificationRequest CpuOptions:CpuOptionsRequest CapacityReservationSpecification:CapacityReservationSpecification HibernationOptions:HibernationOptionsRequest LicenseSpecifications:[LicenseConfigurationRequest] MetadataOptions:InstanceMetadataOptionsRequest EnclaveOptions:EnclaveOptionsRequest PrivateDnsNameOptions:PrivateDnsNameOptionsRequest MaintenanceOptions:InstanceMaintenanceOptionsRequest DisableApiStop:boolean EnablePrimaryIpv6:boolean NetworkPerformanceOptions:InstanceNetworkPerformanceOptionsRequest Operator:OperatorRequest SecondaryInterfaces:[InstanceSecondaryInterfaceSpecificationRequest] DryRun:boolean DisableApiTermination:boolean InstanceInitiatedShutdownBehavior:string PrivateIpAddress:string ClientToken:string AdditionalInfo:string NetworkInterfaces:[InstanceNetworkInterfaceSpecification] IamInstanceProfile:IamInstanceProfileSpecification EbsOptimized:boolean',
  ],
  ['BlockDeviceMapping', 'Ebs:EbsBlockDevice NoDevice:string DeviceName:string VirtualName:string'],
  [
    'EbsBlockDevice',
    'DeleteOnTermination:boolean Iops:integer SnapshotId:string VolumeSize:integer VolumeType:string KmsKeyId:string Throughput:integer OutpostArn:string AvailabilityZone:string Encrypted:boolean VolumeInitializationRate:integer AvailabilityZoneId:string EbsCardIndex:integer',
  ],
  ['InstanceIpv6Address', 'Ipv6Address:string IsPrimaryIpv6:boolean'],
  ['RunInstancesMonitoringEnabled', 'Enabled!:boolean'],
  [
    'Placement',
    'AvailabilityZoneId:string Affinity:string GroupName:string PartitionNumber:integer HostId:string Tenancy:string SpreadDomain:string HostResourceGroupArn:string GroupId:string AvailabilityZone:string',
  ],
  ['ElasticGpuSpecification', 'Type!:string'],
  ['ElasticInferenceAccelerator', 'Type!:string Count:integer'],
  ['TagSpecification', 'ResourceType:string Tags:[Tag]'],
  ['Tag', 'Key:string Value:string'],
  ['LaunchTemplateSpecification', 'LaunchTemplateId:string LaunchTemplateName:string Version:string'],
  ['InstanceMarketOptionsRequest', 'MarketType:string SpotOptions:SpotMarketOptions'],
  [
    'SpotMarketOptions',
    'MaxPrice:string SpotInstanceType:string BlockDurationMinutes:integer ValidUntil:timestamp InstanceInterruptionBehavior:string',
  ],
  ['CreditSpecificationRequest', 'CpuCredits!:string'],
  ['CpuOptionsRequest', 'CoreCount:integer ThreadsPerCore:integer AmdSevSnp:string NestedVirtualization:string'],
  [
    'CapacityReservationSpecification',
    'CapacityReservationPreference:string CapacityReservationTarget:CapacityReservationTarget',
  ],
  ['CapacityReservationTarget', 'CapacityReservationId:string CapacityReservationResourceGroupArn:string'],
  ['HibernationOptionsRequest', 'Configured:boolean'],
  ['LicenseConfigurationRequest', 'LicenseConfigurationArn:string'],
  [
    'InstanceMetadataOptionsRequest',
    'HttpTokens:string HttpPutResponseHopLimit:integer HttpEndpoint:string HttpProtocolIpv6:string InstanceMetadataTags:string',
  ],
  ['EnclaveOptionsRequest', 'Enabled:boolean'],
  [
    'PrivateDnsNameOptionsRequest',
    'HostnameType:string EnableResourceNameDnsARecord:boolean EnableResourceNameDnsAAAARecord:boolean',
  ],
  ['InstanceMaintenanceOptionsRequest', 'AutoRecovery:string'],
  ['InstanceNetworkPerformanceOptionsRequest', 'BandwidthWeighting:string'],
  ['OperatorRequest', 'Principal:string'],
  [
    'InstanceSecondaryInterfaceSpecificationRequest',
    'DeleteOnTermination:boolean DeviceIndex:integer PrivateIpAddresses:[InstanceSecondaryInterfacePrivateIpAddressRequest] PrivateIpAddressCount:integer SecondarySubnetId:string InterfaceType:string NetworkCardIndex:integer',
  ],
  ['InstanceSecondaryInterfacePrivateIpAddressRequest', 'PrivateIpAddress!:string'],
  [
    'InstanceNetworkInterfaceSpecification',
    'AssociatePublicIpAddress:boolean DeleteOnTermination:boolean Description:string DeviceIndex:integer Groups:[string] Ipv6AddressCount:integer Ipv6Addresses:[InstanceIpv6Address] NetworkInterfaceId:string PrivateIpAddress:string PrivateIpAddresses:[PrivateIpAddressSpecification] SecondaryPrivateIpAddressCount:integer SubnetId:string AssociateCarrierIpAddress:boolean InterfaceType:string NetworkCardIndex:integer Ipv4Prefixes:[Ipv4PrefixSpecificationRequest] Ipv4PrefixCount:integer Ipv6Prefixes:[Ipv6PrefixSpecificationRequest] Ipv6PrefixCount:integer PrimaryIpv6:boolean EnaSrdSpecification:EnaSrdSpecificationRequest ConnectionTrackingSpecification:ConnectionTrackingSpecificationRequest EnaQueueCount:integer',
  ],
  ['PrivateIpAddressSpecification', 'Primary:boolean PrivateIpAddress:string'],
  ['Ipv4PrefixSpecificationRequest', 'Ipv4Prefix:string'],
  ['Ipv6PrefixSpecificationRequest', 'Ipv6Prefix:string'],
  ['EnaSrdSpecificationRequest', 'EnaSrdEnabled:boolean EnaSrdUdpSpecification:EnaSrdUdpSpecificationRequest'],
  ['EnaSrdUdpSpecificationRequest', 'EnaSrdUdpEnabled:boolean'],
  [
    'ConnectionTrackingSpecificationRequest',
    'TcpEstablishedTimeout:integer UdpStreamTimeout:integer UdpTimeout:integer',
  ],
  ['IamInstanceProfileSpecification', 'Arn:string Name:string'],
]);
