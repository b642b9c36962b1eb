// needs: openssl, ray, hosts, podman, kube

/** RayJobs in every mode and RayCronJobs, from `manta kube apply` to the end that their output proves. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { inSoak } from '../soak.ts';
import { eventually } from './cluster-bed.ts';
import { KubeBed, kubeProblem } from './kube-bed.ts';

interface RayJob {
  readonly metadata: { readonly name: string };
  readonly status?: {
    readonly jobStatus?: string;
    readonly jobDeploymentStatus?: string;
    readonly rayClusterName?: string;
    readonly reason?: string;
  };
}

/** The others repeat the proof of the first. */
const modes = inSoak('kube') ? ['K8sJobMode', 'HTTPMode', 'SidecarMode', 'InteractiveMode'] : ['K8sJobMode'];

describe('RayJobs', { skip: kubeProblem() ?? false }, () => {
  let bed: KubeBed;
  before(async () => {
    bed = await KubeBed.open();
  });
  after(() => bed?.close());

  const head = (): string =>
    `{spec: {containers: [{name: ray-head, image: "${bed.rayImage}", resources: {limits: {memory: 3Gi}, requests: {cpu: 200m, memory: 1Gi}}}]}}`;
  const jobSpec = (mode: string, entrypoint: string): string => `
entrypoint: ${JSON.stringify(entrypoint)}
submissionMode: ${mode}
shutdownAfterJobFinishes: true
rayClusterSpec:
  rayVersion: 2.60.0
  headGroupSpec:
    rayStartParams: {num-cpus: "1"}
    template: ${head()}
`;
  const indented = (text: string, by: number): string => text.replaceAll(/^(?=.)/gm, ' '.repeat(by));
  const rayJob = (name: string, mode: string, entrypoint: string): string =>
    `apiVersion: ray.io/v1\nkind: RayJob\nmetadata: {name: ${name}}\nspec:\n${indented(jobSpec(mode, entrypoint), 2)}`;

  const apply = (text: string) => {
    bed.bed.write('job.yaml', text);
    return bed.run(['kube', 'apply', '--yes', '--timeout', '420', 'job.yaml']);
  };
  const ended = (name: string): Promise<RayJob> =>
    eventually(`the RayJob '${name}' has ended`, async () => {
      const job = await bed.get<RayJob>('rayjob', name);
      return /^(?:Complete|Failed)$/.test(job.status?.jobDeploymentStatus ?? '') && job;
    });

  for (const mode of modes.filter((each) => each !== 'InteractiveMode'))
    test(`${mode}: it runs, and ends with what its entrypoint ended with`, async () => {
      const name = mode.toLowerCase().replace('mode', '');
      const { code, stderr } = await apply(rayJob(name, mode, 'python -c "import ray; ray.init(); print(6 * 7)"'));
      assert.equal(code, 0, stderr);
      const { status } = await ended(name);
      assert.deepEqual([status?.jobDeploymentStatus, status?.jobStatus], ['Complete', 'SUCCEEDED']);
      await eventually('its cluster is gone', async () => {
        const left = await bed.kube.kubectl(['get', 'raycluster', status!.rayClusterName!, '--ignore-not-found']);
        return left === '';
      });
    });

  test('one that fails is told with its first cause', async () => {
    const { code, stderr } = await apply(rayJob('bad', 'K8sJobMode', 'python -c "raise SystemExit(3)"'));
    const { status } = await ended('bad');
    assert.deepEqual([status?.jobDeploymentStatus, status?.jobStatus], ['Failed', 'FAILED']);
    // It may have been seen running first; then that was the end of the wait.
    if (code !== 0) assert.match(stderr, /the job failed.*exit code 3/);
  });

  test('InteractiveMode: it is up when its cluster waits for a job', {
    skip: !modes.includes('InteractiveMode') && 'optional: npm run soak -- kube',
  }, async () => {
    const { code, stderr } = await apply(rayJob('hands', 'InteractiveMode', ''));
    assert.equal(code, 0, stderr);
    const { status } = await bed.get<RayJob>('rayjob', 'hands');
    assert.equal(status?.jobDeploymentStatus, 'Waiting');
    const pods = ['get', 'pods', '-l', `ray.io/cluster=${status?.rayClusterName}`, '-o', 'name'];
    const [pod = ''] = (await bed.kube.kubectl(pods)).trim().split('\n');
    await bed.kube.kubectl([
      'exec',
      pod,
      '--',
      'ray',
      'job',
      'submit',
      '--submission-id',
      'by-hand',
      '--',
      'echo',
      'hello',
    ]);
    await bed.kube.kubectl(['patch', 'rayjob', 'hands', '--type=merge', '-p', '{"spec":{"jobId":"by-hand"}}']);
    assert.equal((await ended('hands')).status?.jobStatus, 'SUCCEEDED');
  });

  test('a RayCronJob starts a RayJob by its schedule', {
    skip: !inSoak('kube') && 'optional: npm run soak -- kube',
  }, async () => {
    const text = `apiVersion: ray.io/v1\nkind: RayCronJob\nmetadata: {name: often}\nspec:\n  schedule: "* * * * *"\n  jobTemplate:\n${indented(jobSpec('HTTPMode', 'echo by-the-clock'), 4)}`;
    const { code, stderr } = await apply(text);
    assert.equal(code, 0, stderr);
    const job = await eventually('a job of the schedule exists', async () => {
      const { items } = await bed.get<{ items: readonly RayJob[] }>('rayjobs');
      return items.find(({ metadata }) => metadata.name.startsWith('often'));
    });
    await bed.kube.kubectl(['patch', 'raycronjob', 'often', '--type=merge', '-p', '{"spec":{"suspend":true}}']);
    assert.equal((await ended(job.metadata.name)).status?.jobStatus, 'SUCCEEDED');
  });
});
