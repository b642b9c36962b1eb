// needs: ray-client

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import type { DescField, DescMessage, DescService } from '@bufbuild/protobuf';
import { ScalarType } from '@bufbuild/protobuf';
import { AutoscalerStateService } from '../../../src/engines/ray/gen/autoscaler_pb.js';
import { ActorInfoGcsService, InternalKVGcsService, NodeInfoGcsService } from '../../../src/engines/ray/gen/gcs_pb.js';
import { clientVersion, rayPython } from '../../jobs/ray-python.ts';

/** What a wheel says of a service: its methods with the fields of their messages, deep, by number. */
interface RayMessage {
  readonly name: string;
  readonly fields: Readonly<Record<string, RayField>>;
}
interface RayField {
  readonly name: string;
  /** As in `descriptor.proto`. */
  readonly type: number;
  readonly repeated: boolean;
  readonly message?: string;
  readonly values?: readonly number[];
}
interface RayWheel {
  readonly services: Readonly<Record<string, Readonly<Record<string, readonly [string, string]>>>>;
  readonly messages: Readonly<Record<string, RayMessage>>;
}

const services: readonly DescService[] = [
  AutoscalerStateService,
  InternalKVGcsService,
  NodeInfoGcsService,
  ActorInfoGcsService,
];

const dump = `
import json
from ray.core.generated import autoscaler_pb2, gcs_service_pb2
messages, services = {}, {}
def add(d):
    if d.full_name in messages: return d.full_name
    fields = messages[d.full_name] = {}
    for f in d.fields:
        repeated = f.is_repeated if hasattr(f, 'is_repeated') else f.label == 3
        fields[f.number] = {'name': f.name, 'type': f.type, 'repeated': bool(repeated)}
        if f.message_type: fields[f.number]['message'] = add(f.message_type)
        if f.enum_type: fields[f.number]['values'] = [v.number for v in f.enum_type.values]
    return d.full_name
for file in (autoscaler_pb2, gcs_service_pb2):
    for s in file.DESCRIPTOR.services_by_name.values():
        services[s.full_name] = {m.name: [add(m.input_type), add(m.output_type)] for m in s.methods}
print(json.dumps({'services': services, 'messages': {n: {'name': n, 'fields': f} for n, f in messages.items()}}))
`;

/** Fields that the older version does not have yet: there they are empty. */
const newer = new Set(['ray.rpc.NodeInfo.session_dir']);

/** Numbers of protobuf-es and of `descriptor.proto` are the same for scalars; messages are 11 and enums 14. */
const typeOf = (field: DescField): number =>
  field.fieldKind === 'message' ||
  field.fieldKind === 'map' ||
  (field.fieldKind === 'list' && field.listKind === 'message')
    ? 11
    : field.fieldKind === 'enum' || (field.fieldKind === 'list' && field.listKind === 'enum')
      ? 14
      : (field.scalar ?? ScalarType.BYTES);

function differences(own: DescMessage, ray: RayMessage, wheel: RayWheel, seen: Set<string>): string[] {
  const pair = `${own.typeName} ${ray.name}`;
  if (seen.has(pair)) return [];
  seen.add(pair);
  return own.fields.flatMap((field) => {
    const there = ray.fields[field.number];
    const at = `${own.typeName}.${field.name} = ${field.number}`;
    if (!there) return newer.has(`${own.typeName}.${field.name}`) ? [] : [`${at}: ${ray.name} has no such field`];
    const found: string[] = [];
    if (typeOf(field) !== there.type) found.push(`${at}: type ${typeOf(field)}, in ${ray.name} ${there.type}`);
    const repeated = field.fieldKind === 'list' || field.fieldKind === 'map';
    if (repeated !== there.repeated) found.push(`${at}: one of them is repeated`);
    if (field.enum) {
      const missing = field.enum.values.filter(({ number }) => !there.values?.includes(number));
      found.push(...missing.map(({ name }) => `${at}: ${ray.name} has no value for ${name}`));
    }
    const deeper = there.message === undefined ? undefined : wheel.messages[there.message];
    if (field.fieldKind === 'map' && deeper) {
      if (deeper.fields['1']?.type !== field.mapKey) found.push(`${at}: another type of key`);
      if (deeper.fields['2']?.type !== field.scalar) found.push(`${at}: another type of value`);
    } else if (field.message && deeper) found.push(...differences(field.message, deeper, wheel, seen));
    return found;
  });
}

test(`fields and methods are those of the wheel of Ray ${clientVersion}`, (t) => {
  const ray = rayPython();
  if ('missing' in ray) return t.skip(ray.missing);
  const wheel = JSON.parse(
    execFileSync(ray.python, ['-c', dump], { encoding: 'utf8' }).trim().split('\n').at(-1) ?? '',
  ) as RayWheel;
  const found = services.flatMap((service) =>
    service.methods.flatMap((method) => {
      const there = wheel.services[service.typeName]?.[method.name];
      if (!there) return [`${service.typeName} has no method ${method.name}`];
      const sides = [method.input, method.output] as const;
      return sides.flatMap((own, side) =>
        differences(own, wheel.messages[there[side] ?? ''] ?? { name: '?', fields: {} }, wheel, new Set()),
      );
    }),
  );
  assert.deepEqual(found, []);
});
