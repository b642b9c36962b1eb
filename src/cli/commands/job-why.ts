import type { Run } from '../command.ts';
import { withHead } from './cluster-connection.ts';
import type { jobOptions } from './job.ts';
import { explain } from './why.ts';

export const run: Run<typeof jobOptions> = (invocation, io) =>
  withHead(invocation, io, async (http) => explain(http, ['job'], invocation.args[0]!, io));
