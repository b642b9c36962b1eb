import { defineEvent } from '../base/events.ts';

export const simulationEvents = {
  run: defineEvent<{ scenario: string; decider: string; seed: number; done: number; total: number }>({
    code: 'MANTA_SIMULATION_RUN',
    level: 'info',
    text: (e) => `${e.scenario} with ${e.decider}, seed ${e.seed} (${e.done} of ${e.total})`,
  }),
};
