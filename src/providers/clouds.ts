import type { Duration } from '../base/clock.ts';
import { ownValue } from '../base/own-value.ts';
import type { ClusterSpec } from '../core/spec/cluster.ts';
import type { Provider } from './provider.ts';

/** Who asks a cloud for instances. */
export interface CloudClient {
  readonly cluster: string;
  /** Tells clusters of one name apart; made once for each cluster. */
  readonly clusterId: string;
  /** As it is now: a changed cluster file counts at once. */
  readonly spec: () => ClusterSpec;
  /** What instances let in: a user, made where there is none, with this key. */
  readonly login: () => { readonly user: string; readonly publicKey: string };
  /** What workers run at their first boot, as root: an sh program that returns at once. Absent: nothing. */
  readonly bootProgram?: () => string;
  /** The cloud's own credential, as `credentialsOf` found it. */
  readonly credential: () => string;
}

/** A provider that makes instances of its own. */
export interface CloudProvider extends Provider {
  /** Asks what the cloud sells. What is returned fills in resources and prices that a spec leaves out; what it says stays. */
  learn(signal: AbortSignal): Promise<(spec: ClusterSpec) => ClusterSpec>;
  /** What is still known of an instance, one that has ended too. Undefined when the cloud does not know it any more. */
  lastKnown(id: string, signal: AbortSignal): Promise<LastKnown | undefined>;
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
const listsSettleIn: Duration = 3_000;

/**
 * For how long a cloud's lists have to show no instance before there is none. `unseen`: for how long they may not show all that
 * was launched, as somebody reckoned by a clock that people set; it is never longer than lists lag.
 */
export const settlingTime = (unseen: Duration): Duration => Math.max(listsSettleIn, Math.min(unseen, listsLag));

/** Who logs in where the file names nobody. */
export const usualUser = 'ubuntu';

/** Providers that make instances of their own, each loaded only when it is used. */
const clouds: Readonly<Record<string, Cloud>> = {
  lab_cloud: {
    open: async ({ spec, credential, ...client }) => {
      const { LabCloudProvider } = await import('./lab-cloud/provider.ts');
      const { readLabCloud } = await import('./lab-cloud/spec.ts');
      return new LabCloudProvider({ ...client, spec: () => readLabCloud(spec()), token: credential });
    },
    credential: async (spec, env) => {
      const { readLabCloud, readToken } = await import('./lab-cloud/spec.ts');
      return readToken(readLabCloud(spec).token, env);
    },
  },
};

interface Cloud {
  open(client: CloudClient): Promise<CloudProvider>;
  credential(spec: ClusterSpec, env: Readonly<Record<string, string | undefined>>): Promise<string>;
}

export const isCloud = (type: string): boolean => Object.hasOwn(clouds, type);

/** The provider of a cluster whose machines are a cloud's. */
export function openCloud(client: CloudClient): Promise<CloudProvider> {
  return cloudOf(client.spec()).open(client);
}

/** What the cloud is asked with, from this machine's files or environment; the head gets it with the hand-over. */
export function credentialsOf(spec: ClusterSpec, env: Readonly<Record<string, string | undefined>>): Promise<string> {
  return cloudOf(spec).credential(spec, env);
}

const cloudOf = (spec: ClusterSpec): Cloud => {
  const cloud = ownValue(clouds, spec.provider.type);
  if (cloud === undefined) throw new Error(`'${spec.provider.type}' is no cloud`);
  return cloud;
};
