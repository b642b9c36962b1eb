// needs: botocore, google-discovery

/**
 * Writes the members that a launch takes, from the models of the clouds' own APIs: `node scripts/cloud-models.ts`.
 * What cluster files say under `node_config` is checked against them.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { botocoreVersion, readModel } from './botocore-models.ts';
import { discoveryVersion, readDiscovery } from './google-discovery.ts';

interface Shape {
  readonly type: string;
  readonly members?: Readonly<Record<string, { readonly shape: string }>>;
  readonly member?: { readonly shape: string };
  readonly required?: readonly string[];
}

interface Model {
  readonly operations: Readonly<Record<string, { readonly input: { readonly shape: string } }>>;
  readonly shapes: Readonly<Record<string, Shape>>;
}

export const memberTable = fileURLToPath(new URL('../src/providers/aws/gen/run-instances.ts', import.meta.url));

/** The text of `memberTable`: a line for each structure that RunInstances takes, with its members and their types. */
export function memberTableText(): string {
  const { operations, shapes } = JSON.parse(readModel('ec2')) as Model;
  const lines = new Map<string, string>();
  const typeOf = (name: string): string => {
    const { type, member } = shapes[name]!;
    if (type === 'list') return `[${typeOf(member!.shape)}]`;
    if (type !== 'structure') return type;
    addStructure(name);
    return name;
  };
  const addStructure = (name: string): void => {
    if (lines.has(name)) return;
    lines.set(name, '');
    const { members = {}, required = [] } = shapes[name]!;
    const words = Object.entries(members).map(
      ([member, { shape }]) => `${member}${required.includes(member) ? '!' : ''}:${typeOf(shape)}`,
    );
    lines.set(name, words.join(' '));
  };
  const { shape: top } = operations['RunInstances']!.input;
  addStructure(top);
  return [
    `/** Written by scripts/cloud-models.ts from botocore ${botocoreVersion}: \`NAME:TYPE\`, \`NAME!:TYPE\` where it is required. */`,
    'export const runInstances: ReadonlyMap<string, string> = new Map([',
    ...[...lines].map(([name, words]) => pair(name === top ? 'RunInstances' : name, words)),
    ']);',
    '',
  ].join('\n');
}

/** As the formatter writes it. */
function pair(name: string, words: string): string {
  const line = `  ['${name}', '${words}'],`;
  return line.length <= 120 ? line : `  [\n    '${name}',\n    '${words}',\n  ],`;
}

interface Schema {
  readonly type?: string;
  readonly $ref?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly readOnly?: boolean;
}

export const googleTable = fileURLToPath(new URL('../src/providers/google/gen/members.ts', import.meta.url));

/** The text of `googleTable`: the same of what Compute Engine and the API of TPUs take. Maps are `{TYPE}`, and `-` is only answered. */
export function googleTableText(): string {
  const lines = new Map<string, string>();
  const add = (api: 'compute.v1' | 'tpu.v2', top: string): void => {
    const { schemas } = JSON.parse(readDiscovery(api)) as { readonly schemas: Readonly<Record<string, Schema>> };
    const nameOf = (name: string): string => (api === 'tpu.v2' && name !== top ? `Tpu${name}` : name);
    const typeOf = (
      { type = 'any', $ref, items, properties, additionalProperties }: Schema,
      inside: string,
    ): string => {
      if ($ref !== undefined) {
        addStructure($ref, schemas[$ref]!);
        return nameOf($ref);
      }
      if (type === 'array') return `[${typeOf(items!, inside)}]`;
      if (additionalProperties !== undefined) return `{${typeOf(additionalProperties, inside)}}`;
      if (properties === undefined) return type === 'object' ? 'any' : type;
      addStructure(inside, { properties });
      return nameOf(inside);
    };
    const addStructure = (name: string, { properties = {} }: Schema): void => {
      if (lines.has(nameOf(name))) return;
      lines.set(nameOf(name), '');
      const words = Object.entries(properties).map(
        ([member, each]) => `${member}:${each.readOnly === true ? '-' : typeOf(each, `${name}.${member}`)}`,
      );
      lines.set(nameOf(name), words.join(' '));
    };
    addStructure(top, schemas[top]!);
  };
  add('compute.v1', 'Instance');
  add('compute.v1', 'InstanceProperties');
  add('tpu.v2', 'Node');
  return [
    `/** Written by scripts/cloud-models.ts from google-api-python-client ${discoveryVersion}: \`NAME:TYPE\`. */`,
    'export const googleMembers: ReadonlyMap<string, string> = new Map([',
    ...[...lines].map(([name, words]) => pair(name, words)),
    ']);',
    '',
  ].join('\n');
}

if (import.meta.main) {
  writeFileSync(memberTable, memberTableText());
  writeFileSync(googleTable, googleTableText());
}
