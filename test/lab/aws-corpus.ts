// needs: botocore, ray, hosts

/**
 * Cluster files for AWS as their projects published them, from `up` to `down` on the hosts of a lab. Each stays as it is but
 * for what the table of its replacements names, which the test prints:
 *
 * - private resources, such as templates, subnets and images: made in the account first, and named in place of placeholders;
 * - downloads: packages that are installed already, under a `pip` that writes down what it was told;
 * - images of containers: those of the lab's registry, and podman in place of Docker's daemon;
 * - limits and numbers of machines above what this machine has.
 */
import assert from 'node:assert/strict';
import { labAccount } from '../../lab/aws/open.ts';
import { type Clients, clientsOf } from './aws-bed.ts';
import type { AwsClusterBed } from './aws-cluster-bed.ts';
import { spread } from './cloud-cluster-bed.ts';
import { corpusFile, podmanLimits as limits, type Replacement } from './cloud-corpus.ts';

export interface CorpusCluster {
  /** Name of the file, without `aws__` and `.yaml`. */
  readonly file: string;
  /** As the file names it, after the replacements. */
  readonly cluster: string;
  /** Makes what the file needs in the account; what it returns is replaced. */
  readonly prepare?: (all: AwsClusterBed, clients: Clients) => Promise<readonly Replacement[]>;
  /** What a task on a machine of its own asks for, of each kind that the file has; the head's is the first. */
  readonly asks: readonly string[];
}

/** What every machine has beside Ray: the programs that files expect on their images. */
export const standIns = (docker: boolean): string => `
mkdir -p /opt/lab/bin /opt/pytorch/bin
printf '#!/bin/sh\\necho "$@" >> /tmp/told-pip\\n' > /opt/lab/bin/pip
: > /opt/lab/bin/activate; : > /opt/pytorch/bin/activate
${docker ? `printf '#!/bin/sh\\nexec sudo -n /usr/bin/podman "$@"\\n' > /usr/local/bin/docker` : ''}
chmod 755 /opt/lab/bin/*
echo 'export PATH=/opt/lab/bin:$PATH' > /etc/profile.d/zz-lab.sh
`;

/** Takes one file from `up` over a job on a machine of each kind to `down`. */
export async function throughTheLab(all: AwsClusterBed, given: CorpusCluster, say: (line: string) => void) {
  const clients = clientsOf(all.aws.localEndpoint, all.aws.credentials);
  try {
    const replacements = (await given.prepare?.(all, clients)) ?? [];
    all.bed.write('corpus.yaml', corpusFile(`aws__${given.file}.yaml`, replacements, say));
    await all.manta('up', '-y', 'corpus.yaml');
    const said = await all.job(given.cluster, spread(given.asks));
    const hosts = /^RAN ON (.*)$/m.exec(said)?.[1]?.split(' ') ?? [];
    assert.equal(hosts.length, given.asks.length, said);
    assert.match(await all.manta('down', '-y', 'corpus.yaml'), /The cluster '.*' is down/);
    await all.assertNothingLeft(given.cluster);
  } finally {
    clients.destroy();
  }
}

const cpu = '{"CPU": 1}';

/** An image of the account, under the id that the file has. */
const image = (
  { aws }: AwsClusterBed,
  id: string,
  has: { user?: string; region?: string; rootDevice?: string } = {},
): void => {
  aws.world.addImage({ id, account: labAccount, region: 'us-west-2', ...has });
};

export const minimal: CorpusCluster = {
  file: 'transitional__ray__example-minimal__2023-11',
  cluster: 'aws-example-minimal',
  asks: [cpu, cpu],
};

export const launchTemplates: CorpusCluster = {
  file: 'modern__ray__example-launch-templates__2021-07',
  cluster: 'launch_templates',
  prepare: async (_all, { ec2 }) => {
    const data = {
      LaunchTemplateData: {
        TagSpecifications: [{ ResourceType: 'instance' as const, Tags: [{ Key: 'team', Value: 'lab' }] }],
      },
    };
    const made = await ec2.createLaunchTemplate({ LaunchTemplateName: 'ExampleLaunchTemplate', ...data });
    const id = made.LaunchTemplate!.LaunchTemplateId!;
    await ec2.createLaunchTemplateVersion({ LaunchTemplateId: id, ...data });
    return [
      ['lt-00000000000000000,', id, 'a template of the account'],
      ['ExampleLaunchTemplate,', 'ExampleLaunchTemplate', 'a template of the account'],
    ];
  },
  asks: [cpu, cpu],
};

export const full2020: CorpusCluster = {
  file: 'legacy__ray__example-full__2020-09',
  cluster: 'default',
  prepare: async (all) => {
    image(all, 'ami-0a2363a9cff180a64');
    return [];
  },
  asks: [cpu, cpu],
};

export const networkInterfaces: CorpusCluster = {
  file: 'modern__ray__example-network-interfaces__2024-06',
  cluster: 'network_interfaces',
  prepare: async (all, { ec2 }) => {
    const { Subnets: subnets = [] } = await ec2.describeSubnets({});
    const subnet = subnets.find(({ AvailabilityZone }) => AvailabilityZone === 'us-west-2a')!;
    const group = await ec2.createSecurityGroup({ GroupName: 'own', Description: 'own', VpcId: subnet.VpcId! });
    const inVpc = `auth:\n    ssh_proxy_command: ssh -o StrictHostKeyChecking=accept-new -W %h:%p root@${all.bed.head.address}`;
    return [
      ...['0000000', '11111111', '22222222', '33333333'].map(
        (n): Replacement => [`subnet-${n} `, `${subnet.SubnetId!} `, 'a subnet of the account'],
      ),
      ...['00000000', '11111111', '22222222', '33333333'].map(
        (n): Replacement => [`sg-${n} `, `${group.GroupId!} `, 'a group of the account'],
      ),
      ['172.31.64.10', '172.31.0.10', 'an address of the subnet'],
      ['172.31.16.', '172.31.0.1', 'an address of the subnet'],
      ['auth:', inVpc, 'the laptop is not in the network'],
    ];
  },
  asks: [cpu, cpu, '{"CPU": 1, "GPU": 1}'],
};

export const baseline: CorpusCluster = {
  file: 'legacy__mcs-pipeline__ray_baseline__2021-06',
  cluster: 'baseline',
  prepare: async (all) => {
    image(all, 'ami-09de87c68cf55d9ed', { region: 'us-east-1' });
    return [];
  },
  asks: [cpu, cpu],
};

export const embeddings: CorpusCluster = {
  file: 'transitional__Daft__document_embeddi-cluster__2025-10',
  cluster: 'ci-benchmark-ai-document-embedding-1-1',
  prepare: async (all, { ec2, iam }) => {
    image(all, 'ami-0976479b866d22613', { user: 'ec2-user', rootDevice: '/dev/xvda' });
    const key = '~/.ssh/ci-github-actions-ray-cluster-key.pem';
    const publicKey = await all.bed.on(all.bed.laptop, `ssh-keygen -q -t ed25519 -N '' -f ${key} && cat ${key}.pub`);
    await ec2.importKeyPair({
      KeyName: 'ci-github-actions-ray-cluster-key',
      PublicKeyMaterial: Buffer.from(publicKey),
    });
    const name = 'ray-autoscaler-v1';
    const trust = {
      Statement: [{ Effect: 'Allow', Principal: { Service: 'ec2.amazonaws.com' }, Action: 'sts:AssumeRole' }],
    };
    await iam.createRole({ RoleName: name, AssumeRolePolicyDocument: JSON.stringify(trust) });
    const passes = {
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Action: ['ec2:*', 'iam:PassRole'], Resource: '*' }],
    };
    await iam.putRolePolicy({ RoleName: name, PolicyName: 'ray', PolicyDocument: JSON.stringify(passes) });
    await iam.createInstanceProfile({ InstanceProfileName: name });
    await iam.addRoleToInstanceProfile({ InstanceProfileName: name, RoleName: name });
    return [
      ['${GITHUB_RUN_ID}-${GITHUB_RUN_ATTEMPT}', '1-1', 'a number of the build server'],
      ['${DAFT_INDEX_URL}', 'https://packages.invalid', 'an address of the build server'],
      ['arn:aws:iam::941892620273:', `arn:aws:iam::${labAccount}:`, 'a role of the account'],
      ['/opt/ray', '/opt/daft', 'where the lab has Ray'],
      ['min_workers: 8', 'min_workers: 1', 'as many machines as this one can play'],
    ];
  },
  asks: ['{"CPU": 1, "GPU": 1}'],
};

export const full2024: CorpusCluster = {
  file: 'modern__ray__example-full__2024-06',
  cluster: 'default',
  prepare: async (all) => {
    image(all, 'ami-0387d929287ab193e');
    return [
      ['rayproject/ray-ml:latest-acc', all.bed.lab.registry!.images.ray, 'an image of the registry of the lab'],
      ['--ulimit nofile=65536:65536', limits, 'limits of this machine'],
    ];
  },
  asks: [cpu, cpu],
};

export const full2021: CorpusCluster = {
  file: 'legacy__ray__example-full__2021-03',
  cluster: 'default',
  prepare: async (all) => {
    image(all, 'ami-0a2363a9cff180a64');
    const wheel =
      'https://s3-us-west-2.amazonaws.com/ray-wheels/latest/ray-2.0.0.dev0-cp37-cp37m-manylinux2014_x86_64.whl';
    const sources =
      'cd /tmp ; rm -rf ray-src ; git clone https://github.com/kathryn-zhou/ray.git ray-src ; cd ray-src ; git checkout cluster-stats ; cd python/ray ; python setup-dev.py -y';
    return [
      ['rayproject/ray:latest', all.bed.lab.registry!.images.ray, 'an image of the registry of the lab'],
      ['run_options: []', `run_options: ["${limits}"]`, 'limits of this machine'],
      ['- pip uninstall -y ray', '- pip list', 'a download'],
      [`- pip install -U ${wheel}`, '- ray --version', 'a download'],
      [`- ${sources}`, '- ray --version', 'a download'],
    ];
  },
  asks: [cpu, cpu, cpu],
};

export const torchx: CorpusCluster = {
  file: 'modern__torchx__ray_cluster__2022-02',
  cluster: 'gpu-docker',
  prepare: async (all) => {
    image(all, 'ami-0a2363a9cff180a64');
    const { ray } = all.bed.lab.registry!.images;
    return [
      ['rayproject/ray-ml:latest-gpu', ray, 'an image of the registry of the lab'],
      ['rayproject/ray-ml:latest-cpu', ray, 'an image of the registry of the lab'],
      ['- pip install boto3==1.4.8', '- pip list', 'a download'],
    ];
  },
  asks: [cpu, cpu],
};
