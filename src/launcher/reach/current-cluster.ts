import type { JobsAnswer, NodeAnswer, NodesAnswer } from '../../api/types.ts';
import type { RunOptions } from '../../base/host.ts';
import { clientAt, type HttpClient } from '../../client/http.ts';
import { lineTo } from '../../client/line.ts';
import { isFinal, isPending } from '../../core/lifecycle.ts';
import type { Serving } from '../../state/serving.ts';
import type { HeadLook } from '../head/look.ts';
import { claimedNodes } from './node-claims.ts';
import type { RemoteCluster } from './remote-cluster.ts';

/** A worker that the cluster has. */
export interface WorkerNow {
  /** The address of its machine, or the name that is known instead. */
  readonly name: string;
  readonly type: string;
  /** It ends already. */
  readonly ending: boolean;
}

/** What runs on Ray: jobs of the queue, and drivers that were given to Ray itself. */
export interface RunningJobs {
  readonly total: number;
  /** Of the first of them. */
  readonly names: readonly string[];
}

const mostNamed = 10;

/** As mantad knows it; undefined when it does not answer. */
export async function runningJobs(
  cluster: RemoteCluster,
  look: HeadLook,
  signal: AbortSignal,
): Promise<RunningJobs | undefined> {
  const query = { state: 'running', limit: mostNamed, others: 1 };
  const answer = await askMantad<JobsAnswer>(cluster, look, '/api/manta/v1/jobs', query, signal);
  if (answer === undefined) return undefined;
  const others = (answer.others ?? []).filter(({ state }) => state === 'running');
  const names = [...answer.jobs, ...others].map(({ id }) => id);
  return { total: answer.total + others.length, names: names.slice(0, mostNamed) };
}

/** By mantad where it serves, else by the claims that are written down on the head. */
export async function workersNow(
  cluster: RemoteCluster,
  look: HeadLook,
  signal: AbortSignal,
): Promise<readonly WorkerNow[]> {
  const answer = await askMantad<NodesAnswer>(cluster, look, '/api/manta/v1/nodes', {}, signal);
  return answer === undefined ? await claimedWorkers(cluster, { signal }) : answer.nodes.flatMap(workerOf);
}

/** A client of the mantad that serves on the head; the caller closes it. */
export async function clientOnHead(
  { name, head }: Pick<RemoteCluster, 'name' | 'head'>,
  serving: Serving,
  token: string,
  signal: AbortSignal,
): Promise<HttpClient> {
  const socket = await lineTo(head, serving, signal);
  return clientAt({ url: serving.url, token, socket }, signal, name);
}

async function askMantad<Value>(
  cluster: RemoteCluster,
  { serving, ownerToken }: HeadLook,
  path: string,
  query: Readonly<Record<string, string | number>>,
  signal: AbortSignal,
): Promise<Value | undefined> {
  if (serving === undefined || ownerToken === undefined) return undefined;
  let http: HttpClient | undefined;
  try {
    http = await clientOnHead(cluster, serving, ownerToken, signal);
    return await http.json<Value>('GET', path, { query, silence: 10_000 });
  } catch {
    signal.throwIfAborted();
    return undefined;
  } finally {
    http?.close();
  }
}

function workerOf({ kind, instance, machine, address, type, status, byHand }: NodeAnswer): WorkerNow[] {
  if (kind !== 'worker' || byHand || isFinal(status)) return [];
  return [{ name: address ?? machine ?? instance, type, ending: !isPending(status) && status !== 'running' }];
}

async function claimedWorkers({ head, name }: RemoteCluster, options: RunOptions): Promise<readonly WorkerNow[]> {
  const claims = (await claimedNodes(head, name, options)) ?? [];
  return claims
    .filter(({ kind }) => kind === 'worker')
    .map(({ address, type, state }) => ({
      name: address,
      type,
      ending: state === 'ending' || state === 'unverified',
    }));
}
