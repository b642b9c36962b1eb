import { rayErrors } from '../errors.ts';
import { ActorInfoGcsService, DeathReason, InternalKVGcsService, NodeInfoGcsService, NodeLife } from '../gen/gcs_pb.js';
import {
  type JobInfo,
  jobKey,
  jobNamespace,
  type NodeFate,
  supervisorName,
  supervisorNamespace,
} from '../jobs/job-info.ts';
import { GcsClient } from './gcs-client.ts';

/** A node as Ray's node table has it: earlier and more than the state of the autoscaler service tells. */
export interface RayNodeInfo {
  readonly id: string;
  readonly address: string;
  /** The provider's id of its instance; absent for nodes added by hand. */
  readonly instance?: string;
  readonly type?: string;
  readonly alive: boolean;
  /** Where its raylet listens. */
  readonly rayletPort: number;
  readonly head: boolean;
  /** Where its agent, which runs jobs, listens. Not above 0 while that is not known, or when it found its port taken. */
  readonly agentPort: number;
  /** Why it is dead. */
  readonly death?: { readonly preempted: boolean; readonly message: string };
}

const notFound = 17;
const { method: store } = InternalKVGcsService;
const { method: actors } = ActorInfoGcsService;

/** Ray's control store: values, nodes, and the actors that run jobs. */
export class Gcs extends GcsClient {
  /** A value of the store; undefined when there is none. */
  async value(key: string, namespace: string, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const request = { key: Buffer.from(key), namespace: Buffer.from(namespace) };
    const reply = await this.call(store.internalKVGet, request, signal);
    if (reply.status?.code === notFound) return undefined;
    assertWell('InternalKVGet', reply.status);
    return reply.value;
  }

  async put(key: string, value: string | Uint8Array, namespace: string, signal: AbortSignal): Promise<void> {
    const request = {
      key: Buffer.from(key),
      value: Buffer.from(value),
      overwrite: true,
      namespace: Buffer.from(namespace),
    };
    assertWell('InternalKVPut', (await this.call(store.internalKVPut, request, signal)).status);
  }

  /** What is kept of these jobs; those that are not known are left out. */
  async jobs(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, JobInfo>> {
    const keys = new Map(ids.map((id) => [jobKey(id), id]));
    const request = { keys: [...keys.keys()].map((key) => Buffer.from(key)), namespace: Buffer.from(jobNamespace) };
    const reply = await this.call(store.internalKVMultiGet, request, signal);
    if (reply.status?.code !== notFound) assertWell('InternalKVMultiGet', reply.status);
    return new Map(
      reply.entries.flatMap(({ key, value }) => {
        const id = keys.get(Buffer.from(key).toString());
        return id === undefined ? [] : [[id, JSON.parse(Buffer.from(value).toString()) as JobInfo]];
      }),
    );
  }

  /** Ends the actor that runs a job, with its process, or takes it from those that wait for room. */
  async killSupervisor(id: string, signal: AbortSignal): Promise<void> {
    const asked = { name: supervisorName(id), namespace: supervisorNamespace };
    const found = await this.call(actors.getNamedActorInfo, asked, signal);
    if (found.status?.code === notFound || !found.actor) return;
    assertWell('GetNamedActorInfo', found.status);
    const reply = await this.call(
      actors.killActorViaGcs,
      { actor: found.actor.id, force: true, noRestart: true },
      signal,
    );
    if (reply.status?.code !== notFound) assertWell('KillActorViaGcs', reply.status);
  }

  async nodeTable(signal: AbortSignal): Promise<readonly RayNodeInfo[]> {
    const reply = await this.call(NodeInfoGcsService.method.getAllNodeInfo, {}, signal);
    return reply.nodes.map((node) => ({
      id: Buffer.from(node.id).toString('hex'),
      address: node.address,
      ...(node.instanceId === '' ? {} : { instance: node.instanceId }),
      ...(node.type === '' ? {} : { type: node.type }),
      alive: node.life === NodeLife.ALIVE,
      rayletPort: node.rayletPort,
      head: node.head,
      agentPort: node.dashboardAgentPort,
      ...(node.death
        ? { death: { preempted: node.death.reason === DeathReason.PREEMPTED, message: node.death.message } }
        : {}),
    }));
  }

  /** Ray's folder on the head, where its logs are. */
  async sessionFolder(signal: AbortSignal): Promise<string | undefined> {
    const stored = await this.value('session_dir', 'session', signal);
    if (stored) return Buffer.from(stored).toString();
    const { nodes } = await this.call(NodeInfoGcsService.method.getAllNodeInfo, {}, signal);
    return nodes.find(({ head, life }) => head && life === NodeLife.ALIVE)?.sessionDir || undefined;
  }

  /** A node that is not in the table any more died long ago. */
  async fateOf(node: string, signal: AbortSignal): Promise<NodeFate> {
    const found = (await this.nodeTable(signal)).find(({ id }) => id === node);
    if (found?.alive) return 'alive';
    return found?.death?.preempted ? 'preempted' : 'lost';
  }
}

function assertWell(call: string, status: { readonly code: number; readonly message: string } | undefined): void {
  if (status && status.code !== 0) throw rayErrors.Refused({ call, detail: status.message });
}
