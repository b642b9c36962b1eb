import { nearest } from '../spec/keys/nearest.ts';
import type { Path } from '../spec/problem.ts';
import type { Manifest } from './manifest.ts';
import { dig, entriesAt, type Json, textAt } from './object.ts';

/** Fields of KubeRay's kinds by the release that brought them; older ones are left out. */
const since = new Map<string, string>([
  ['gcsFaultToleranceOptions', '1.3'],
  ['rayClusterDeletionDelaySeconds', '1.4'],
  ['authOptions', '1.5'],
  ['clusterUpgradeOptions', '1.5'],
  ['deletionRules', '1.5'],
  ['preRunningDeadlineSeconds', '1.6'],
  ['networkPolicy', '1.7'],
  ['tlsOptions', '1.7'],
  ['historyServerOptions', '1.7'],
  ['timeZone', '1.7'],
  ['priority', '1.7'],
  ['storage', '1.7'],
  ['backend', '1.7'],
  ['command', '1.7'],
  ['args', '1.7'],
]);

/** The schema of a kind in the OpenAPI description of its group, with references still in it. */
export function kindSchemaIn(openapi: Json, kind: string): { readonly root: Json; readonly all: Json } | undefined {
  const all = dig(openapi, 'components', 'schemas') ?? {};
  const found = entriesAt(all).find(
    ([name, schema]) => name.split('.').at(-1) === kind && dig(schema, 'properties', 'spec') !== undefined,
  );
  return found && { root: found[1], all };
}

/** The fields that a refusal of the API server names, where they stand in the file, and what may be meant. */
export function unknownFieldsIn(
  refusal: string,
  manifest: Manifest,
  schema: { readonly root: Json; readonly all: Json } | undefined,
): readonly { readonly at: string; readonly says: string }[] {
  const words = refusal.split(/\s+/);
  const named = words.flatMap((word, at) => {
    if (word.startsWith('.') && word.endsWith(':') && words[at + 1] === 'field') return [word.slice(0, -1)];
    return word === 'field' && words[at - 1] === 'unknown' ? [(words[at + 1] ?? '').replaceAll(/[",;]/g, '')] : [];
  });
  return named.map((text) => {
    const path = pathOf(text, manifest.object);
    const { line, column } = manifest.at(path);
    const field = String(path.at(-1));
    return { at: `${manifest.file}:${line}:${column}`, says: `'${field}' ${meantBy(field, path, schema)}` };
  });
}

function meantBy(field: string, path: Path, schema: { readonly root: Json; readonly all: Json } | undefined): string {
  const known = schema === undefined ? [] : Object.keys((propertiesAt(schema, path.slice(0, -1)) ?? {}) as object);
  const near = nearest(field, known);
  if (near !== undefined && near !== field) return `is not a field here; did you mean '${near}'?`;
  const release = since.get(field);
  if (release !== undefined) return `needs the CRDs of KubeRay ${release} or newer: 'manta kube install' upgrades them`;
  return known.length === 0
    ? 'is not a field here'
    : `is not a field here (known fields: ${known.slice(0, 20).join(', ')})`;
}

/** `.spec.a[0].b`, or `.spec.containers[name="x"].b` where the list is one of named items. */
function pathOf(text: string, object: Json): Path {
  const path: (string | number)[] = [];
  let value: Json | undefined = object;
  for (const part of text.replaceAll(']', '').split(/[.[]/)) {
    if (part === '') continue;
    const list: readonly Json[] = Array.isArray(value) ? (value as readonly Json[]) : [];
    const [key = '', named] = part.split('=', 2);
    const step = !Array.isArray(value)
      ? part
      : named === undefined
        ? Number(part)
        : list.findIndex((item) => textAt(item, key) === named.replaceAll('"', ''));
    path.push(step);
    value = dig(value, step);
  }
  return path;
}

function propertiesAt({ root, all }: { readonly root: Json; readonly all: Json }, path: Path): Json | undefined {
  const resolved = (schema: Json | undefined): Json | undefined => {
    const reference = textAt(schema, '$ref') ?? textAt(schema, 'allOf', 0, '$ref');
    return reference === undefined ? schema : dig(all, reference.split('/').at(-1)!);
  };
  let schema = resolved(root);
  for (const step of path)
    schema = resolved(typeof step === 'number' ? dig(schema, 'items') : dig(schema, 'properties', step));
  return dig(schema, 'properties');
}
