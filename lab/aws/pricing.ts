import type { Filter } from '@aws-sdk/client-pricing';
import { diskPrice } from '../cloud/cloud.ts';
import type { Caller } from './caller.ts';
import { type AwsType, regionNames } from './catalog.ts';
import { awsError } from './errors.ts';
import type { PricingHandlers } from './handlers.ts';
import { hex } from './world.ts';

/** The price list has its endpoint in few regions. */
const homes = ['us-east-1', 'eu-central-1', 'ap-south-1'];

interface Product {
  readonly family: 'Compute Instance' | 'Storage';
  readonly attributes: Readonly<Record<string, string>>;
  readonly region: string;
  readonly price: number;
  readonly unit: 'Hrs' | 'GB-Mo';
}

const placeOf = (region: string) => ({
  regionCode: region,
  location: regionNames[region] ?? region,
  locationType: 'AWS Region',
  servicecode: 'AmazonEC2',
});

const machineAttributes = (type: AwsType): Readonly<Record<string, string>> => ({
  instanceType: type.name,
  instanceFamily: 'General purpose',
  vcpu: String(type.vcpus),
  memory: `${type.mib / 1024} GiB`,
  operatingSystem: 'Linux',
  tenancy: 'Shared',
  preInstalledSw: 'NA',
  capacitystatus: 'Used',
  licenseModel: 'No License required',
  operation: 'RunInstances',
  marketoption: 'OnDemand',
  currentGeneration: type.previous ? 'No' : 'Yes',
  usagetype: `BoxUsage:${type.name}`,
  ...(type.gpu && { gpu: String(type.gpu.count) }),
});

/** Disks cost the same, of whichever kind. */
const diskAttributes = (kind: string): Readonly<Record<string, string>> => ({
  volumeApiName: kind,
  storageMedia: 'SSD-backed',
  usagetype: `EBS:VolumeUsage.${kind}`,
});

const attributesOf = ({ attributes, region, family }: Product): Readonly<Record<string, string>> => ({
  ...attributes,
  ...placeOf(region),
  productFamily: family,
});

function writeProduct({ family, attributes, region, price, unit }: Product): string {
  const sku = hex(`${region}${attributes['usagetype']}`, 16).toUpperCase();
  const term = `${sku}.JRTCKXETXF`;
  const rate = `${term}.6YS6EN2CT7`;
  return JSON.stringify({
    product: { productFamily: family, attributes: { ...attributes, ...placeOf(region) }, sku },
    serviceCode: 'AmazonEC2',
    terms: {
      OnDemand: {
        [term]: {
          priceDimensions: {
            [rate]: {
              unit,
              endRange: 'Inf',
              description: `$${price} per ${attributes['usagetype']} ${unit}`,
              appliesTo: [],
              rateCode: rate,
              beginRange: '0',
              pricePerUnit: { USD: price.toFixed(10) },
            },
          },
          sku,
          effectiveDate: '2026-11-01T00:00:00Z',
          offerTermCode: 'JRTCKXETXF',
          termAttributes: {},
        },
      },
    },
    version: '20261113193000',
    publicationDate: '2026-11-13T19:30:00Z',
    region,
  });
}

/** What is asked for exactly, so that not all of a long list is written for one line of it. */
const exactly = (filters: readonly Filter[], field: string): string | undefined =>
  filters.find(({ Field, Type }) => Field === field && (Type === 'TERM_MATCH' || Type === 'EQUALS'))?.Value;

/** China has a list of its own, in another currency. */
const isListed = (region: string): boolean => !region.startsWith('cn-');

function products({ world }: Caller, filters: readonly Filter[]): readonly Product[] {
  const [only, named] = [exactly(filters, 'regionCode'), exactly(filters, 'instanceType')];
  const types = world.types().filter(({ name }) => named === undefined || name === named);
  const regions = Object.entries(world.cloud.catalog.regions).filter(
    ([region]) => isListed(region) && (only === undefined || region === only),
  );
  const priceIn = (zone: string, type: string): number =>
    world.cloud.prices({ types: [type], zones: [zone] }).find(({ market }) => market === 'on-demand')!.price;
  return regions.flatMap(([region, zones]) => [
    ...types.map((type) => ({
      family: 'Compute Instance' as const,
      attributes: machineAttributes(type),
      region,
      price: priceIn(zones[0]!, type.name),
      unit: 'Hrs' as const,
    })),
    ...['gp2', 'gp3', 'io1', 'io2'].map((kind) => ({
      family: 'Storage' as const,
      attributes: diskAttributes(kind),
      region,
      price: 730 * diskPrice,
      unit: 'GB-Mo' as const,
    })),
  ]);
}

const someType: AwsType = {
  ...{ name: '', family: '', architecture: 'x86_64', vcpus: 0, mib: 0, price: 0, spotPrice: 0, cards: 1, efa: false },
  ...{ retired: false, previous: false, gpu: { name: '', maker: 'NVIDIA', count: 1, mib: 0 } },
};

/** By which products are found. */
const fields: ReadonlySet<string> = new Set(
  [machineAttributes(someType), diskAttributes('gp3'), placeOf(''), { productFamily: '' }].flatMap(Object.keys),
);

export const pricingHandlers: PricingHandlers = {
  GetProducts(request, caller) {
    caller.may();
    if (!homes.includes(caller.region))
      throw awsError('UnknownEndpoint', `the price list is not served in ${caller.region}`);
    if (request.ServiceCode !== 'AmazonEC2')
      throw awsError('NotFoundException', `${request.ServiceCode} does not exist in the price list`);
    const filters = request.Filters ?? [];
    const all = products(caller, filters);
    for (const { Field: field = '' } of filters)
      if (!fields.has(field)) throw awsError('InvalidParameterException', `Field ${field} is not known`);
    const found = all.filter((product) => {
      const attributes = attributesOf(product);
      return filters.every(({ Field: field = '', Type: how, Value: value = '' }) => {
        const own = attributes[field] ?? '';
        if (how === 'ANY_OF') return value.split(',').includes(own);
        if (how === 'NONE_OF') return !value.split(',').includes(own);
        if (how === 'CONTAINS') return own.includes(value);
        return how === 'EQUALS' || how === 'TERM_MATCH' ? own === value : own !== value;
      });
    });
    const start = Number(request.NextToken ?? 0);
    const end = start + Math.min(request.MaxResults ?? 100, 100, caller.world.cloud.settings.page_size);
    return {
      FormatVersion: 'aws_v1',
      PriceList: found.slice(start, end).map(writeProduct),
      NextToken: end < found.length ? String(end) : undefined,
    };
  },
};
