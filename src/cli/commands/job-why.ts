import type { Run } from '../command.ts';
import { withHead } from './cluster-connection.ts';
import { explain } from './why.ts';

export const run: Run = (invocation, io) =>
  withHead(invocation, io, async (http) => explain(http, ['job'], invocation.args[0]!, io));
