/** A fake of a cloud, as the benches use it: the same for all of them. */
import type { CallRecord } from '../../lab/cloud/call-log.ts';
import type { Cloud } from '../../lab/cloud/cloud.ts';
import type { HostOptions, Lab, LabHost } from '../../lab/lab.ts';

/** Where one cluster is made: nothing was there before. */
export interface EmptyAccount {
  readonly id: string;
  /** What a command needs to call the cloud as somebody who may do everything in it. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface FakeCloud {
  readonly cloud: Cloud;
  emptyAccount(): Promise<EmptyAccount>;
  /** All that was ever asked. */
  calls(): Promise<readonly CallRecord[]>;
  /** The host that an instance is; stand-ins are none. */
  host(instance: string): LabHost | undefined;
  close(): Promise<void>;
}

/** Goals: how many times as much Ray takes, at least. */
export interface Goals {
  readonly firstUp: number;
  readonly requested: number;
  readonly calls: number;
  readonly down: number;
}

export interface BenchedCloud {
  readonly name: string;
  readonly goals: Goals;
  /** What Ray's own launcher needs beside Ray. */
  readonly packages: Pick<HostOptions, 'boto3' | 'googleClient'>;
  /** The `provider` of the file, as both are given it. */
  readonly provider: (account: string) => string;
  /** Of head and workers. */
  readonly nodeConfig: string;
  /** Calls about instances. */
  readonly aboutInstances: RegExp;
  /** A call takes as long as from most laptops to a region. Workers are stand-ins, which cost money and never answer. */
  open(lab: Lab): Promise<FakeCloud>;
}

/** As far as a region is from most laptops. */
export const latency = [40, 80] as const;

export const isWorker = ({ tags }: { readonly tags: Readonly<Record<string, string>> }): boolean =>
  tags['ray-node-type'] === 'worker';
