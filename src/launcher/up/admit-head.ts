import type { PreparedCloud } from '../../providers/clouds.ts';
import { descriptorFor } from '../../providers/table.ts';
import { clientFor } from '../head/cloud-client.ts';
import { remember, remembered } from '../head/cloud-record.ts';
import type { HeadLook } from '../head/look.ts';
import type { UpRemoteRequest } from './remote.ts';

/**
 * Lets the head's own key in on workers where they take keys from their cloud alone, which only the user may tell it. Returns
 * what is prepared then; undefined where nothing had to be done.
 */
export async function admitHead(
  { cluster: { folder, file, spec }, overrides, env, clock, events }: UpRemoteRequest,
  { publicKey }: HeadLook,
  signal: AbortSignal,
): Promise<PreparedCloud | undefined> {
  if (spec.provider.kind !== 'cloud' || publicKey === undefined) return undefined;
  const module = await descriptorFor(spec, 'cloud').load();
  if (module.admitHead === undefined) return undefined;
  const request = { folder, file, overrides, env, clock, events };
  const client = await clientFor(request, remembered(request).clusterId, 'look');
  const prepared = await module.admitHead({ ...client, clock, events }, publicKey.trim(), signal);
  if (prepared !== undefined) remember(folder, { prepared });
  return prepared;
}
