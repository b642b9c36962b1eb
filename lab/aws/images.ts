/** Images that AWS and others offer to everybody, and the parameters under which the current ones are found. */
import type { Image } from '../cloud/belongings.ts';

const amazon = '898082745236';
const canonical = '099720109477';
const amazonLinux = '137112412989';

interface Offered {
  /** Where its id is kept, after `/aws/service/`. */
  readonly parameter: string;
  readonly name: string;
  readonly description: string;
  readonly architecture: Image['architecture'];
  readonly rootDevice: string;
  readonly rootGib: number;
  readonly owner: string;
  readonly user: string;
}

const dlami = (kind: string, framework: string, arch: 'x86_64' | 'arm64', gib: number): Offered => ({
  parameter: `deeplearning/ami/${arch}/${kind}/latest/ami-id`,
  name: `Deep Learning ${framework} (Ubuntu 24.04) 20261103`,
  description: `Deep Learning ${framework}, Ubuntu 24.04, ${arch}`,
  architecture: arch,
  rootDevice: '/dev/sda1',
  rootGib: gib,
  owner: amazon,
  user: 'ubuntu',
});

const offered: readonly Offered[] = [
  ...(['x86_64', 'arm64'] as const).flatMap((arch) => [
    dlami('base-oss-nvidia-driver-gpu-ubuntu-24.04', 'Base OSS Nvidia Driver GPU AMI', arch, 75),
    dlami('base-oss-nvidia-driver-gpu-ubuntu-22.04', 'Base OSS Nvidia Driver GPU AMI', arch, 75),
    dlami('base-with-single-cuda-ubuntu-24.04', 'Base AMI with Single CUDA', arch, 35),
    dlami('base-with-single-cuda-ubuntu-22.04', 'Base AMI with Single CUDA', arch, 35),
    dlami('oss-nvidia-driver-gpu-pytorch-2.8-ubuntu-24.04', 'OSS Nvidia Driver AMI GPU PyTorch 2.8', arch, 75),
    dlami('oss-nvidia-driver-gpu-pytorch-2.7-ubuntu-22.04', 'OSS Nvidia Driver AMI GPU PyTorch 2.7', arch, 75),
    {
      parameter: `canonical/ubuntu/server/24.04/stable/current/${arch === 'arm64' ? arch : 'amd64'}/hvm/ebs-gp3/ami-id`,
      name: `ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-${arch === 'arm64' ? arch : 'amd64'}-server-20261028`,
      description: 'Canonical, Ubuntu, 24.04',
      architecture: arch,
      rootDevice: '/dev/sda1',
      rootGib: 8,
      owner: canonical,
      user: 'ubuntu',
    },
    {
      parameter: `ami-amazon-linux-latest/al2023-ami-kernel-default-${arch}`,
      name: `al2023-ami-2023.9.20261027.0-kernel-6.1-${arch}`,
      description: 'Amazon Linux 2023',
      architecture: arch,
      rootDevice: '/dev/xvda',
      rootGib: 8,
      owner: amazonLinux,
      user: 'ec2-user',
    },
  ]),
  dlami('neuron-ubuntu-24.04', 'AMI Neuron', 'x86_64', 50),
];

/** Ray's own default by region, a DLAMI of 2023 that it still names. */
const rayDefaults: Readonly<Record<string, string>> = {
  'us-east-1': 'ami-0271ce88f6c03e149',
  'us-east-2': 'ami-0ce21b0ce8e0f5a37',
  'us-west-1': 'ami-030896954b2b72361',
  'us-west-2': 'ami-0a2b85e15b7c0ac34',
  'eu-central-1': 'ami-004d285ecf53fb335',
  'eu-west-1': 'ami-0e17ed40febe794a6',
  'eu-west-2': 'ami-0ad9e6b9d4e22df1a',
  'ap-southeast-1': 'ami-03ef1223872072e95',
};

/** The same image has another id in each region, and the same in each account. */
export function publicImages(
  region: string,
  ids: (name: string) => string,
): { readonly images: readonly Image[]; readonly parameters: ReadonlyMap<string, string> } {
  const parameters = new Map<string, string>();
  const images = offered.map(({ parameter, ...image }): Image => {
    const id = `ami-${ids(`${region}/${parameter}`)}`;
    parameters.set(`/aws/service/${parameter}`, id);
    return { ...image, id, family: parameter, region, account: image.owner, createdAt: imageDate, tags: {} };
  });
  const old = rayDefaults[region];
  if (old !== undefined)
    images.push({
      id: old,
      name: 'Deep Learning AMI (Ubuntu 18.04) Version 71.0',
      description: 'what Ray names where a file names none',
      architecture: 'x86_64',
      rootDevice: '/dev/sda1',
      rootGib: 140,
      owner: amazon,
      user: 'ubuntu',
      region,
      account: amazon,
      createdAt: imageDate - 3 * 365 * 86_400_000,
      tags: {},
    });
  return { images, parameters };
}

const imageDate = Date.UTC(2026, 10, 3);
