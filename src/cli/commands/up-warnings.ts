import { openCluster } from '../../core/spec/read.ts';
import { launcherEvents } from '../../launcher/events.ts';
import type { RemoteCluster } from '../../launcher/remote-cluster.ts';
import type { Io } from '../command.ts';

/** More of them hide what `up` does; `manta config check` has them all. */
const mostShown = 8;

/** Tells what in the file does not mean what its writer may believe, such as keys of an earlier Ray. */
export function warnOfFile({ config }: RemoteCluster, io: Io): void {
  const { problems } = openCluster(config.path, Buffer.from(config.text), config.env);
  const warnings = problems.filter(({ severity }) => severity === 'warning');
  for (const { at, message } of warnings.slice(0, mostShown))
    io.events.emit(launcherEvents.fileWarning, { file: config.path, line: at.line, message });
  const more = warnings.length - mostShown;
  if (more > 0) io.events.emit(launcherEvents.moreWarnings, { file: config.path, more });
}
