// needs: openssl, google-discovery, ray, hosts

/**
 * Cluster files for Google Cloud as their projects published them. Each stays as it is but for what its replacements name:
 *
 * - projects and images of their owners: those of the lab's project;
 * - images of containers: that of the lab's registry, and podman in place of Docker's daemon;
 * - downloads: what is there already, or a program that writes down what it was told;
 * - systemd, sysctl, a GPU and `gcloud`: stand-ins, because the kernel is this machine's own;
 * - NFS: a file system in memory under the name of a server, as `mount` shows it;
 * - limits and numbers of machines above what this machine has.
 */
import { labProject } from '../../lab/google/open.ts';
import { podmanLimits, type Replacement } from './cloud-corpus.ts';
import type { GoogleClusterBed } from './google-cluster-bed.ts';

/**
 * What every machine has beside Ray: the programs that files expect on their images. Where a file installs Docker, only its
 * group may use it from then on.
 */
export const standIns = `
mkdir -p /usr/local/sbin
for name in sbin/sysctl sbin/systemctl bin/gcloud; do
  told=/var/log/told-\${name#*/}
  printf '#!/bin/sh\\necho "$@" >> %s\\n' "$told" > /usr/local/$name
  : > "$told"; chmod 666 "$told"
done
printf '#!/bin/sh\\necho "Driver Version                            : 515.43.04"\\n' > /usr/local/bin/nvidia-smi
cat > /usr/local/bin/docker <<'END'
#!/bin/sh
[ ! -e /etc/docker-group ] || id -nG | grep -qw docker ||
  { echo 'permission denied while trying to connect to the Docker daemon socket' >&2; exit 1; }
exec sudo -n /usr/bin/podman "$@"
END
mkdir -p /srv
printf '#!/bin/sh\\ngroupadd -f docker && touch /etc/docker-group\\n' > /srv/get-docker.sh
chmod 755 /usr/local/bin/* /usr/local/sbin/*
printf '[engine.runtimes]\\nnvidia = ["/usr/sbin/runc"]\\n' >> /etc/containers/containers.conf
`;

const registryImage = ({ bed }: GoogleClusterBed): string => bed.lab.registry!.images.ray;
const client: Replacement = ['pip install google-api-python-client==1.7.8', 'pip install --no-index ray', 'a download'];

export const tuner = {
  file: 'gcp__modern__OpenROAD-flow-scripts__public__2025-02-4.yaml.tmpl',
  replacements: (all: GoogleClusterBed): readonly Replacement[] => [
    ['foss-fpga-tools-ext-openroad', labProject, "the lab's project"],
    ['jluarprecisioninno/orfs-autotuner:latest', registryImage(all), 'an image of the registry of the lab'],
    ['--ulimit nofile=65536:65536', podmanLimits, 'limits of this machine'],
    [
      '#    "/path1/on/remote/machine": "/path1/on/local/machine",',
      '    "/OpenROAD-flow-scripts/service_account.json": "service_account.json",',
      'the mount that its README tells to add',
    ],
    [
      '    - mkdir -p $HOME/flow',
      `    - mkdir -p $HOME/flow
    - curl -fsSL file:///srv/get-docker.sh -o get-docker.sh
    - sudo sh get-docker.sh
    - sudo usermod -aG docker $USER
    - sudo systemctl restart docker -f`,
      'Docker is installed on the way, as in the version of 2024-12',
    ],
    client,
  ],
};

export const gpuDocker = {
  file: 'gcp__modern__ray__example-gpu-docker__2024-07.yaml',
  replacements: (all: GoogleClusterBed): readonly Replacement[] => [
    ['rayproject/ray:latest-gpu', registryImage(all), 'an image of the registry of the lab'],
    ['ulimit -n 65536;', '', 'limits of this machine'],
    client,
  ],
};

export const training = {
  file: 'gcp__legacy__il-representations__gcp_cluster_template__2022-05.yaml',
  replacements: (all: GoogleClusterBed): readonly Replacement[] => {
    all.google.world.addImage({ project: labProject, name: 'ilr-ray-image-2021-08-23-v0' });
    return [
      ['il-rep-XXX-CUSTOMIZE-THIS-XXX', 'il-rep-lab', 'a place that the template leaves open'],
      ['cluster-XXX-CUSTOMIZE-THIS-XXX', 'cluster-lab', 'a place that the template leaves open'],
      ['methodical-tea-257021', labProject, "the lab's project, with an image of the same name"],
      ['humancompatibleai/il-representations:2022.05.04-r1', registryImage(all), 'an image of the registry of the lab'],
      ['    - "core=0"', `    - "core=0"\n    - "${podmanLimits}"`, 'limits of this machine'],
      ['ulimit -n 65536;', '', 'limits of this machine'],
      ['initial_workers: 16', 'initial_workers: 1', 'as many machines as this one can play'],
      [
        '--opt type=nfs \\\n      --opt "o=addr=${nfs_server_ip},rw" --opt device=:/vol1 \\',
        '--opt type=none \\\n      --opt "o=bind" --opt device=/data/il-representations --label "server=${nfs_server_ip}" \\',
        'NFS is a folder',
      ],
      [
        'git -c core.sshCommand="ssh -v" \\\n      clone --depth 1 -b XXX-CUSTOMIZE-THIS-XXX \\\n      https://github.com/HumanCompatibleAI/il-representations.git ~/il-rep',
        'cp -r \\\n      /project-data/repository ~/il-rep',
        'a download',
      ],
      ['pip install -r requirements.txt', 'pip install --no-index -r requirements.txt', 'a download'],
      ['pip install -e .', 'pip list', 'a download'],
      [
        'conda list && yes | conda install pytorch=1.9.0 torchvision cudatoolkit=11.1 -c pytorch -c nvidia -y',
        'pip list',
        'a download',
      ],
    ];
  },
};

/** What the training cluster's folder has beside its file; the NFS server's files are made as its machines mount them. */
export const nfsMount = `#!/bin/bash
set -e
mkdir -p /data/il-representations
mountpoint -q /data/il-representations || mount -t tmpfs nfs-server:/vol1 /data/il-representations
cd /data/il-representations
mkdir -p repository/cloud
echo 'CLIENT_MOUNT_POINT=/data/il-representations/' >repository/cloud/nfs_config.sh
echo ray >repository/requirements.txt
echo key >mjkey.txt
chmod -R a+rwX .
`;
