import { mapOf } from '../../../core/spec/plain.ts';
import type { Remain } from '../../clouds.ts';
import { providerErrors } from '../../errors.ts';
import type { GoogleCalls } from '../client/calls.ts';
import { computeUrl, lastOf } from '../client/links.ts';
import { allZones } from '../client/paging.ts';
import { ofCluster } from '../labels.ts';
import { clusterPrefix } from '../names.ts';
import { listOf } from '../node-config.ts';
import { hasSlices, nodesByHand } from '../tpu/calls.ts';
import { zoneOfNode } from '../tpu/node.ts';
import { madeFor, rulesNamed } from './made.ts';
import { urlOf } from './release.ts';

/** Everything beside instances that carries the cluster's label or name, and what is left of what was made for it. */
export async function findRemains(calls: GoogleCalls, signal: AbortSignal): Promise<readonly Remain[]> {
  const found = await Promise.all([
    disks(calls, signal),
    tpuRules(calls, signal),
    made(calls, signal),
    byHand(calls, signal),
  ]);
  return found.flat();
}

/** TPU nodes that somebody made for the cluster stay: they find the next head by its labels, as they found this one. */
async function byHand(calls: GoogleCalls, signal: AbortSignal): Promise<readonly Remain[]> {
  if (!hasSlices(calls)) return [];
  return (await nodesByHand(calls, signal)).map(({ name, state = '', acceleratorType = '' }) => ({
    kind: 'TPU node',
    id: `${zoneOfNode(name)}/${lastOf(name)}`,
    keeps: 'made by hand' as const,
    detail: `${acceleratorType}, ${state}`,
  }));
}

interface Disk {
  readonly name: string;
  readonly zone?: string;
  readonly sizeGb?: string;
  readonly type?: string;
  readonly status?: string;
  readonly users?: readonly string[];
}

/** A disk that is in use is its instance's matter. */
async function disks(calls: GoogleCalls, signal: AbortSignal): Promise<readonly Remain[]> {
  const { client, project } = calls;
  const url = computeUrl(project, 'aggregated/disks');
  const filter = ofCluster(client.clusterId);
  const found = await allZones<Disk>(calls, 'disks.aggregatedList', url, { part: 'disks', filter }, signal);
  const keeps = keepsDisks(calls);
  return found
    .filter(({ users = [] }) => users.length === 0)
    .map(({ name, zone = '', sizeGb, type = '', status }) => ({
      kind: 'disk',
      id: `${lastOf(zone)}/${name}`,
      ...(keeps && { keeps: 'by the file' as const }),
      detail: `${sizeGb} GB ${lastOf(type)}, ${status}`,
    }));
}

/** Whether the file says so of any disk. What a template says of its disks is not known here: it may. */
function keepsDisks({ client }: GoogleCalls): boolean {
  const spec = client.spec();
  return [spec.head.launchConfig, ...spec.nodeTypes.map(({ launchConfig }) => launchConfig)].some(
    ({ disks: given, sourceInstanceTemplate }) =>
      sourceInstanceTemplate !== undefined || listOf(given).some((disk) => mapOf(disk).autoDelete === false),
  );
}

/** Rules that Google makes for slices of several hosts, and may leave behind. */
async function tpuRules(calls: GoogleCalls, signal: AbortSignal): Promise<readonly Remain[]> {
  const { cluster, clusterId } = calls.client;
  const found = await rulesNamed(calls, `tpu-pod-${clusterPrefix(cluster, clusterId)}`, signal);
  return found.map((id) => ({ kind: 'firewall rule', id }));
}

async function made(calls: GoogleCalls, signal: AbortSignal): Promise<readonly Remain[]> {
  const { google, prepared, project } = calls;
  const found = await Promise.all(
    (await madeFor(calls, signal)).map(async (each): Promise<readonly Remain[]> => {
      const { kind, id } = each;
      // OS Login has no call that shows one key.
      if (kind === 'ssh key') return [];
      try {
        const url = urlOf(project, each);
        const answer = await google.askPatiently<{ readonly deleted?: boolean }>(
          { call: `get ${kind}`, id },
          { method: 'GET', url },
          signal,
        );
        return answer.deleted === true ? [] : [{ kind, id }];
      } catch (error) {
        // Of what may never have been made, that it may not be seen tells nothing.
        if (providerErrors.NotFound.is(error) || (prepared === undefined && providerErrors.Denied.is(error))) return [];
        throw error;
      }
    }),
  );
  return found.flat();
}
