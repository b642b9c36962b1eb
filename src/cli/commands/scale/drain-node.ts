import type { Run } from '../../command.ts';
import { cliErrors } from '../../errors.ts';
import type { drainNodeOptions } from './declaration.ts';
import { drainNode } from './drain.ts';

const command = 'manta drain-node';

export const run: Run<typeof drainNodeOptions> = (invocation, io) => {
  const { nodeId: node, reason, deadlineRemainingSeconds: seconds } = invocation.options;
  if (node === undefined)
    throw cliErrors.MissingArgument({ command, argument: '--node-id', usage: `${command} --node-id ID` });
  const within = seconds === undefined ? {} : { within: seconds * 1_000 };
  return drainNode(
    { ...invocation, args: [node] },
    io,
    reason === 'DRAIN_NODE_REASON_PREEMPTION' ? { reason: 'preemption', ...within } : {},
  );
};
