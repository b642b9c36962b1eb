import { type _InstanceType, DescribeSpotPriceHistoryCommand } from '@aws-sdk/client-ec2';
import { type Filter, GetProductsCommand } from '@aws-sdk/client-pricing';
import type { Clock } from '../../base/time/clock.ts';
import { isMap } from '../../core/spec/source.ts';
import type { AwsClient } from './client/client.ts';
import { allPages } from './list/listing.ts';
import type { AwsPrice } from './prepared.ts';

export interface PriceQuestion {
  readonly region: string;
  /** Instance types, each once. */
  readonly types: readonly string[];
  /** Whether anybody would take spot instances. */
  readonly spot: boolean;
}

/** What instances cost now, of Linux and on shared machines. A price that AWS does not tell is absent. */
export async function askPrices(
  aws: AwsClient,
  { region, types, spot }: PriceQuestion,
  clock: Clock,
  signal: AbortSignal,
): Promise<readonly AwsPrice[]> {
  const [onDemand, ofSpot] = await Promise.all([
    Promise.all(types.map((type) => onDemandPrice(aws, region, type, signal))),
    spot && types.length > 0 ? spotPrices(aws, types, clock, signal) : [],
  ]);
  return [...onDemand.flat(), ...ofSpot];
}

async function onDemandPrice(
  aws: AwsClient,
  region: string,
  type: string,
  signal: AbortSignal,
): Promise<readonly AwsPrice[]> {
  const price = await listedPrice(
    aws,
    {
      ...{ regionCode: region, instanceType: type, operatingSystem: 'Linux', tenancy: 'Shared' },
      ...{ preInstalledSw: 'NA', capacitystatus: 'Used' },
    },
    signal,
  );
  return price === undefined ? [] : [{ instanceType: type, market: 'on-demand', price }];
}

/** Dollars a month for each GiB of a disk of this kind. */
export const diskPrice = (
  aws: AwsClient,
  region: string,
  volumeType: string,
  signal: AbortSignal,
): Promise<number | undefined> =>
  listedPrice(aws, { regionCode: region, productFamily: 'Storage', volumeApiName: volumeType }, signal);

/** The price of the one product that has these attributes. */
async function listedPrice(
  aws: AwsClient,
  attributes: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<number | undefined> {
  const call = 'GetProducts';
  const Filters: Filter[] = Object.entries(attributes).map(([Field, Value]) => ({ Type: 'TERM_MATCH', Field, Value }));
  const products = await allPages(
    call,
    (NextToken) => {
      const command = new GetProductsCommand({ ServiceCode: 'AmazonEC2', Filters, NextToken });
      return aws.askPatiently({ call }, (options) => aws.pricing.send(command, options), signal);
    },
    ({ PriceList }) => PriceList,
  );
  return products.map(priceOf).find((price) => price !== undefined && price > 0);
}

/** A product is JSON in a string: `terms.OnDemand.*.priceDimensions.*.pricePerUnit.USD`. */
function priceOf(product: unknown): number | undefined {
  // The SDK wraps the string in an object.
  const [term] = valuesAt(parsed(String(product)), 'terms', 'OnDemand');
  const [dimension] = valuesAt(term, 'priceDimensions');
  const price = at(dimension, 'pricePerUnit', 'USD');
  const number = typeof price === 'string' ? Number(price) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}

const at = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (found, name) => (isMap(found as never) ? new Map(Object.entries(found as object)).get(name) : undefined),
    value,
  );

const valuesAt = (value: unknown, ...path: readonly string[]): readonly unknown[] => {
  const found = at(value, ...path);
  return typeof found === 'object' && found !== null ? Object.values(found) : [];
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** From now on: that is the current one of each zone. */
async function spotPrices(
  aws: AwsClient,
  types: readonly string[],
  clock: Clock,
  signal: AbortSignal,
): Promise<readonly AwsPrice[]> {
  const call = 'DescribeSpotPriceHistory';
  const now = new Date(clock.now());
  const found = await allPages(
    call,
    (NextToken) => {
      const command = new DescribeSpotPriceHistoryCommand({
        InstanceTypes: types as _InstanceType[],
        ProductDescriptions: ['Linux/UNIX'],
        StartTime: now,
        EndTime: now,
        NextToken,
      });
      return aws.askPatiently({ call }, (options) => aws.ec2.send(command, options), signal);
    },
    ({ SpotPriceHistory }) => SpotPriceHistory,
  );
  const latest = new Map<string, AwsPrice & { readonly at: number }>();
  for (const { InstanceType: type, AvailabilityZone: zone, SpotPrice: text, Timestamp } of found) {
    const price = Number(text);
    const at = Timestamp?.getTime() ?? 0;
    if (type === undefined || zone === undefined || !Number.isFinite(price)) continue;
    const before = latest.get(`${type} ${zone}`);
    if (before === undefined || before.at < at)
      latest.set(`${type} ${zone}`, { instanceType: type, zone, market: 'spot', price, at });
  }
  return [...latest.values()].map(({ at: _, ...price }) => price);
}
