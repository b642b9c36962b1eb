import type { Clock, Duration } from '../../../base/time/clock.ts';
import { steadyClock } from '../../../base/time/steady-clock.ts';
import { endedBySignal, type JobEnd, type JobInfo, type NodeFate, readEnd } from './job-info.ts';
import type { LogPull } from './log-pull.ts';

export interface EndEdges {
  readonly clock: Clock;
  readonly fateOf: (node: string, signal: AbortSignal) => Promise<NodeFate>;
  /** It drains, or its provider takes it away. */
  readonly isLeaving: (node: string) => boolean;
  /** Ends a log whose last bytes cannot be had. */
  readonly abandon: (pull: LogPull, reason: string) => Promise<void>;
}

export interface EndedJob {
  readonly info: JobInfo;
  readonly stopped: boolean;
  readonly pull?: LogPull | undefined;
}

/** How long a node that lives may take to give the last output. */
const lastOutputWithin: Duration = 10_000;
const lostWithin: Duration = 1_000;
/** Ray's own health checks take half as long to find a node dead. */
const verdictWithin: Duration = 30_000;
/** A machine that goes down in order ends the driver first, and its raylet signs off within this. */
const signedOffWithin: Duration = 1_000;
/** The same of one that was to go, and may take its time. */
const leftWithin: Duration = 8_000;

/** Why a job that Ray calls over ended, once its last output is here or given up. */
export async function settleEnd(job: EndedJob, edges: EndEdges, signal: AbortSignal): Promise<JobEnd> {
  const { info, stopped, pull } = job;
  const node = info.driver_node_id;
  // Asked of those only whose end the node may explain.
  const signalled = endedBySignal(info) && !stopped;
  const suspect = signalled || (info.status === 'FAILED' && typeof info.driver_exit_code !== 'number');
  let fate = node && suspect ? await edges.fateOf(node, signal) : 'alive';
  if (pull && !(await pull.finish(fate === 'alive' ? lastOutputWithin : lostWithin))) {
    if (node && fate === 'alive') fate = await verdictOn(node, suspect ? verdictWithin : 0, edges, signal);
    await edges.abandon(pull, fate === 'alive' ? `node ${node} did not return it` : `node ${node} is gone`);
  } else if (node && signalled && fate === 'alive') {
    fate = await verdictOn(node, edges.isLeaving(node) ? leftWithin : signedOffWithin, edges, signal);
  }
  return readEnd(info, { stopped, fate });
}

/** What Ray says of a node that may be on its way out: for a while that it lives, also where it is gone. */
async function verdictOn(node: string, within: Duration, edges: EndEdges, signal: AbortSignal): Promise<NodeFate> {
  const clock = steadyClock(edges.clock);
  for (const until = clock.now() + within; ; await clock.sleep(500, signal)) {
    const fate = await edges.fateOf(node, signal).catch(() => 'alive' as const);
    if (fate !== 'alive' || clock.now() >= until) return fate;
  }
}
