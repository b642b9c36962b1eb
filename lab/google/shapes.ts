/** What is read out of requests, which have been held to their documents before. */

export interface MetadataBody {
  readonly fingerprint?: string;
  readonly items?: readonly { readonly key: string; readonly value?: string }[];
}

export interface DiskBody {
  readonly boot?: boolean;
  readonly autoDelete?: boolean;
  readonly deviceName?: string;
  readonly diskSizeGb?: string;
  readonly source?: string;
  readonly type?: 'PERSISTENT' | 'SCRATCH';
  readonly mode?: string;
  readonly interface?: string;
  readonly initializeParams?: {
    readonly sourceImage?: string;
    readonly diskSizeGb?: string;
    readonly diskType?: string;
    readonly diskName?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

export interface InterfaceBody {
  readonly network?: string;
  readonly subnetwork?: string;
  readonly accessConfigs?: readonly { readonly name?: string; readonly type?: string; readonly natIP?: string }[];
}

/** An instance as a request describes it, whole or as properties that several share. */
export interface InstanceBody {
  readonly name?: string;
  readonly description?: string;
  readonly machineType?: string;
  readonly minCpuPlatform?: string;
  readonly canIpForward?: boolean;
  readonly deletionProtection?: boolean;
  readonly hostname?: string;
  readonly disks?: readonly DiskBody[];
  readonly networkInterfaces?: readonly InterfaceBody[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly metadata?: MetadataBody;
  readonly tags?: { readonly items?: readonly string[] };
  readonly serviceAccounts?: readonly { readonly email?: string; readonly scopes?: readonly string[] }[];
  readonly guestAccelerators?: readonly { readonly acceleratorType?: string; readonly acceleratorCount?: number }[];
  readonly scheduling?: {
    readonly preemptible?: boolean;
    readonly provisioningModel?: 'SPOT' | 'STANDARD' | 'FLEX_START' | 'RESERVATION_BOUND';
    readonly instanceTerminationAction?: 'DELETE' | 'STOP';
    readonly automaticRestart?: boolean;
    readonly onHostMaintenance?: 'MIGRATE' | 'TERMINATE';
  };
  readonly shieldedInstanceConfig?: { readonly enableSecureBoot?: boolean };
  readonly reservationAffinity?: {
    readonly consumeReservationType?: string;
    readonly key?: string;
    readonly values?: readonly string[];
  };
}

export interface BulkBody {
  readonly count?: string;
  readonly minCount?: string;
  readonly namePattern?: string;
  readonly instanceProperties?: InstanceBody;
  readonly sourceInstanceTemplate?: string;
  readonly perInstanceProperties?: Readonly<Record<string, { readonly hostname?: string }>>;
}

export interface FirewallBody {
  readonly name: string;
  readonly network?: string;
  readonly direction?: 'INGRESS' | 'EGRESS';
  readonly priority?: number;
  readonly description?: string;
  readonly sourceRanges?: readonly string[];
  readonly sourceTags?: readonly string[];
  readonly targetTags?: readonly string[];
  readonly allowed?: readonly { readonly IPProtocol: string; readonly ports?: readonly string[] }[];
  readonly denied?: readonly { readonly IPProtocol: string; readonly ports?: readonly string[] }[];
  readonly disabled?: boolean;
}

/** A slice as a request describes it. */
export interface NodeBody {
  readonly acceleratorType?: string;
  readonly acceleratorConfig?: { readonly type?: string; readonly topology?: string };
  readonly runtimeVersion?: string;
  readonly description?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly tags?: readonly string[];
  readonly networkConfig?: {
    readonly network?: string;
    readonly subnetwork?: string;
    readonly enableExternalIps?: boolean;
  };
  readonly schedulingConfig?: {
    readonly preemptible?: boolean;
    readonly spot?: boolean;
    readonly reserved?: boolean;
  };
  readonly serviceAccount?: { readonly email?: string; readonly scope?: readonly string[] };
  readonly dataDisks?: readonly { readonly sourceDisk?: string; readonly mode?: string }[];
  readonly shieldedInstanceConfig?: { readonly enableSecureBoot?: boolean };
}

export interface QueuedBody {
  readonly tpu?: {
    readonly nodeSpec?: readonly {
      readonly parent?: string;
      readonly nodeId?: string;
      readonly multisliceParams?: { readonly nodeCount?: number; readonly nodeIdPrefix?: string };
      readonly node?: NodeBody;
    }[];
  };
  readonly spot?: object;
  readonly guaranteed?: object;
  readonly reservationName?: string;
  readonly queueingPolicy?: { readonly validUntilDuration?: string; readonly validUntilTime?: string };
}
