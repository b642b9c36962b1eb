import type { Run } from '../command.ts';
import { cliErrors } from '../errors.ts';
import { drainNode } from './drain.ts';

const command = 'manta drain-node';

export const run: Run = (invocation, io) => {
  const { 'node-id': node, reason } = invocation.options as { 'node-id'?: string; reason: string };
  if (node === undefined)
    throw cliErrors.MissingArgument({ command, argument: '--node-id', usage: `${command} --node-id ID` });
  const seconds = invocation.options['deadline-remaining-seconds'] as number | undefined;
  const within = seconds === undefined ? {} : { within: seconds * 1_000 };
  return drainNode(
    { ...invocation, args: [node] },
    io,
    reason === 'DRAIN_NODE_REASON_PREEMPTION' ? { reason: 'preemption', ...within } : {},
  );
};
