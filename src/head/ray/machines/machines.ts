import type { Host } from '../../../base/host.ts';
import type { Duration } from '../../../base/time/clock.ts';
import type { Cleared } from '../../../core/cleared.ts';
import type { RayStatus } from '../../../core/ray-tags.ts';
import type { ClusterSpec } from '../../../core/spec/cluster.ts';
import type { Provider, ProviderInstance } from '../../../providers/provider.ts';

/** Where the instances of a cluster of other machines come from, and how mantad reaches them. */
export interface Machines {
  readonly provider: Provider;
  /** The same host for the same instance, connected or not. */
  hostOf(instance: ProviderInstance): Host;
  /** Where a machine is reached, as users know it. */
  addressOf(machine: string): string | undefined;
  /** The spec with what was learned of the machines. */
  complete(spec: ClusterSpec): ClusterSpec;
  /** A person empties this machine: it is not taken again at once. Absent: it is not there again anyway. */
  rest?(machine: string): void;
  /** What came of the setup of a machine. Absent: the next one is another machine anyway. */
  wasSetUp?(machine: string, failure?: string): void;
  /** Notes on a machine how far its node is, in Ray's words, for anyone who looks at it in the cloud. Absent: nobody does. */
  noteStatus?(machine: string, status: RayStatus, signal: AbortSignal): Promise<void>;
  /** The cluster file was read again, perhaps after something was repaired. */
  reloaded?(): void;
  /** Keeps what belongs to the machines, such as claims, until the signal aborts. */
  keep(signal: AbortSignal): Promise<void>;
  /** A machine ends itself when its lease expires: one of a cloud, never a host of the user. @default false */
  readonly powersOff?: boolean;
  /** Sh text by which it does so, before it is switched off. Absent: that is enough. */
  readonly endProgram?: string | undefined;
  /** For how long lists have to show no worker before there is none. @default 0 */
  settles?(): Duration;
  /** Ends every worker for good, when the cluster turns itself off. Absent: the provider ends its instances. */
  endWorkers?(signal: AbortSignal): Promise<Cleared>;
  /** The very last thing of a cluster that turns itself off, with what it leaves. Absent: the head's machine stays. */
  endHead?(left: Cleared['left'], signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
