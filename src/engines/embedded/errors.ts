import { defineError } from '../../base/errors.ts';

export const embeddedErrors = {
  AgentSilent: defineError<{ instance: string; call: string }>({
    code: 'MANTA_EMBEDDED_AGENT_SILENT',
    exit: 6,
    message: (e) => `the agent of instance '${e.instance}' does not answer '${e.call}'`,
    hint: () =>
      'its log is agent.log in its instance folder; an agent that stays silent is ended and its work counts as lost',
  }),
  AgentRefused: defineError<{ instance: string; call: string; problem: string }>({
    code: 'MANTA_EMBEDDED_AGENT_REFUSED',
    exit: 6,
    message: (e) => `the agent of instance '${e.instance}' refused '${e.call}': ${e.problem}`,
  }),
  Protocol: defineError<{ problem: string }>({
    code: 'MANTA_EMBEDDED_PROTOCOL',
    exit: 6,
    message: (e) => `a message between mantad and an agent makes no sense: ${e.problem}`,
    hint: () => 'mantad and the agent may be of different versions: drain the node, a new one takes its place',
  }),
  NotSynced: defineError<{ instances: readonly string[] }>({
    code: 'MANTA_EMBEDDED_NOT_SYNCED',
    exit: 6,
    message: (e) => `agents have not answered yet: ${e.instances.join(', ')}`,
    hint: () => 'nothing is decided until all have answered or were found dead',
  }),
  SetupFailed: defineError<{ step: string; problem: string }>({
    code: 'MANTA_EMBEDDED_SETUP_FAILED',
    exit: 1,
    message: (e) => `setting up '${e.step}' failed: ${e.problem}`,
    hint: () => "the job's log shows what the installer said",
  }),
};
