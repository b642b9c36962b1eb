import type { Resources } from '../../../core/resources.ts';
import { isText } from '../../../core/spec/plain.ts';
import { allOf } from '../../all-of.ts';
import { preparationErrors } from '../errors.ts';
import { type SliceShape, sliceShape } from '../slice-shape.ts';
import type { LaunchedType } from './file-types.ts';
import { isAbsent } from './refused.ts';
import type { GoogleScene } from './scene.ts';

/** A slice as its zones sell it. */
export interface Slice {
  readonly shape: SliceShape;
  readonly resources: Resources;
  readonly zones: readonly string[];
}

interface TpuZone {
  readonly zone: string;
  readonly types: readonly AcceleratorAnswer[];
  readonly versions: readonly string[];
}

interface AcceleratorAnswer {
  readonly type?: string;
  readonly acceleratorConfigs?: readonly { readonly type?: string; readonly topology?: string }[];
}

/** What the zones of the file sell to TPU slices. Asked for once, however many types a file has. */
export async function lookAtTpus(scene: GoogleScene, zones: readonly string[]): Promise<readonly TpuZone[]> {
  return await allOf(
    zones.map(async (zone): Promise<TpuZone> => {
      const [types, versions] = await allOf([
        list<AcceleratorAnswer>(scene, zone, 'acceleratorTypes'),
        list<{ readonly version?: string }>(scene, zone, 'runtimeVersions'),
      ]);
      return { zone, types, versions: versions.flatMap(({ version }) => version ?? []) };
    }),
  );
}

/** A zone without TPUs is not known to their API. */
async function list<Item>(scene: GoogleScene, zone: string, member: string): Promise<readonly Item[]> {
  try {
    return await scene.askAll<Item>(member, { call: `tpu.${member}.list`, url: scene.tpu(`${zone}/${member}`) });
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

/**
 * What a slice of the file is, and where it is sold: nowhere, where the file can do without it. Throws for other types,
 * topologies and versions that no zone lists, and for those that cannot be.
 */
export function chooseSlice(type: LaunchedType, zones: readonly string[], tpus: readonly TpuZone[]): Slice {
  const { at, config, isHead } = type;
  if (isHead)
    throw preparationErrors.BadFile({
      at,
      problem: 'makes the head a TPU slice, which is not supported',
      hint: 'give the head a type with a machineType, such as n2-standard-8; slices can be workers only',
    });
  if ('acceleratorType' in config && 'acceleratorConfig' in config)
    throw preparationErrors.BadFile({
      at,
      problem: 'has both acceleratorType and acceleratorConfig',
      hint: 'keep one of them',
    });
  const key = 'acceleratorType' in config ? 'acceleratorType' : 'acceleratorConfig';
  const given = isText(config.acceleratorType) ? config.acceleratorType : JSON.stringify(config.acceleratorConfig);
  const shape = sliceShape(config);
  if (shape === undefined)
    throw preparationErrors.BadFile({
      at: [...at, key],
      problem: `is not a type of TPU: ${given}`,
      hint: 'write a type such as v4-16, or acceleratorConfig with a type and a topology such as {type: V4, topology: 2x2x2}',
    });
  const mine = tpus.filter(({ zone }) => zones.includes(zone));
  const selling = mine.filter(({ types }) => types.some((each) => isSold(each, type, shape)));
  if (selling.length === 0) {
    if (type.isOptional) return { shape, resources: resourcesOf(shape), zones: [] };
    throw preparationErrors.UnknownAccelerator({
      at: [...at, key],
      accelerator: given,
      zones,
      instead: near(mine, shape),
    });
  }
  const running = withVersion(type, selling);
  const found = running[0]!.types.find((each) => isSold(each, type, shape));
  const topology = shape.topology ?? found?.acceleratorConfigs?.[0]?.topology;
  const whole = { ...shape, ...(topology !== undefined && { topology }) };
  return { shape: whole, resources: resourcesOf(whole), zones: running.map(({ zone }) => zone) };
}

function isSold(
  { type, acceleratorConfigs = [] }: AcceleratorAnswer,
  { config }: LaunchedType,
  shape: SliceShape,
): boolean {
  if (shape.topology === undefined) return type === shape.type;
  const { type: wanted } = config.acceleratorConfig as { readonly type?: unknown };
  return acceleratorConfigs.some((each) => each.type === wanted && each.topology === shape.topology);
}

function withVersion({ at, config }: LaunchedType, selling: readonly TpuZone[]): readonly TpuZone[] {
  const { runtimeVersion: version } = config;
  if (!isText(version))
    throw preparationErrors.BadFile({
      at: [...at, 'runtimeVersion'],
      problem: version === undefined || version === null ? 'is missing' : 'must be the name of a runtime version',
      hint: 'name a TPU runtime version, such as tpu-ubuntu2204-base',
    });
  const running = selling.filter(({ versions }) => versions.includes(version));
  if (running.length > 0) return running;
  throw preparationErrors.UnknownRuntime({
    at: [...at, 'runtimeVersion'],
    version,
    zones: selling.map(({ zone }) => zone),
    instead: (selling[0]?.versions ?? []).filter((each) => /base|alpha/.test(each)).slice(0, most),
  });
}

const most = 5;

/** Others of its generation, in the words of the file. */
const near = (zones: readonly TpuZone[], { generation, topology }: SliceShape): readonly string[] => {
  const all = zones.flatMap(({ types }) => types.filter(({ type }) => type !== undefined));
  const same = all.filter(({ type }) => type!.startsWith(`${generation}-`));
  const offered = same.length > 0 ? same : all;
  const words =
    topology === undefined
      ? offered.flatMap(({ type }) => type ?? [])
      : offered.flatMap(({ acceleratorConfigs = [] }) =>
          acceleratorConfigs.map((each) => `{type: ${each.type}, topology: ${each.topology}}`),
        );
  return [...new Set(words)].slice(0, most);
};

interface HostSize {
  readonly cpus: number;
  readonly gib: number;
}

/** By Google's documentation, for its API does not tell: what a host has, by generation and number of chips. */
const hostSizes: ReadonlyMap<string, HostSize> = new Map([
  ['v2-4', { cpus: 96, gib: 334 }],
  ['v3-4', { cpus: 96, gib: 340 }],
  ['v4-4', { cpus: 240, gib: 407 }],
  ['v5litepod-1', { cpus: 24, gib: 48 }],
  ['v5litepod-4', { cpus: 112, gib: 192 }],
  ['v5litepod-8', { cpus: 224, gib: 384 }],
  ['v5p-4', { cpus: 208, gib: 448 }],
  ['v6e-1', { cpus: 44, gib: 176 }],
  ['v6e-4', { cpus: 180, gib: 720 }],
  ['v6e-8', { cpus: 180, gib: 1440 }],
]);

/** Of one host, beside what the first of a slice has. */
function resourcesOf({ generation, chips, hosts }: SliceShape): Resources {
  const perHost = chips / hosts;
  const size = hostSizes.get(`${generation}-${perHost}`);
  return {
    ...(size && { CPU: size.cpus, memory: Math.floor(size.gib * 2 ** 30 * 0.7) }),
    TPU: perHost,
  };
}
