import type { MantaError } from '../../base/errors.ts';
import { wallClock } from '../../base/wall-clock.ts';
import type { MeantCluster } from '../../head/client/target.ts';
import { type GivenFile, readConfig, specOf } from '../../head/load-spec.ts';
import { readCluster, stateFolder, stateHome } from '../../head/state-folder.ts';
import { launcherErrors } from '../../launcher/errors.ts';
import { localFiles } from '../../launcher/mounts.ts';
import { isCloud } from '../../providers/clouds.ts';
import type { Io } from '../command.ts';
import { confirmed } from '../confirm.ts';
import { overridesIn, type UpSettings } from './up.ts';

/** The head of a cluster that is brought up, as far as a cloud has a part in it, and the file that it is of. */
export interface CloudHead {
  /** `agreed`: the user has said yes to it. `there`: nothing had to be asked, because it is there or none is needed. */
  readonly is: 'there' | 'agreed' | 'declined';
  readonly file?: GivenFile;
}

/** Sees to it that a cluster of a cloud has an instance for its head, after asking. */
export async function headInCloud(meant: MeantCluster, settings: UpSettings, io: Io): Promise<CloudHead> {
  const folder = stateFolder(stateHome(io.env), meant.name);
  const known = readCluster(folder);
  const file = meant.file ?? (known?.config && readConfig(known.config));
  if (file === undefined) return { is: 'there' };
  const spec = specOf(file, overridesIn(settings));
  if (!isCloud(spec.provider.type)) return { is: 'there', file };
  // What can be found wrong here is found before anything costs money.
  localFiles(spec, file.config.path, io.cwd);
  const { ensureCloudHead, hasCloudHead } = await import('../../launcher/cloud-head.ts');
  const request = { folder, file, env: io.env, clock: wallClock, events: io.events };
  const there = await hasCloudHead(request, io.signal);
  const reachable = there && known?.remote?.address !== undefined;
  if (settings.plan && reachable) return { is: 'there', file };
  if (settings.plan || !there) {
    const workers = spec.nodeTypes.reduce((sum, type) => sum + type.minWorkers, 0);
    const plan = `${known === undefined ? 'New cluster' : 'Cluster'} '${folder.name}' on ${spec.provider.type}: ${
      there ? 'the head is on its way' : `an instance of ${spec.headType} for the head`
    }, and ${workers} ${workers === 1 ? 'worker' : 'workers'} to begin with.\n`;
    if (settings.plan) {
      io.out(io.json ? `${JSON.stringify({ name: folder.name, done: false, plan })}\n` : plan);
      return { is: 'declined' };
    }
    const nobody = (): MantaError => launcherErrors.NotAgreed({ name: folder.name, plan });
    if (!(await confirmed('Go on?', settings.yes === true, io, { shown: plan, nobody }))) return { is: 'declined' };
  }
  await ensureCloudHead(request, io.signal);
  return { is: there ? 'there' : 'agreed', file };
}
