import { defineError } from '../../base/errors.ts';

export const embeddedErrors = {
  AgentSilent: defineError<{ instance: string; call: string }>({
    code: 'MANTA_EMBEDDED_AGENT_SILENT',
    exit: 6,
    message: (e) => `the agent of instance '${e.instance}' did not respond to '${e.call}'`,
    hint: () =>
      'see agent.log in its instance folder; an agent that stays unresponsive is killed and its work counts as lost',
  }),
  AgentRefused: defineError<{ instance: string; call: string; problem: string }>({
    code: 'MANTA_EMBEDDED_AGENT_REFUSED',
    exit: 6,
    message: (e) => `the agent of instance '${e.instance}' refused '${e.call}': ${e.problem}`,
  }),
  Protocol: defineError<{ problem: string }>({
    code: 'MANTA_EMBEDDED_PROTOCOL',
    exit: 6,
    message: (e) => `invalid message between mantad and an agent: ${e.problem}`,
    hint: () => 'mantad and the agent may have different versions; drain the node to replace it',
  }),
  NotSynced: defineError<{ instances: readonly string[] }>({
    code: 'MANTA_EMBEDDED_NOT_SYNCED',
    exit: 6,
    message: (e) => `agents have not responded yet: ${e.instances.join(', ')}`,
    hint: () => 'Manta makes no decisions until every agent has responded or is known to be dead',
  }),
  SetupFailed: defineError<{ step: string; problem: string }>({
    code: 'MANTA_EMBEDDED_SETUP_FAILED',
    exit: 1,
    message: (e) => `setting up '${e.step}' failed: ${e.problem}`,
    hint: () => "see the job's log for the installer's output",
  }),
};
