import { mapOf } from '../../../core/spec/plain.ts';
import type { CloudClient } from '../../clouds.ts';
import { regionOfZone } from '../client/links.ts';
import { toLabels } from '../labels.ts';
import type { GooglePlan } from '../launch/launch-request.ts';
import { machineMetadata } from '../launch/metadata.ts';
import { listOf, mergedMap } from '../node-config.ts';

/** A slice, as the API of TPUs takes it. */
export function sliceBody(client: CloudClient, plan: GooglePlan): Readonly<Record<string, unknown>> {
  const { config, prepared, tags, own, request, zone } = plan;
  const {
    labels: _labels,
    schedulingConfig: _old,
    metadata,
    networkConfig,
    acceleratorType,
    acceleratorConfig,
    ...rest
  } = config;
  const given = new Map(Object.entries(mapOf(metadata)).map(([key, value]) => [key, String(value)]));
  const all = machineMetadata(given, client.login(), client.bootProgram?.(), prepared);
  const { network, subnetwork, external, tag } = prepared.network;
  const ofRegion = subnetwork?.includes(`/regions/${regionOfZone(zone)}/`) === true;
  const networkTags = [...listOf(config.tags), ...(tag === undefined ? [] : [tag])];
  return {
    ...rest,
    ...(acceleratorConfig !== undefined ? { acceleratorConfig } : { acceleratorType: acceleratorType ?? own.machine }),
    networkConfig: {
      ...(ofRegion ? { subnetwork } : network !== undefined && { network }),
      enableExternalIps: external,
      ...mapOf(networkConfig),
    },
    schedulingConfig: schedulingOf(request.market, mergedMap(config.schedulingConfig).preemptible === true),
    ...(networkTags.length > 0 && { tags: networkTags }),
    labels: toLabels(tags),
    metadata: Object.fromEntries(all),
  };
}

/** What is asked for counts. Preemptible slices of old files end after a day; those on spot do not. */
function schedulingOf(market: string, preemptible: boolean): Readonly<Record<string, boolean>> {
  if (market === 'reserved') return { reserved: true };
  if (market !== 'spot') return {};
  return preemptible ? { preemptible: true } : { spot: true };
}
