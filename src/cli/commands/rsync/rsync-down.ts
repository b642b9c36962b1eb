import { copyDown, copyPaths } from '../../../launcher/exec/rsync.ts';
import { localFiles } from '../../../launcher/up/mounts.ts';
import type { Run } from '../../command.ts';
import { kubeMeant } from '../../shared/find-cluster.ts';
import { withRemoteMeant } from '../../shared/remote-cluster.ts';
import type { rsyncDownOptions } from './declaration.ts';
import { onThisSide } from './paths.ts';

export const run: Run<typeof rsyncDownOptions> = async (invocation, io) => {
  const [source, target] = invocation.args.slice(invocation.cluster === undefined ? 0 : 1);
  const paths = copyPaths(source, target === undefined ? undefined : onThisSide(target, io));
  const onKube = kubeMeant(invocation, io);
  if (onKube !== undefined)
    return await (await import('./kube.ts')).copyOnKube(onKube, { direction: 'down', paths }, io);
  return await withRemoteMeant(invocation, io, async ({ name, head, place, spec, file }) => {
    const files = localFiles(spec, file.config.path, io.cwd);
    await copyDown({ cluster: name, host: head, place, files, events: io.events }, paths, io.signal);
    return 0;
  });
};
