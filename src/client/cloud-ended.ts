import { listsLag, openCloud } from '../providers/clouds.ts';
import { changeCluster, type Ended, readLaptopRecord } from '../state/cluster-record.ts';
import { endedTags } from '../state/ended-tags.ts';
import { loadSpec } from '../state/load-spec.ts';
import type { StateFolder } from '../state/state-folder.ts';

/**
 * How a cluster of a cloud ended whose head is no longer there, by what the head left on its own instance, or else by what
 * the cloud says; undefined where the head is there. What was found out is written down on this machine: clouds forget.
 */
export async function endedInCloud(
  folder: StateFolder,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<Ended | undefined> {
  const record = readLaptopRecord(folder);
  const { instance, clusterId, askedAt = record?.createdAt ?? 0 } = record?.remote ?? {};
  if (record === undefined || instance === undefined || clusterId === undefined) return undefined;
  const spec = loadSpec(record);
  if (spec.provider.kind !== 'cloud') return undefined;
  const cloud = await openCloud({
    cluster: folder.name,
    clusterId,
    spec: () => spec,
    login: () => ({ user: '', publicKey: '' }),
    identity: () => ({ kind: 'user', env }),
    prepared: () => readLaptopRecord(folder)?.remote.prepared,
  });
  const known = await cloud.lastKnown(instance, signal);
  if (known !== undefined && !known.ended) return undefined;
  // A young one is perhaps not yet known to everything that answers for the cloud.
  if (known === undefined && Date.now() < askedAt + listsLag) return undefined;
  const listed = await cloud.list(signal).catch(() => undefined);
  const workers = listed?.filter(({ kind, state }) => kind === 'worker' && state !== 'stopping');
  const said = endedTags.read(known?.tags ?? {});
  const reason = known?.reason === undefined ? '' : ` (${known.reason})`;
  const lost: Ended = {
    at: Date.now(),
    why: `its head, instance ${instance}, is gone${reason}`,
    left: [],
    headGone: true,
    lost: { instance, ...(workers !== undefined && { workers: workers.length }) },
  };
  const ended = said === undefined ? lost : { ...said, headGone: true };
  changeCluster(folder, (each) => ({ ...each, ended }));
  return ended;
}
