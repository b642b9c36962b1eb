import type { Run } from '../../command.ts';
import { withHead } from '../../shared/cluster-connection.ts';
import { explain } from '../status/why.ts';
import type { jobOptions } from './declaration.ts';

export const run: Run<typeof jobOptions> = (invocation, io) =>
  withHead(invocation, io, async (http) => explain(http, ['job'], invocation.args[0]!, io));
