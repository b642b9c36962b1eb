import type { Run } from '../command.ts';
import { cliErrors } from '../errors.ts';
import { run as drain } from './drain.ts';

const command = 'manta drain-node';

export const run: Run = (invocation, io) => {
  const { 'node-id': node, reason } = invocation.options as { 'node-id'?: string; reason: string };
  if (node === undefined)
    throw cliErrors.MissingArgument({ command, argument: '--node-id', usage: `${command} --node-id ID` });
  // Without its deadline a preemption would be something else than what was asked for.
  if (reason !== 'DRAIN_NODE_REASON_IDLE_TERMINATION')
    throw cliErrors.BadValue({
      command,
      option: '--reason',
      value: reason,
      expected: 'DRAIN_NODE_REASON_IDLE_TERMINATION on a Manta cluster',
    });
  return drain({ ...invocation, args: [node] }, io);
};
