import { makeFolder } from '../../base/files/json-file.ts';
import { takeLock } from '../../base/files/lock.ts';
import { descriptorFor } from '../../providers/table.ts';
import { launcherErrors } from '../errors.ts';
import { type CloudRequest, clientFor, specFor } from '../head/cloud-client.ts';
import { ensureCloudHead } from '../head/cloud-head.ts';
import { remember, remembered } from '../head/cloud-record.ts';
import { endOldHead } from '../head/replace-head.ts';
import type { RemoteCluster } from '../reach/remote-cluster.ts';
import type { CloudPlan } from './cloud-plan.ts';
import { placingErrors } from './place-in-file.ts';

/** Carries out what was planned: what the cluster needs of its cloud, and its head. Each step may be repeated. */
export async function readyCloud(
  request: CloudRequest,
  { clusterId, head: { action, instance } }: CloudPlan,
  openOld: () => RemoteCluster,
  signal: AbortSignal,
): Promise<void> {
  const { folder } = request;
  makeFolder(folder.path);
  const taken = takeLock(folder.files.commandLock);
  if ('holder' in taken) throw launcherErrors.Busy({ name: folder.name, pid: taken.holder.pid });
  try {
    remembered(request, clusterId);
    await prepareCloud(request, signal);
    if (action === 'replace' && instance !== undefined) await endOldHead(request, openOld, instance, signal);
    await ensureCloudHead(request, signal);
  } finally {
    taken.lock.release();
  }
}

/**
 * Finds or makes what the cluster needs of its cloud, and writes it down. The cluster's id is written down before, because
 * what is made carries it.
 */
export async function prepareCloud(request: CloudRequest, signal: AbortSignal): Promise<void> {
  const { folder, file, clock, events } = request;
  const module = await descriptorFor(specFor(request), 'cloud').load();
  if (module.prepare === undefined) return;
  const client = await clientFor(request, remembered(request).clusterId, 'make');
  const work = module.prepare({ ...client, clock, events }, signal);
  remember(folder, { prepared: await placingErrors(file, work) });
}
