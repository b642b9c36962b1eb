import type { GangDemand, TaskDemand } from '../core/demand.ts';
import type { Engine } from '../engines/engine.ts';

/** Jobs that wait in the queue are demand until they are handed over; from then on the engine reports them. */
export function withQueuedDemand(
  engine: Engine,
  queued: () => { readonly tasks: readonly TaskDemand[]; readonly gangs: readonly GangDemand[] },
): Engine {
  return {
    async state(signal) {
      const state = await engine.state(signal);
      const { tasks, gangs } = queued();
      return {
        ...state,
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
