import type { Market } from '../instance.ts';
import type { Offer } from '../scaling.ts';
import type { Plain, PlainMap } from './cluster.ts';
import type { MantaNodeType } from './manta.ts';
import { zoned } from './providers.ts';
import { isMap } from './source.ts';

/** The ways to get an instance of a type, in order: every zone of the first market, then of the next. */
export function offersFor(provider: PlainMap, launch: PlainMap, own: MantaNodeType): readonly Offer[] {
  const markets = own.markets.length > 0 ? own.markets : [marketOf(launch)];
  const zones = own.zones.length > 0 ? own.zones : zonesOf(provider, launch);
  return markets.flatMap((market) =>
    zones.map((zone): Offer => {
      const price = market === 'spot' ? own.spotPrice : own.price;
      return {
        ...(zone === undefined ? {} : { zone }),
        market,
        ...(price === undefined ? {} : { pricePerHour: price }),
      };
    }),
  );
}

const marketOf = (launch: PlainMap): Market => (isSpot(launch) ? 'spot' : 'on-demand');

/** What a launch configuration says of its market, in the words of AWS, GCP (machines and TPUs), Azure and the lab cloud. */
export function isSpot(launch: PlainMap): boolean {
  if (launch.market === 'spot') return true;
  const aws = launch.InstanceMarketOptions;
  if (isMap(aws)) return aws.MarketType === 'spot';
  const azure = isMap(launch.azure_arm_parameters) ? launch.azure_arm_parameters : launch;
  if (typeof azure.priority === 'string' && /^(spot|low)$/i.test(azure.priority)) return true;
  return [launch.scheduling, launch.schedulingConfig].some(isPreemptible);
}

/** GCP's `scheduling`, a mapping or, as most files write it, a list of mappings. */
function isPreemptible(scheduling: Plain | undefined): boolean {
  const parts = Array.isArray(scheduling) ? (scheduling as readonly Plain[]) : [scheduling ?? null];
  return parts.some(
    (part) => isMap(part) && (part.preemptible === true || part.spot === true || part.provisioningModel === 'SPOT'),
  );
}

function zonesOf(provider: PlainMap, launch: PlainMap): readonly (string | undefined)[] {
  if (!zoned.has(provider.type as string)) return [undefined];
  const placement =
    provider.type === 'lab_cloud'
      ? launch.zone
      : isMap(launch.Placement)
        ? launch.Placement.AvailabilityZone
        : undefined;
  if (typeof placement === 'string') return [placement];
  if (['SubnetId', 'SubnetIds', 'NetworkInterfaces'].some((key) => Object.hasOwn(launch, key))) return [undefined];
  const zones =
    typeof provider.availability_zone === 'string'
      ? provider.availability_zone.split(',').map((zone) => zone.trim())
      : [];
  const named = zones.filter((zone) => zone !== '');
  return named.length > 0 ? [...new Set(named)] : [undefined];
}

/**
 * Hosts of a TPU slice. v2 to v4 and v5p are named by cores, eight to a host; v5e and v6e by chips, which one host
 * holds up to eight of, and four to a host beyond.
 */
export function hostsPerSlice(launch: PlainMap): number {
  const config = isMap(launch.acceleratorConfig) ? launch.acceleratorConfig : undefined;
  const chips = typeof config?.topology === 'string' ? product(config.topology) : undefined;
  if (chips !== undefined)
    return /V5LITE|V6E/i.test(String(config?.type)) ? liteHosts(chips) : Math.max(1, Math.ceil(chips / 4));
  const match = /^(v\d+[a-z]*)-(\d+)$/i.exec(typeof launch.acceleratorType === 'string' ? launch.acceleratorType : '');
  if (!match) return 1;
  const size = Number(match[2]);
  return /^(v5lite|v5litepod|v5e|v6e)$/i.test(match[1] as string) ? liteHosts(size) : Math.max(1, Math.ceil(size / 8));
}

const liteHosts = (chips: number): number => (chips <= 8 ? 1 : Math.ceil(chips / 4));

function product(topology: string): number | undefined {
  const sides = topology.split('x').map(Number);
  return sides.length > 0 && sides.every((side) => Number.isInteger(side) && side > 0)
    ? sides.reduce((a, b) => a * b, 1)
    : undefined;
}
