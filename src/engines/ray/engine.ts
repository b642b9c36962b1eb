import type { Clock } from '../../base/clock.ts';
import type { TaskDemand } from '../../core/demand.ts';
import type { Infeasible } from '../../core/plan/plan.ts';
import type { Engine, EngineState } from '../engine.ts';
import type { AttemptReport, Runner } from '../runner.ts';
import { readJobs } from './dashboard.ts';
import { rayErrors } from './errors.ts';
import type { GcsOptions } from './gcs-client.ts';
import { GcsClient } from './gcs-client.ts';
import { AutoscalerStateService, DrainReason } from './gen/autoscaler_pb.js';
import { InternalKVGcsService, NodeInfoGcsService, NodeLife } from './gen/gcs_pb.js';
import { readState } from './read-state.ts';
import { writeConstraint, writeGang, writeRequest } from './write-demand.ts';

export interface RayEngineOptions extends GcsOptions {
  /** `http://host:port` of Ray's dashboard, where jobs are read. */
  readonly dashboard: string;
  readonly clock: Clock;
}

/** A node as Ray's node table has it: earlier and more than the state of the autoscaler service tells. */
export interface RayNodeInfo {
  readonly id: string;
  readonly address: string;
  readonly alive: boolean;
  readonly head: boolean;
  /** Where its agent, which runs jobs, listens. 0 while that is not known. */
  readonly agentPort: number;
}

const nodeIdBytes = 28;
const notFound = 17;
const { method: state } = AutoscalerStateService;

/** A real Ray, through its public contracts: the state of its autoscaler service and its jobs API. */
export class RayEngine implements Engine, Pick<Runner, 'attempts'> {
  readonly #options: RayEngineOptions;
  readonly #gcs: GcsClient;
  #reported = 0;

  constructor(options: RayEngineOptions) {
    this.#options = options;
    this.#gcs = new GcsClient(options);
  }

  close(): void {
    this.#gcs.close();
  }

  async state(signal: AbortSignal): Promise<EngineState> {
    // A last seen version beyond the server's own aborts the whole GCS: it is never sent.
    const reply = await this.#gcs.call(state.getClusterResourceState, { lastSeenVersion: 0n }, signal);
    if (!reply.state) throw rayErrors.Refused({ call: 'GetClusterResourceState', detail: 'the answer holds no state' });
    return readState(reply.state, this.#options.clock.now());
  }

  async drain(
    node: string,
    reason: { readonly kind: 'idle' } | { readonly kind: 'preemption'; readonly deadline: number },
    signal: AbortSignal,
  ): Promise<{ readonly accepted: boolean; readonly reason?: string }> {
    const id = Buffer.from(node, 'hex');
    if (id.length !== nodeIdBytes) throw rayErrors.Refused({ call: 'DrainNode', detail: `'${node}' is no node id` });
    const idle = reason.kind === 'idle';
    const request = {
      node: id,
      // Ray aborts on a reason that is not set.
      reason: idle ? DrainReason.IDLE : DrainReason.PREEMPTION,
      message: idle ? 'idle for longer than its timeout' : 'the provider takes the machine away',
      deadlineMs: idle ? 0n : BigInt(Math.round(reason.deadline)),
    };
    const reply = await this.#gcs.call(state.drainNode, request, signal);
    return { accepted: reply.accepted, ...(reply.problem === '' ? {} : { reason: reply.problem }) };
  }

  async reportInfeasible(infeasible: readonly Infeasible[], signal: AbortSignal): Promise<void> {
    // Ray drops a report whose version is not above the last one it saw, also one of an earlier head: so it is the time.
    this.#reported = Math.max(this.#reported + 1, this.#options.clock.now());
    const report = {
      version: BigInt(this.#reported),
      infeasible: infeasible.flatMap((each) => (each.kind === 'tasks' ? [writeRequest(each.request)] : [])),
      infeasibleGangs: infeasible.flatMap((each) => (each.kind === 'gang' ? [writeGang(each.gang)] : [])),
      infeasibleConstraints: infeasible.flatMap((each) =>
        each.kind === 'standing' ? [writeConstraint(each.standing.requests)] : [],
      ),
    };
    await this.#gcs.call(state.reportAutoscalingState, { report }, signal);
  }

  /** Replaces the standing request; Ray keeps it in memory until its GCS restarts. */
  async requestResources(requests: readonly TaskDemand[], signal: AbortSignal): Promise<void> {
    await this.#gcs.call(state.requestClusterResourceConstraint, { constraint: writeConstraint(requests) }, signal);
  }

  /** Jobs of Ray's own jobs API. How much output they have is not told. */
  async attempts(signal: AbortSignal): Promise<readonly AttemptReport[]> {
    const { dashboard, token } = this.#options;
    return readJobs({ url: dashboard, ...(token === undefined ? {} : { token }) }, signal);
  }

  /** A value of the GCS's own store; undefined when there is none. */
  async value(key: string, namespace: string, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const request = { key: Buffer.from(key), namespace: Buffer.from(namespace) };
    const reply = await this.#gcs.call(InternalKVGcsService.method.internalKVGet, request, signal);
    if (reply.status?.code === notFound) return undefined;
    if (reply.status && reply.status.code !== 0)
      throw rayErrors.Refused({ call: 'InternalKVGet', detail: reply.status.message });
    return reply.value;
  }

  async nodeTable(signal: AbortSignal): Promise<readonly RayNodeInfo[]> {
    const reply = await this.#gcs.call(NodeInfoGcsService.method.getAllNodeInfo, {}, signal);
    return reply.nodes.map((node) => ({
      id: Buffer.from(node.id).toString('hex'),
      address: node.address,
      alive: node.life === NodeLife.ALIVE,
      head: node.head,
      agentPort: node.dashboardAgentPort,
    }));
  }
}
