// needs: ray-client

/** What Manta reads from RayClusters is what Ray's own autoscaler reads from them. */
import assert from 'node:assert/strict';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readManifests } from '../../../src/core/kube/manifest.ts';
import { dig, type Json, type JsonMap } from '../../../src/core/kube/object.ts';
import { scalingOf } from '../../../src/core/kube/scaling-spec.ts';
import { rayPython, runPython } from '../../jobs/ray-python.ts';

const ray = rayPython();
const folder = fileURLToPath(new URL('../../../../shared/corpus/kube/', import.meta.url));
const noCorpus = existsSync(folder) ? false : 'the collection of manifests (../shared/corpus) is not there';
const skip = 'missing' in ray ? ray.missing : false;

const oracle = `
import json, sys
from ray.autoscaler._private.kuberay.autoscaling_config import _derive_autoscaling_config_from_ray_cr
for cluster in json.load(open(sys.argv[1])):
    try:
        c = _derive_autoscaling_config_from_ray_cr(cluster)
        types = {n: {k: t.get(k) for k in ("min_workers", "max_workers", "resources", "labels", "idle_timeout_s", "priority")} for n, t in c["available_node_types"].items()}
        print(json.dumps({"types": types, "max": c["max_workers"], "idle": c["idle_timeout_minutes"] * 60, "speed": c["upscaling_speed"]}))
    except BaseException as e:
        print(json.dumps({"refused": type(e).__name__ + ": " + str(e)[:200]}))
`;

/** As the API server completes what is left out. */
function defaulted(spec: JsonMap): JsonMap {
  const groups = (spec['workerGroupSpecs'] ?? []) as readonly JsonMap[];
  const complete = (group: JsonMap): JsonMap => ({
    ...group,
    minReplicas: group['minReplicas'] ?? 0,
    maxReplicas: group['maxReplicas'] ?? 2_147_483_647,
    replicas: group['replicas'] ?? 0,
    numOfHosts: group['numOfHosts'] ?? 1,
    rayStartParams: group['rayStartParams'] ?? {},
  });
  return { ...spec, workerGroupSpecs: groups.map(complete) };
}

const specPaths = [['spec'], ['spec', 'rayClusterConfig'], ['spec', 'rayClusterSpec']];

const clustersIn = (text: string): readonly Json[] =>
  readManifests('corpus.yaml', text).manifests.flatMap(({ object, name }) => {
    const spec = specPaths.map((path) => dig(object, ...path)).find((each) => dig(each, 'headGroupSpec') !== undefined);
    return spec === undefined ? [] : [{ metadata: { name, namespace: 'ray' }, spec: defaulted(spec as JsonMap) }];
  });

const group = (name: string, more: JsonMap, resources: JsonMap = { limits: { cpu: '1' } }): JsonMap => ({
  groupName: name,
  minReplicas: 1,
  maxReplicas: 3,
  rayStartParams: {},
  template: { spec: { containers: [{ name: 'ray', image: 'ray', resources }] } },
  ...more,
});
const cluster = (...groups: readonly JsonMap[]): Json => ({
  metadata: { name: 'own', namespace: 'ray' },
  spec: { headGroupSpec: group('', {}), workerGroupSpecs: groups },
});
const onTpus = (topology: string, accelerator: string, numOfHosts: number): JsonMap => {
  const selector = {
    'cloud.google.com/gke-tpu-topology': topology,
    'cloud.google.com/gke-tpu-accelerator': accelerator,
  };
  const container = { name: 'ray', image: 'ray', resources: { limits: { cpu: '4', 'google.com/tpu': '4' } } };
  return group('tpu', { numOfHosts, template: { spec: { nodeSelector: selector, containers: [container] } } });
};

/** What the corpus has no example of. */
const own: readonly Json[] = [
  cluster(group('a', { resources: { CPU: '1500m', GPU: '2', memory: '1.5Gi', special: '3' } })),
  cluster(
    group('b', { rayStartParams: { 'num-cpus': '7', 'num-gpus': '1', memory: '1000', resources: '"{\\"x\\": 2}"' } }),
  ),
  cluster(group('c', {}, { requests: { cpu: '250m', memory: '512M', 'amd.com/gpu': '1' } })),
  cluster(group('d', {}, { limits: { memory: '1Gi' } })),
  cluster(group('e', { rayStartParams: { resources: 'no json' } })),
  cluster(group('f', { idleTimeoutSeconds: 17, priority: 4, labels: { market: 'spot' } })),
  cluster(onTpus('2x2x2', 'tpu-v4-podslice', 2)),
  cluster(onTpus('2x4', 'tpu-v6e-slice', 1)),
  cluster(onTpus('2x4', 'of-tomorrow', 1)),
];

function asRay(object: Json): unknown {
  const scaling = scalingOf(object);
  if ('problem' in scaling) return { refused: true };
  const types = scaling.nodeTypes.map((type) => [
    type.name,
    {
      min_workers: type.minWorkers,
      max_workers: type.maxWorkers,
      resources: { ...type.resources, ...type.firstHost },
      labels: type.labels,
      idle_timeout_s: type.idleTimeout === undefined ? null : type.idleTimeout / 1_000,
      priority: type.priority || null,
    },
  ]);
  return {
    types: Object.fromEntries(types) as unknown,
    max: scaling.maxWorkers,
    idle: scaling.idleTimeout / 1_000,
    speed: scaling.upscalingSpeed,
  };
}

describe('what a RayCluster says of scaling', { skip }, () => {
  let scratch = '';
  before(() => {
    scratch = mkdtempSync(join(tmpdir(), 'manta-scaling-'));
  });
  after(() => rmSync(scratch, { recursive: true, force: true }));

  async function compare(clusters: readonly Json[]): Promise<{ readonly read: number; readonly refused: number }> {
    const file = join(scratch, 'clusters.json');
    writeFileSync(file, JSON.stringify(clusters));
    const lines = runPython('python' in ray ? ray.python : '', oracle, [file])
      .trim()
      .split('\n');
    assert.equal(lines.length, clusters.length);
    let refused = 0;
    for (const [at, line] of lines.entries()) {
      const said = JSON.parse(line) as { readonly refused?: string };
      const wanted = said.refused === undefined ? said : { refused: true };
      if (said.refused !== undefined) refused += 1;
      assert.deepEqual(asRay(clusters[at]!), wanted, JSON.stringify([said, clusters[at]]).slice(0, 3_000));
    }
    return { read: lines.length - refused, refused };
  }

  test('is read as Ray reads it, where it can be read', async () => {
    assert.deepEqual(await compare(own), { read: 7, refused: 2 });
  });

  test('is read as Ray reads it in every manifest of the corpus', { skip: noCorpus }, async () => {
    const texts = globSync('*.yaml', { cwd: folder }).map((name) => readFileSync(join(folder, name), 'utf8'));
    const { read } = await compare(texts.flatMap(clustersIn));
    assert.ok(read > 100, `${read} were read`);
  });
});
