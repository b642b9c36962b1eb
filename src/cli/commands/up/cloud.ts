import type { MantaError } from '../../../base/errors.ts';
import { wallClock } from '../../../base/time/wall-clock.ts';
import type { MeantCluster } from '../../../client/target.ts';
import { launcherErrors } from '../../../launcher/errors.ts';
import { launcherEvents } from '../../../launcher/events.ts';
import { type CloudRequest, namedKeyProblem } from '../../../launcher/head/cloud-client.ts';
import type { RunningJobs } from '../../../launcher/reach/current-cluster.ts';
import { openRemote, type RemoteCluster } from '../../../launcher/reach/remote-cluster.ts';
import { refuseOutdatedStart } from '../../../launcher/up/check-start.ts';
import type { CloudPlan } from '../../../launcher/up/cloud-plan.ts';
import { localFiles, missingMounts } from '../../../launcher/up/mounts.ts';
import { placed } from '../../../launcher/up/place-in-file.ts';
import { readCluster, readLaptopRecord } from '../../../state/cluster-record.ts';
import { type GivenFile, readConfig, specOf } from '../../../state/load-spec.ts';
import { stateFolder, stateHome } from '../../../state/state-folder.ts';
import type { Io } from '../../command.ts';
import { confirmed } from '../../confirm.ts';
import { cloudPlanText } from './cloud-plan-text.ts';
import { overridesIn, type UpSettings } from './up.ts';

/** The head of a cluster that is brought up, as far as a cloud has a part in it, and the file that it is of. */
export interface CloudHead {
  /** `agreed`: the user has said yes to a new one. `there`: it is there, or none is needed. */
  readonly is: 'there' | 'agreed' | 'declined';
  readonly file?: GivenFile;
  /** What was, or would be, asked of the cloud. */
  readonly cloud?: CloudPlan;
}

/** Sees to it that a cluster of a cloud has what it needs there, and an instance for its head, after asking. */
export async function headInCloud(meant: MeantCluster, settings: UpSettings, io: Io): Promise<CloudHead> {
  const folder = stateFolder(stateHome(io.env), meant.name);
  const known = readCluster(folder);
  const file = meant.file ?? (known?.config && readConfig(known.config));
  if (file === undefined) return { is: 'there' };
  const overrides = overridesIn(settings);
  const spec = specOf(file, overrides);
  if (settings.plan !== true) refuseOutdatedStart(file);
  if (spec.provider.kind !== 'cloud') return { is: 'there', file };
  // What can be found wrong here is found before anything costs money.
  if (settings.plan !== true) localFiles(spec, file.config.path, io.cwd);
  const { planCloud } = await import('../../../launcher/up/cloud-plan.ts');
  const request: CloudRequest = { folder, file, overrides, env: io.env, clock: wallClock, events: io.events };
  const planned = await planCloud(request, io.signal);
  const missing = settings.plan ? missingMounts(spec, file.config.path, io.cwd) : [];
  const cloud = { ...planned, warnings: [...missing, ...planned.warnings] };
  const key = settings.plan === true ? undefined : namedKeyProblem(spec);
  if (key !== undefined) throw placed(file, key);
  const reachable = readLaptopRecord(folder)?.remote.address !== undefined;
  if (settings.plan && cloud.head.action === 'keep' && reachable) return { is: 'there', file, cloud };
  const jobs = cloud.head.action === 'replace' ? await jobsAtStake(request, io) : undefined;
  const shown = cloudPlanText(cloud, jobs);
  if (settings.plan) {
    const plan = { cloud, ...(jobs && { runningJobs: jobs }) };
    io.out(io.json ? `${JSON.stringify({ name: folder.name, done: false, plan })}\n` : shown);
    return { is: 'declined' };
  }
  if (changesSomething(cloud)) {
    const nobody = (): MantaError => launcherErrors.NotAgreed({ name: folder.name, plan: shown });
    if (settings.yes && !io.json) process.stderr.write(shown);
    if (!(await confirmed('Continue?', settings.yes === true, io, { shown, nobody }))) return { is: 'declined' };
  }
  for (const message of cloud.warnings) io.events.emit(launcherEvents.cloudWarning, { message });
  const { readyCloud } = await import('../../../launcher/up/prepare-cloud.ts');
  await readyCloud(request, cloud, () => openOld(request, io), io.signal);
  return { is: cloud.head.action === 'keep' ? 'there' : 'agreed', file, cloud };
}

const changesSomething = ({ head, steps }: CloudPlan): boolean =>
  head.action !== 'keep' || steps.some(({ action }) => action !== 'found');

const openOld = ({ folder, file }: CloudRequest, io: Io): RemoteCluster =>
  openRemote({ home: stateHome(io.env), name: folder.name, file });

/** What ends with a head that is replaced. */
async function jobsAtStake(request: CloudRequest, io: Io): Promise<RunningJobs | undefined> {
  const { jobsOnHead } = await import('../../../launcher/head/replace-head.ts');
  if (readLaptopRecord(request.folder)?.remote.address === undefined) return undefined;
  const old = openOld(request, io);
  try {
    const jobs = await jobsOnHead(old, io.signal);
    if (jobs === undefined) io.events.emit(launcherEvents.jobsUnknown, { host: old.head.name });
    return jobs;
  } finally {
    await old.close();
  }
}
