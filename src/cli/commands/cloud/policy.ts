import { launcherErrors } from '../../../launcher/errors.ts';
import { descriptorOf } from '../../../providers/table.ts';
import { specOf } from '../../../state/load-spec.ts';
import type { Run } from '../../command.ts';
import { readGiven } from '../../shared/given-file.ts';
import { openFile } from '../../shared/open-file.ts';

export const run: Run = async ({ args: [name = '-'] }, io) => {
  const file = readGiven(await openFile(name, io), io);
  const spec = specOf(file);
  const { type: provider } = spec.provider;
  const descriptor = descriptorOf(provider);
  const module = descriptor?.kind === 'cloud' ? await descriptor.load() : undefined;
  const policies = module?.policies?.(spec);
  if (policies === undefined) throw launcherErrors.NoPolicies({ file: name, provider });
  const { head, user } = policies;
  io.out(
    io.json
      ? `${JSON.stringify({ file: name, provider, head, user })}\n`
      : `# for the head\n${head.trimEnd()}\n\n# for those who run manta up and manta down\n${user.trimEnd()}\n`,
  );
  return 0;
};
