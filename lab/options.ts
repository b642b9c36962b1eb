/** What one host has. */
export interface HostOptions {
  /** A container engine, under its own name and as `docker`. @default false */
  readonly podman?: boolean;
  /** Ray, this version or the newest that Manta is held to, and Node 24, on the PATH of login shells. @default false */
  readonly ray?: boolean | string;
  /** What Ray's own launcher needs for AWS, for every Python of its version. @default false */
  readonly boto3?: boolean;
  /** The same for Google Cloud. @default false */
  readonly googleClient?: boolean;
  /** Programs of Kubernetes and KubeRay at `/opt/kube`; for a host that has an engine. @default false */
  readonly kube?: boolean;
  /** Node 24 alone, on the PATH of login shells. @default as `ray` */
  readonly node?: boolean;
  /** A cron daemon. @default false */
  readonly cron?: boolean;
  /** Size of its disk. Memory is used only for what is written. @default '2g', '4g' with an engine */
  readonly disk?: string;
  /** @default true */
  readonly sshd?: boolean;
  /** Public keys that its users accept in place of the lab's. */
  readonly keys?: readonly string[];
  /** An sh program that its first process takes in before it starts anything, at the first boot alone. */
  readonly first?: string;
  /** The same at every boot, after `first`. */
  readonly each?: string;
}

export interface LabOptions extends HostOptions {
  /** How many, all alike, or what each has beyond what is said for all. */
  readonly hosts: number | readonly HostOptions[];
  /** Who `exec` and `spawn` run as. @default 'root' */
  readonly user?: 'root' | 'ada' | 'bob';
  /** Stays when this process ends, until `manta-lab down`. @default false */
  readonly kept?: boolean;
}

/** What each machine of a lab has, the laptop first. */
export function eachHost({
  hosts,
  podman,
  ray,
  boto3,
  googleClient,
  node,
  cron,
  disk,
}: LabOptions): readonly HostOptions[] {
  const shared: HostOptions = Object.fromEntries(
    Object.entries({ podman, ray, boto3, googleClient, node, cron, disk }).filter(([, value]) => value !== undefined),
  );
  const own = typeof hosts === 'number' ? Array.from({ length: hosts }, (): HostOptions => ({})) : hosts;
  const laptop: HostOptions = {
    node: true,
    ...(ray !== undefined && { ray }),
    ...(boto3 !== undefined && { boto3 }),
    ...(googleClient !== undefined && { googleClient }),
  };
  return [laptop, ...own.map((each) => ({ ...shared, ...each }))];
}
