import type { GangDemand, TaskDemand } from '../../core/demand.ts';
import type { Engine } from '../../engines/engine.ts';

/**
 * Jobs that wait in the queue are demand until they are handed over; from then on the engine reports them. Until the queue
 * has asked the engine for all of them, some job may be on no side: no node counts as idle.
 */
export function withQueuedDemand(
  engine: Engine,
  queue: {
    demand(): { readonly tasks: readonly TaskDemand[]; readonly gangs: readonly GangDemand[] };
    readonly synced: boolean;
  },
): Engine {
  return {
    async state(signal) {
      const state = await engine.state(signal);
      const { tasks, gangs } = queue.demand();
      return {
        ...state,
        nodes: queue.synced ? state.nodes : state.nodes.map((node) => ({ ...node, idleFor: 0 })),
        demand: {
          ...state.demand,
          tasks: [...state.demand.tasks, ...tasks],
          gangs: [...state.demand.gangs, ...gangs],
        },
      };
    },
    drain: (node, reason, signal) => engine.drain(node, reason, signal),
    reportInfeasible: (infeasible, signal) => engine.reportInfeasible(infeasible, signal),
  };
}
