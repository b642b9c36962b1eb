// needs: openssl, ray, hosts, podman, kube

/** `manta kube apply` against real KubeRay, kubelet and Ray. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { KubeBed, kubeProblem } from './kube-bed.ts';

describe('manta kube apply', { skip: kubeProblem() ?? false }, () => {
  let bed: KubeBed;
  before(async () => {
    bed = await KubeBed.open();
  });
  after(() => bed?.close());

  const manifest = (
    name: string,
    more: { image?: string; cpu?: string; params?: string; version?: string } = {},
  ): string => `
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: ${name}}
spec:
  ${more.version ?? 'rayVersion'}: 2.60.0
  headGroupSpec:
    rayStartParams: ${more.params ?? '{}'}
    template:
      spec:
        containers:
          - name: ray-head
            image: ${more.image ?? bed.rayImage}
            resources: {limits: {memory: 3Gi}, requests: {cpu: ${more.cpu ?? '200m'}, memory: 1Gi}}
`;

  const apply = (text: string, ...words: readonly string[]) => {
    bed.bed.write('cluster.yaml', text);
    return bed.run(['kube', 'apply', '--yes', ...words, 'cluster.yaml']);
  };

  test('a cluster is up when it says so, and an edit that KubeRay ignores is told as such', async () => {
    const made = await apply(manifest('up'));
    assert.equal(made.code, 0, made.stderr);
    assert.match(made.stdout, /^RayCluster 'up': created/m);
    const pod = [
      'get',
      'pods',
      '-l',
      'ray.io/cluster=up',
      '-o',
      'jsonpath={.items[*].status.containerStatuses[0].ready}',
    ];
    assert.equal(await bed.kube.kubectl(pod), 'true');
    const again = await apply(manifest('up'));
    assert.deepEqual([again.code, /unchanged/.test(again.stdout)], [0, true], again.stderr);
    const edited = await apply(manifest('up').replace('3Gi', '2Gi'));
    assert.equal(edited.code, 0, edited.stderr);
    assert.match(edited.stdout, /running pods stay as they are[\s\S]*limits\.memory: "3Gi" -> "2Gi"/);
  });

  test('what does not come up ends with its first cause', async () => {
    const image = await apply(manifest('image', { image: bed.rayImage.replace('lab/ray', 'lab/nothing') }));
    assert.equal(image.code, 1);
    assert.match(image.stderr, /MANTA_KUBE_NOT_UP/);
    assert.match(image.stderr, /lab\/nothing.*cannot be pulled/);
    const crash = await apply(manifest('crash', { params: '{no-such-flag: "1"}' }));
    assert.match(crash.stderr, /ended with exit code 2[\s\S]*no-such-flag/);
    const big = await apply(manifest('big', { cpu: '64' }), '--timeout', '3');
    assert.match(big.stderr, /no node has room[\s\S]*too little cpu/);
  });

  test('the server finds an unknown field before anything is changed', async () => {
    const typo = await apply(manifest('typo', { version: 'rayVersoin' }));
    assert.match(typo.stderr, /MANTA_KUBE_\w+[\s\S]*rayVersoin|rayVersoin[\s\S]*MANTA_KUBE_/);
    assert.equal(typo.code, 1);
    assert.equal(await bed.kube.kubectl(['get', 'raycluster', 'typo', '--ignore-not-found']), '');
  });
});
