import type { ClusterAnswer } from '../../api/types.ts';
import { type ClusterRecord, readCluster } from '../../state/cluster-record.ts';
import { servingOf } from '../../state/serving.ts';
import { clusterNames, stateFolder } from '../../state/state-folder.ts';

export type ClusterState =
  /** It answers, or its mantad is seen on this machine. */
  | 'running'
  /** A cluster of other machines that nobody has asked. */
  | 'not asked'
  /** It was asked, and did not answer. */
  | 'silent'
  | 'shutting down'
  | 'down'
  /** It turned itself off, or its head was found to be gone. */
  | 'ended';

/** A cluster of this user, as this machine knows it. */
export interface ListedCluster {
  readonly name: string;
  readonly kind: string;
  /** Where its head is. */
  readonly where?: string;
  readonly state: ClusterState;
  /** Of one that has ended. */
  readonly ended?: { readonly at: number; readonly why: string };
  /** When it ends as far as is known, and what it says of that itself. */
  readonly until?: number;
  readonly ending?: string;
  /** What it said last. */
  readonly now?: Pick<ClusterAnswer, 'nodes' | 'jobs'>;
  /** Why it said nothing. */
  readonly silence?: string;
}

/** By what is written down in a home, without asking anybody; those that run come first, those that ended last. */
export function knownClusters(home: string): readonly ListedCluster[] {
  const known = clusterNames(home).flatMap((name) => {
    const folder = stateFolder(home, name);
    try {
      const record = readCluster(folder);
      return record === undefined ? [] : [asRecorded(name, record, servingOf(folder) !== undefined)];
    } catch {
      // A folder that is not ours to read is nobody's cluster here.
      return [];
    }
  });
  return known.toSorted((one, other) => rank(one) - rank(other) || one.name.localeCompare(other.name));
}

const order: readonly ClusterState[] = ['running', 'silent', 'not asked', 'shutting down', 'down', 'ended'];
const rank = ({ state }: ListedCluster): number => order.indexOf(state);

function asRecorded(name: string, record: ClusterRecord, serves: boolean): ListedCluster {
  const { ended, until } = record;
  const where = record.role === 'laptop' ? record.remote.address : undefined;
  return {
    name,
    kind: kindOf(record),
    ...(where !== undefined && { where }),
    state: stateOf(record, serves),
    ...(ended && { ended: { at: ended.at, why: ended.why } }),
    ...(until !== undefined && !ended && { until }),
  };
}

function kindOf(record: ClusterRecord): string {
  if (record.role !== 'laptop') return record.engine === 'ray' ? 'Ray on this machine' : 'on this machine';
  const { instance, clusterId, launchToken } = record.remote;
  const isCloud = instance !== undefined || clusterId !== undefined || launchToken !== undefined;
  return isCloud ? 'Ray in a cloud' : 'Ray on your own hosts';
}

function stateOf({ role, ended, endingSince, turningOff }: ClusterRecord, serves: boolean): ClusterState {
  if (ended !== undefined) return 'ended';
  if (endingSince !== undefined || turningOff !== undefined) return 'shutting down';
  if (role === 'laptop') return 'not asked';
  return serves ? 'running' : 'down';
}

/** What a cluster answered, or why it did not, and when. */
interface Reply {
  readonly at: number;
  readonly answer?: ClusterAnswer;
  readonly silence?: string;
}

export interface ClusterConnections {
  /** Whether a cluster can be asked without anything being started for it. */
  readonly isConnected: (name: string) => boolean;
  readonly ask: (name: string, signal: AbortSignal) => Promise<ClusterAnswer>;
}

const askWithin = 5_000;
const holdsFor = 5_000;

/** Asks clusters how they are, each at most once at a time, and never waits for one longer than it is told to. */
export class ClusterWatch {
  readonly #connections: ClusterConnections;
  readonly #signal: AbortSignal;
  readonly #replies = new Map<string, Reply>();
  readonly #asking = new Map<string, Promise<void>>();
  /** Questions without an answer, which may be older than their askers wait. */
  readonly #open = new Map<string, Promise<Omit<Reply, 'at'>>>();

  constructor(connections: ClusterConnections, signal: AbortSignal) {
    this.#connections = connections;
    this.#signal = signal;
  }

  /** The clusters with what they said last. Those that are asked now have `within` to answer in time for this. */
  async look(clusters: readonly ListedCluster[], within: number): Promise<readonly ListedCluster[]> {
    const open = clusters.filter(({ state }) => state === 'running' || state === 'not asked');
    const asked = open.filter(({ name }) => this.#connections.isConnected(name)).map(({ name }) => this.#ask(name));
    let late: NodeJS.Timeout | undefined;
    await Promise.race([Promise.all(asked), new Promise((resolve) => (late = setTimeout(resolve, within)))]);
    clearTimeout(late);
    return clusters
      .map((cluster) => (open.includes(cluster) ? withReply(cluster, this.#replies.get(cluster.name)) : cluster))
      .toSorted((one, other) => rank(one) - rank(other));
  }

  #ask(name: string): Promise<void> {
    if (performance.now() - (this.#replies.get(name)?.at ?? Number.NEGATIVE_INFINITY) < holdsFor)
      return Promise.resolve();
    const asking = this.#asking.get(name) ?? this.#askNow(name).finally(() => this.#asking.delete(name));
    this.#asking.set(name, asking);
    return asking;
  }

  /** Puts the question, which is answered or fails in its own time. */
  #put(name: string): Promise<Omit<Reply, 'at'>> {
    const asked = this.#connections
      .ask(name, this.#signal)
      .then(
        (answer) => ({ answer }),
        (error: Error) => ({ silence: error.message }),
      )
      .finally(() => this.#open.delete(name));
    this.#open.set(name, asked);
    return asked;
  }

  async #askNow(name: string): Promise<void> {
    // A line that is opened for this is everybody's: it goes on when this has waited long enough.
    const asked = this.#open.get(name) ?? this.#put(name);
    let late: NodeJS.Timeout | undefined;
    const waited = new Promise<{ silence: string }>((resolve) => {
      late = setTimeout(() => resolve({ silence: 'it did not respond in time' }), askWithin);
    });
    const reply = await Promise.race([asked, waited]);
    clearTimeout(late);
    this.#replies.set(name, { at: performance.now(), ...reply });
  }
}

function withReply(cluster: ListedCluster, reply: Reply | undefined): ListedCluster {
  if (reply === undefined) return cluster;
  if (reply.answer === undefined) return { ...cluster, state: 'silent', silence: reply.silence ?? '' };
  const { nodes, jobs, turnOff } = reply.answer;
  return {
    ...cluster,
    state: 'running',
    now: { nodes, jobs },
    ...(turnOff?.at !== undefined && { until: turnOff.at }),
    ...(turnOff && { ending: turnOff.text }),
  };
}
