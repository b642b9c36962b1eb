// needs: openssl, google-discovery, google-client, ray, hosts

/** Ray's own launcher and autoscaler take the fake for Google Cloud. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type LabGoogle, labProject, openLabGoogle } from '../../lab/google/open.ts';
import { type Lab, labProblem, openLab } from '../../lab/lab.ts';
import { until } from '../contract/waiting.ts';

const small = '--num-cpus=1 --memory=500000000 --object-store-memory=100000000';
const node = (more: string): string => `
      machineType: n1-standard-2
      disks:
        - boot: true
          autoDelete: true
          type: PERSISTENT
          initializeParams: {diskSizeGb: 50, sourceImage: projects/deeplearning-platform-release/global/images/family/common-cpu}
${more}`;
const file = `
cluster_name: demo
max_workers: 1
provider: {type: gcp, region: us-west1, availability_zone: us-west1-a, project_id: ${labProject}}
auth: {ssh_user: ubuntu}
available_node_types:
  head:
    resources: {CPU: 1}
    node_config: ${node('')}
  worker:
    min_workers: 1
    resources: {CPU: 1}
    node_config: ${node('      scheduling: [{preemptible: true}]')}
head_node_type: head
setup_commands: []
head_setup_commands: []
head_start_ray_commands:
  - ray stop
  - ray start --head --port=6379 ${small} --autoscaling-config=~/ray_bootstrap_config.yaml
worker_start_ray_commands:
  - ray stop
  - ray start --address=$RAY_HEAD_IP:6379 ${small}
`;

describe('Ray on the fake of Google Cloud', { skip: labProblem() ?? false }, () => {
  let lab: Lab;
  let google: LabGoogle;
  let env: Readonly<Record<string, string>>;
  before(async () => {
    lab = await openLab({ hosts: 0, ray: true, googleClient: true });
    google = await openLabGoogle(lab, { image: { ray: true, googleClient: true } });
    env = await google.equip(lab.laptop);
    await lab.laptop.must(['sh', '-c', 'cat > /root/demo.yaml'], { input: file });
  });
  after(async () => {
    await google?.close();
    await lab?.close();
  });
  const ray = (...words: string[]) => lab.laptop.exec(['/opt/ray/bin/ray', ...words], { env, within: 300_000 });

  it('comes up in an empty project, launches a worker with the account of the head, and goes down', async () => {
    const up = await ray('up', '-y', '/root/demo.yaml');
    assert.equal(up.code, 0, up.stderr + up.stdout);
    const workers = () => google.cloud.existing(labProject).filter(({ market }) => market === 'spot');
    const isUp = () => workers().some(({ now }) => now.tags['ray-node-status'] === 'up-to-date');
    await until('the head has launched a worker', isUp, { within: 180_000 });
    const down = await ray('down', '-y', '/root/demo.yaml');
    assert.equal(down.code, 0, down.stderr + down.stdout);
    await until('all have ended', () => google.cloud.existing(labProject).length === 0);
  });
});
