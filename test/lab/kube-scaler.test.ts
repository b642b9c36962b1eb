// needs: openssl, ray, hosts, podman, kube

/** Manta's planner in the head's pod of a RayCluster, with KubeRay's real operator, kubelet and Ray. */
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { kubePrograms } from '../../scripts/kube-build.ts';
import { type Json, textAt } from '../../src/core/kube/object.ts';
import { eventually } from './cluster-bed.ts';
import { KubeBed, kubeProblem } from './kube-bed.ts';

const contract = fileURLToPath(new URL('./kube-contract-inside.ts', import.meta.url));

interface Listed {
  readonly items: readonly Json[];
}

describe("Manta's planner in the head's pod", { skip: kubeProblem() ?? false }, () => {
  let bed: KubeBed;
  let head = '';
  before(async () => {
    bed = await KubeBed.open();
    cpSync(join(kubePrograms(), 'kubectl'), join(bed.bed.laptop.root, 'usr/local/bin/kubectl'));
  });
  after(() => bed?.close());

  const manifest = (): string => `
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: demo}
spec:
  rayVersion: 2.60.0
  autoscalerOptions: {idleTimeoutSeconds: 5, resources: {requests: {cpu: 50m, memory: 200Mi}, limits: {memory: 512Mi}}}
  headGroupSpec:
    rayStartParams: {num-cpus: "0"}
    template:
      spec:
        containers:
          - name: ray-head
            image: ${bed.rayImage}
            resources: {limits: {memory: 3Gi}, requests: {cpu: 200m, memory: 1Gi}}
  workerGroupSpecs:
    - groupName: small
      replicas: 0
      minReplicas: 0
      maxReplicas: 3
      rayStartParams: {num-cpus: "1", object-store-memory: "100000000"}
      template:
        spec:
          terminationGracePeriodSeconds: 2
          containers:
            - name: ray-worker
              image: ${bed.rayImage}
              resources: {limits: {memory: 1Gi}, requests: {cpu: 50m, memory: 500Mi}}
`;

  const inHead = (container: 'autoscaler' | 'ray-head', program: string): Promise<string> =>
    bed.kube.kubectl(['exec', head, '-c', container, '--', 'bash', '-c', program]);

  /** Names of all worker pods that were ever made. */
  const made = new Set<string>();
  async function workers(): Promise<readonly string[]> {
    const { items } = await bed.get<Listed>('pods', '-l', 'ray.io/node-type=worker');
    const names = items.map((pod) => textAt(pod, 'metadata', 'name') ?? '');
    for (const name of names) made.add(name);
    return names;
  }

  const replicas = async (): Promise<number> =>
    Number(
      await bed.kube.kubectl(['get', 'raycluster', 'demo', '-o', 'jsonpath={.spec.workerGroupSpecs[0].replicas}']),
    );

  /** Tasks that hold a node each and are not tried again: their end tells that no pod under them was taken. */
  const driver = (tasks: number, seconds: number): string => `
import ray, time
ray.init(address="auto", logging_level="error")
@ray.remote(num_cpus=1, max_retries=0)
def work(n):
    time.sleep(${seconds})
    return n
print("DONE", sum(ray.get([work.remote(1) for _ in range(${tasks})])))
`;
  const runDriver = (tasks: number, seconds: number): Promise<string> =>
    inHead('ray-head', `timeout 200 python3 - <<'END' 2>&1\n${driver(tasks, seconds)}END`);

  const idle = (): Promise<true> =>
    eventually('all workers are gone', async () => (await workers()).length === 0 && (await replicas()) === 0);

  test('stands where the operator starts the autoscaler, and tells that it scales', async () => {
    bed.bed.write('demo.yaml', manifest());
    const words = ['kube', 'apply', '--yes', '--scaler', 'manta', '--image', bed.nodeImage, 'demo.yaml'];
    const applied = await bed.run(words);
    assert.equal(applied.code, 0, applied.stderr);
    assert.match(applied.stderr, /queue and journal end with the head's pod/);
    const { items } = await bed.get<Listed>('pods', '-l', 'ray.io/node-type=head');
    head = textAt(items[0], 'metadata', 'name') ?? '';
    const log = await eventually('it has said so', async () => {
      const said = await bed.kube.kubectl(['logs', head, '-c', 'autoscaler']);
      return said.includes('scales the RayCluster') && said;
    });
    assert.match(log, /Manta's planner scales the RayCluster 'demo' in 'default'/);
    const again = await bed.run(words);
    assert.match(again.stdout, /RayCluster 'demo': unchanged/, again.stderr);
  });

  test('makes as many workers as the demand of a driver needs, and ends them when they are idle', async () => {
    assert.match(await runDriver(2, 3), /DONE 2/);
    await workers();
    await idle();
    assert.equal(made.size, 2, [...made].join(' '));
    const note = await bed.kube.kubectl(['get', 'raycluster', 'demo', '-o', 'yaml']);
    assert.match(note, /workersToDelete: \[\]/);
  });

  test('queue, status and why are reached through a port that is forwarded, with the token of the Secret', async (t) => {
    const forward = bed.bed.laptop.spawn(['kubectl', 'port-forward', head, '8266:8266'], {
      user: 'root',
      stdio: 'ignore',
    });
    t.after(() => forward.kill());
    const secret = await bed.kube.kubectl(['get', 'secret', 'demo-manta', '-o', 'jsonpath={.data.token}']);
    const env = {
      RAY_API_SERVER_ADDRESS: 'http://127.0.0.1:8266',
      RAY_AUTH_TOKEN: Buffer.from(secret, 'base64').toString(),
    };
    const manta = (...words: readonly string[]) => bed.bed.run(words, { env });
    const status = await eventually('it answers', async () => {
      const answer = await manta('status', '--json');
      return answer.code === 0 && answer.stdout;
    });
    assert.match(status, /headgroup/);
    const refused = await bed.bed.run(['status'], { env: { ...env, RAY_AUTH_TOKEN: 'wrong' } });
    assert.notEqual(refused.code, 0);
    const job = await manta(
      'job',
      'submit',
      '--entrypoint-num-cpus',
      '1',
      '--submission-id',
      'queued',
      '--',
      'echo',
      'from the queue',
    );
    assert.equal(job.code, 0, job.stderr);
    assert.match(job.stdout, /from the queue/);
    const why = await manta('why', 'queued');
    assert.equal(why.code, 0, why.stderr);
    assert.match(why.stdout, /small/);
    await workers();
    await idle();
  });

  test('its provider passes the contract with the operator that is there', async () => {
    bed.bed.write('stranger', bed.kube.userConfig('bob'));
    const { code, stdout, stderr } = await bed.bed.laptop.exec(['node', '--test', contract], {
      user: 'root',
      env: { HOME: '/root', STRANGER: '/root/stranger', IMAGE: bed.bed.lab.registry!.images.base },
      within: 540_000,
    });
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /ℹ fail 0/);
  });

  test('dies again and again in three rounds: nothing is launched twice, and nothing that works ends', async () => {
    for (let round = 0; round < 3; round++) {
      made.clear();
      const over = new AbortController();
      const kills = (async (): Promise<number> => {
        let count = 0;
        while (!over.signal.aborted) {
          await sleep(700 + 600 * round, undefined, { signal: over.signal }).catch(() => {});
          await inHead('autoscaler', 'pkill -9 -f mantad.js').then(
            () => count++,
            () => {},
          );
          await workers();
        }
        return count;
      })();
      const said = await runDriver(2, 12).finally(() => over.abort());
      const count = await kills;
      assert.match(said, /DONE 2/);
      assert.ok(count >= 3, `it was killed ${count} times`);
      assert.equal(made.size, 2, `${[...made].join(' ')} after ${count} kills`);
      await idle();
    }
  });
});
