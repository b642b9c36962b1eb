import { readScript } from '../base/shell/shell-file.ts';
import type { Manifest } from '../core/kube/manifest.ts';
import { dig, isMap, type Json, type JsonMap, listAt, textAt } from '../core/kube/object.ts';
import { mantadPort, scalingOf } from '../core/kube/scaling-spec.ts';
import { mantadAnnotation } from './target.ts';

const rayProgram = readScript(new URL('./pod-ray.sh', import.meta.url));
const unpackProgram = readScript(new URL('./pod-unpack.mjs', import.meta.url));

/** Has Node 24 and bash. */
export const usualImage = 'node:24-bookworm-slim';

export interface ScalerOrder {
  readonly image: string;
  /** Manta's programs (`launcher/head/pod-runtime.ts`). */
  readonly runtime: Buffer;
  /** Of the owner, who may do everything. */
  readonly token: string;
  /** A PersistentVolumeClaim for the queue and the journal. Absent: they end with the head's pod. */
  readonly claim?: string | undefined;
  /** Clients in the cluster come in through a Service. Absent: through a port that is forwarded alone. */
  readonly service?: boolean | undefined;
}

/** On head pods that have a Service in front of Manta: clusters of a RayService have names of their own. */
const headLabel = 'manta/scaler';

/** Where Manta's files are in the container. */
const places = { programs: '/manta/bin', state: '/manta/state', token: '/manta/token' };

/** Where a kind has the spec of its RayCluster. */
const specPaths: ReadonlyMap<string, readonly string[]> = new Map([
  ['RayCluster', ['spec']],
  ['RayService', ['spec', 'rayClusterConfig']],
  ['RayJob', ['spec', 'rayClusterSpec']],
]);

/** Whether a manifest describes a RayCluster that can have a planner. */
export const canHaveScaler = ({ kind, object }: Pick<Manifest, 'kind' | 'object'>): boolean =>
  isMap(dig(object, ...(specPaths.get(kind) ?? ['?'])));

/** Name of the ConfigMap and of the Secret that go with it. */
export const scalerName = (name: string): string => `${name}-manta`;

/** Why the planner could not work by this manifest; undefined where it can. */
export function scalerProblem({ kind, object }: Pick<Manifest, 'kind' | 'object'>): string | undefined {
  const scaling = scalingOf({ spec: dig(object, ...(specPaths.get(kind) ?? [])) ?? {} });
  return 'problem' in scaling ? scaling.problem : undefined;
}

/**
 * The manifest with Manta's planner in the place of Ray's autoscaler, behind the objects that it needs. KubeRay starts
 * `bash -c 'ray kuberay-autoscaler ...'` in a container of the head's pod, of which image, variables and mounts can be chosen: PATH
 * leads to a `ray` of ours.
 */
export function withScaler(manifest: Manifest, order: ScalerOrder): readonly Manifest[] {
  const { kind, name, object } = manifest;
  const path = specPaths.get(kind) ?? [];
  const spec = dig(object, ...path);
  if (!isMap(spec)) return [manifest];
  const rewritten = putAt(object, path, rewrittenSpec(spec, scalerName(name), order)) as JsonMap;
  const noted = putAt(rewritten, ['metadata', 'annotations', mantadAnnotation], scalerName(name)) as JsonMap;
  return [
    configMapOf(manifest, order),
    secretOf(manifest, order),
    ...(order.service ? [serviceOf(manifest)] : []),
    { ...manifest, object: noted },
  ];
}

function rewrittenSpec(spec: JsonMap, name: string, order: ScalerOrder): JsonMap {
  const options = dig(spec, 'autoscalerOptions');
  // With v2 a pod whose container ends is never started again.
  const { version: _, ...kept } = isMap(options) ? options : {};
  const volumes: readonly Json[] = [
    { name: 'manta-programs', configMap: { name, defaultMode: 0o755 } },
    { name: 'manta-token', secret: { secretName: name, items: [{ key: 'token', path: 'token' }] } },
    {
      name: 'manta-state',
      ...(order.claim === undefined ? { emptyDir: {} } : { persistentVolumeClaim: { claimName: order.claim } }),
    },
  ];
  const mounts: readonly Json[] = [
    { name: 'manta-programs', mountPath: places.programs, readOnly: true },
    { name: 'manta-token', mountPath: places.token, readOnly: true },
    { name: 'manta-state', mountPath: places.state },
  ];
  const env = {
    PATH: `${places.programs}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
    // Login shells reset PATH and then read `.bash_profile` there.
    HOME: places.programs,
    MANTA_HOME: places.state,
    MANTA_OWNER_TOKEN_FILE: `${places.token}/token`,
  };
  const service: readonly Json[] = [
    { name: 'MANTA_SERVICE', value: name },
    { name: 'MANTA_POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
  ];
  const withOptions: JsonMap = {
    ...spec,
    enableInTreeAutoscaling: true,
    autoscalerOptions: {
      ...kept,
      image: order.image,
      env: merged(listAt(options, 'env'), [...variables(env), ...(order.service ? service : [])]),
      volumeMounts: merged(listAt(options, 'volumeMounts'), mounts),
    },
  };
  const template = ['headGroupSpec', 'template', 'spec'];
  const withVolumes = putAt(
    withOptions,
    [...template, 'volumes'],
    merged(listAt(spec, ...template, 'volumes'), volumes),
  );
  const labels = ['headGroupSpec', 'template', 'metadata', 'labels', headLabel];
  const ray = [...template, 'containers', 0, 'env'];
  // Ray's own tools then show what mantad reports, and not what Ray's monitor would have written.
  const shows = variables({ RAY_enable_autoscaler_v2: '1' });
  const withRay = putAt(withVolumes, ray, merged(listAt(spec, ...ray), shows));
  return (order.service ? putAt(withRay, labels, name) : withRay) as JsonMap;
}

function configMapOf(manifest: Manifest, { runtime }: ScalerOrder): Manifest {
  return besides(manifest, 'ConfigMap', {
    data: {
      ray: rayProgram,
      'unpack.mjs': unpackProgram,
      '.bash_profile': `PATH=${places.programs}:$PATH\n`,
    },
    binaryData: { 'runtime.json.gz': runtime.toString('base64') },
  });
}

const secretOf = (manifest: Manifest, { token }: ScalerOrder): Manifest =>
  besides(manifest, 'Secret', { type: 'Opaque', data: { token: Buffer.from(token).toString('base64') } });

const serviceOf = (manifest: Manifest): Manifest =>
  besides(manifest, 'Service', {
    spec: {
      selector: { [headLabel]: scalerName(manifest.name) },
      ports: [{ name: 'manta', port: mantadPort, targetPort: mantadPort }],
    },
  });

function besides(manifest: Manifest, kind: string, content: JsonMap): Manifest {
  const name = scalerName(manifest.name);
  const { namespace } = manifest;
  const metadata = {
    name,
    ...(namespace !== undefined && { namespace }),
    labels: { 'app.kubernetes.io/managed-by': 'manta' },
  };
  return { ...manifest, kind, name, object: { apiVersion: 'v1', kind, metadata, ...content } };
}

const variables = (values: Readonly<Record<string, string>>): readonly Json[] =>
  Object.entries(values).map(([name, value]) => ({ name, value }));

/** The list with these in the place of those of the same name. */
function merged(list: readonly Json[], more: readonly Json[]): readonly Json[] {
  const names = new Set(more.map((each) => textAt(each, 'name')));
  return [...list.filter((each) => !names.has(textAt(each, 'name') ?? '')), ...more];
}

function putAt(value: Json | undefined, path: readonly (string | number)[], put: Json): Json {
  const [first, ...rest] = path;
  if (first === undefined) return put;
  if (typeof first === 'number')
    return (Array.isArray(value) ? (value as readonly Json[]) : []).map((each, at) =>
      at === first ? putAt(each, rest, put) : each,
    );
  const map = isMap(value) ? value : {};
  return { ...map, [first]: putAt(dig(map, first), rest, put) };
}
