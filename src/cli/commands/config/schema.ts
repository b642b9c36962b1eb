import { clusterSchema } from '../../../core/spec/keys/schema.ts';
import { providers } from '../../../providers/table.ts';
import type { Run } from '../../command.ts';

export const run: Run = async (_invocation, io) => {
  io.out(`${JSON.stringify(clusterSchema(providers.keyTree), undefined, io.json ? undefined : 2)}\n`);
  return 0;
};
