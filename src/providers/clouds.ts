import type { EventSink } from '../base/events.ts';
import type { Clock, Duration } from '../base/time/clock.ts';
import type { ClusterSpec } from '../core/spec/cluster.ts';
import type { CommandEnvironment } from './descriptor.ts';
import type { Provider } from './provider.ts';
import { descriptorFor } from './table.ts';

/** Who asks a cloud for instances. */
export interface CloudClient {
  readonly cluster: string;
  /** Tells clusters of one name apart; made once for each cluster. */
  readonly clusterId: string;
  /** As it is now: a changed cluster file counts at once. */
  readonly spec: () => ClusterSpec;
  /**
   * What instances accept: a user, made where there is none, with this key. The key is empty where a command only looks and
   * there is none yet.
   */
  readonly login: () => { readonly user: string; readonly publicKey: string };
  /** What workers run at their first boot, as root: an sh program that returns at once. Absent: nothing. */
  readonly bootProgram?: () => string;
  /** As what the cloud is asked. */
  readonly identity: () => CloudIdentity;
  /** What `prepare` returned last; absent before the first time, and for clouds that prepare nothing. */
  readonly prepared?: () => PreparedCloud | undefined;
}

/** As what a cloud is asked. */
export type CloudIdentity =
  /** As the user of this command: by its environment and files. */
  { readonly kind: 'user'; readonly env: CommandEnvironment } | HeadIdentity;

/** As what a head asks its cloud: by the role of its own machine, or by a credential that `up` copied to it. */
export type HeadIdentity = { readonly kind: 'machine' } | { readonly kind: 'file'; readonly text: string };

/**
 * What was found or made for a cluster before its first instance: keys, groups, roles, images, sizes, prices. Plain data of
 * the cloud's own form, kept in the cluster's record; but for what is named here, only the cloud's code reads it.
 */
export type PreparedCloud = Readonly<Record<string, unknown>> & {
  /** Where the cloud has projects: the one that the cluster is in. */
  readonly project?: string;
  /** Who logs in to instances, where the cloud decides that and not the file. */
  readonly loginUser?: string | undefined;
};

/** Who prepares a cloud for a cluster: a command on the laptop. */
export interface PreparationRequest extends CloudClient {
  readonly clock: Clock;
  readonly events: EventSink;
}

/** One thing that a cluster needs of its cloud. */
export interface PreparationStep {
  /** `key pair`, `security group`, `role`, `image of ray.worker.default`. */
  readonly what: string;
  readonly action: 'found' | 'create' | 'change';
  /** Its name or id, where it is known yet. */
  readonly id?: string;
  /** What the reader should know of the choice. */
  readonly note?: string;
}

/** What preparing would do, and what is said of it. */
export interface PreparationPlan {
  readonly steps: readonly PreparationStep[];
  readonly warnings: readonly string[];
  /**
   * Fills in resources and prices that a spec leaves out, as far as the look has found them; what it says stays. Absent:
   * the provider's `learn` is asked.
   */
  readonly complete?: (spec: ClusterSpec) => ClusterSpec;
}

/** A cluster as its cloud shows it, by tags alone. */
export interface CloudCluster {
  readonly id: string;
  /** Ids of its instances. Empty: something else of it is left. */
  readonly instances: readonly string[];
}

/** Something other than an instance that carries the cluster's tag. */
export interface Remain {
  /** `disk`, `address`, `security group`, `key pair`, `role`, `instance profile`, `spot request`. */
  readonly kind: string;
  readonly id: string;
  /** Why it stays, where it should: others use it, or the file says so. Absent: it should have gone. */
  readonly keeps?: 'shared' | 'by the file' | 'made by hand';
  /** In the cloud's words, where it says why. */
  readonly detail?: string;
  /** Per month, in dollars, where it is known to cost something. */
  readonly cost?: number;
}

/** Policies in the cloud's own language, one for the head and one for those who run `up` and `down`. */
export interface CloudPolicies {
  readonly head: string;
  readonly user: string;
}

/** A provider that makes instances of its own. */
export interface CloudProvider extends Provider {
  /**
   * Sh text that a worker runs to end its own machine, as the user who logs in or as root, when nobody renews its lease. It
   * returns where it cannot; then the machine is switched off. Absent: a machine that is switched off costs nothing.
   */
  readonly endProgram?: string;
  /** Asks what the cloud sells. What is returned fills in resources and prices that a spec leaves out; what it says stays. */
  learn(signal: AbortSignal): Promise<(spec: ClusterSpec) => ClusterSpec>;
  /** What is still known of an instance, one that has ended too. Undefined when the cloud does not know it any more. */
  lastKnown(id: string, signal: AbortSignal): Promise<LastKnown | undefined>;
  /**
   * Deletes what was made for this cluster beside its instances, as far as nobody else uses it. For `down`, once no
   * instance is listed: may be repeated, and leaves alone what it cannot delete.
   */
  release(signal: AbortSignal): Promise<void>;
  /** Everything but instances that carries the cluster's tag. Must be complete: throw rather than return a part. */
  remains(signal: AbortSignal): Promise<readonly Remain[]>;
}

export interface LastKnown {
  readonly ended: boolean;
  readonly tags: Readonly<Record<string, string>>;
  /** Why it ended, in the cloud's words. */
  readonly reason?: string;
}

/** How far behind the truth what a cloud tells may be. */
export const listsLag: Duration = 60_000;

/** Where nothing was launched lately that its lists have not shown, a few looks that show none are enough. */
const listsSettleIn: Duration = 2_000;

/**
 * For how long a cloud's lists have to show no instance before there is none. `unseen`: for how long they may not show all that
 * was launched, as somebody reckoned by a clock that people set; it is never longer than lists lag.
 */
export const settlingTime = (unseen: Duration): Duration => Math.max(listsSettleIn, Math.min(unseen, listsLag));

/** Who logs in where the file names nobody. */
export const usualUser = 'ubuntu';

/** The provider of a cluster whose machines are a cloud's. Its code is loaded here, and not before. */
export async function openCloud(client: CloudClient): Promise<CloudProvider> {
  return (await descriptorFor(client.spec(), 'cloud').load()).openCloud(client);
}

/** As what the head will ask the cloud; a credential goes to it with the hand-over. Throws for one that expires. */
export async function headIdentityOf(spec: ClusterSpec, env: CommandEnvironment): Promise<HeadIdentity> {
  return (await descriptorFor(spec, 'cloud').load()).headIdentity(spec, env);
}
