import { credentialsOf, isCloud, listsLag, openCloud } from '../../providers/clouds.ts';
import { loadSpec } from '../load-spec.ts';
import { endedTags } from '../ray/ended-tags.ts';
import { changeCluster, type Ended, readCluster, type StateFolder } from '../state-folder.ts';

/**
 * How a cluster of a cloud ended whose head is no longer there, by what the head left on its own instance, or else by what
 * the cloud says; undefined where the head is there. What was found out is written down on this machine: clouds forget.
 */
export async function endedInCloud(
  folder: StateFolder,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<Ended | undefined> {
  const record = readCluster(folder);
  const { instance, clusterId, askedAt = record?.createdAt ?? 0 } = record?.remote ?? {};
  if (record === undefined || instance === undefined || clusterId === undefined) return undefined;
  const spec = loadSpec(record);
  if (!isCloud(spec.provider.type)) return undefined;
  const credential = await credentialsOf(spec, env);
  const cloud = await openCloud({
    cluster: folder.name,
    clusterId,
    spec: () => spec,
    login: () => ({ user: '', publicKey: '' }),
    credential: () => credential,
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
    why: `its head, instance ${instance}, was found to be gone${reason}`,
    left: [],
    headGone: true,
    lost: { instance, ...(workers !== undefined && { workers: workers.length }) },
  };
  const ended = said === undefined ? lost : { ...said, headGone: true };
  changeCluster(folder, (each) => ({ ...each, ended }));
  return ended;
}
