/** Objects as a real API server had them; `test/lab/kube-causes.test.ts` makes them, and the same verdicts on live ones. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { dig, isMap, type Json, listAt, textAt } from '../../../src/core/kube/object.ts';

/** Without what the judging functions never look at; the lab's registry has a name in place of its address. */
export const trimmed = (object: Json): Json =>
  JSON.parse(JSON.stringify(withoutOthers(object)).replaceAll(/\d+\.\d+\.\d+\.\d+:500\d/g, 'registry:5000')) as Json;

function withoutOthers(object: Json): Json {
  if (!isMap(object)) return object;
  const { metadata, spec, status, ...rest } = object;
  const {
    annotations: _,
    ownerReferences: __,
    managedFields: ___,
    uid: ____,
    resourceVersion: _____,
    ...meta
  } = isMap(metadata) ? metadata : {};
  const owners = listAt(metadata, 'managedFields').map((each) => {
    const { fieldsV1: ______, ...entry } = isMap(each) ? each : {};
    return entry;
  });
  const kept = textAt(object, 'kind') === 'Pod' ? podSpec(spec) : spec;
  return {
    ...rest,
    metadata: { ...meta, ...(owners.length > 0 && { managedFields: owners }) },
    ...(kept !== undefined && { spec: kept }),
    ...(status !== undefined && { status: nodeStatus(status, textAt(object, 'kind')) }),
  };
}

const podSpec = (spec: Json | undefined): Json => ({
  ...(isMap(spec) && {
    nodeName: spec['nodeName'] ?? null,
    schedulingGates: spec['schedulingGates'] ?? [],
    volumes: spec['volumes'] ?? [],
  }),
  containers: listAt(spec, 'containers').map((each) => ({
    name: dig(each, 'name') ?? '',
    resources: dig(each, 'resources') ?? {},
  })),
});

const nodeStatus = (status: Json, kind: string | undefined): Json =>
  kind === 'Node'
    ? { allocatable: dig(status, 'allocatable') ?? {}, conditions: dig(status, 'conditions') ?? [] }
    : status;

export interface Recording {
  readonly cluster: Json;
  readonly pods: readonly Json[];
  readonly events: readonly Json[];
  readonly nodes: readonly Json[];
}

/** The objects of a recording, as the waiting loop hands them over. */
export function recording(name: string): Recording {
  const file = fileURLToPath(new URL(`recorded/${name}.json`, import.meta.url));
  const objects = JSON.parse(readFileSync(file, 'utf8')) as readonly Json[];
  const of = (kind: string): readonly Json[] => objects.filter((object) => textAt(object, 'kind') === kind);
  return { cluster: of('RayCluster')[0]!, pods: of('Pod'), events: of('Event'), nodes: of('Node') };
}
