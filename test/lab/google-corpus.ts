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
groupadd -f docker
for name in sbin/sysctl sbin/systemctl; do
  told=/var/log/told-\${name#*/}
  printf '#!/bin/sh\\necho "$@" >> %s\\n' "$told" > /usr/local/$name
  : > "$told"; chmod 666 "$told"
done
cat > /usr/local/bin/gcloud <<'END'
#!/bin/sh
about() {
  python3 - "$1" <<'PYTHON'
import sys, urllib.request
request = urllib.request.Request("http://169.254.169.254/computeMetadata/v1/" + sys.argv[1], headers={"Metadata-Flavor": "Google"})
print(urllib.request.urlopen(request, timeout=10).read().decode())
PYTHON
}
case "$*" in
  'secrets versions access latest --secret='*)
    about instance/service-accounts/default/token >/dev/null || { echo 'PERMISSION_DENIED' >&2; exit 1; }
    printf 'secret-of-%s' "\${5#*=}" ;;
  'compute project-info describe'*) about project/attributes/ssh-keys ;;
esac
exit 0
END
printf '#!/bin/sh\\necho "Driver Version                            : 515.43.04"\\n' > /usr/local/bin/nvidia-smi
cat > /usr/local/bin/docker <<'END'
#!/bin/sh
[ ! -e /etc/docker-group ] || id -nG | grep -qw docker ||
  { echo 'permission denied while trying to connect to the Docker daemon socket' >&2; exit 1; }
exec sudo -n --preserve-env=HTTPS_PROXY,SSL_CERT_FILE,REGISTRY_AUTH_FILE /usr/bin/podman "$@"
END
mkdir -p /srv
printf '#!/bin/sh\\ngroupadd -f docker && touch /etc/docker-group\\n' > /srv/get-docker.sh
chmod 755 /usr/local/bin/* /usr/local/sbin/*
printf '[engine.runtimes]\\nnvidia = ["/usr/sbin/runc"]\\n' >> /etc/containers/containers.conf
`;

const registryImage = ({ bed }: GoogleClusterBed): string => bed.lab.registry!.images.ray;
const client: Replacement = ['pip install google-api-python-client==1.7.8', 'pip install --no-index ray', 'a download'];

/** In containers too; and no machine that this one plays has that much memory. */
const inContainers: readonly Replacement[] = [
  ['- --privileged', '- --privileged\n      - -v /usr/local/bin/gcloud:/usr/local/bin/gcloud', 'gcloud is a stand-in'],
  ['- --ulimit memlock=-1:-1', `- ${podmanLimits}`, 'limits of this machine'],
  ['      - -v "/var/run/docker.sock:/var/run/docker.sock"', '', 'podman has no daemon'],
  ['  - sudo chmod 666 /var/run/docker.sock', '', 'podman has no daemon'],
];

/** Its image stays where it is: in Artifact Registry, where machines pull it with their own account. */
export const marin = {
  file: 'gcp-tpu__modern__marin__marin-us-central2__2026-04.yaml',
  image: `us-central2-docker.pkg.dev/${labProject}/marin/marin_cluster:20260129`,
  replacements: [
    ['hai-gcp-models', labProject, "the lab's project"],
    ...inContainers,
    ['- --ulimit nofile=1048576:1048576', `- ${podmanLimits}`, 'limits of this machine'],
    ['- --shm-size=100gb', '- --shm-size=1gb', 'the memory of this machine'],
  ] satisfies readonly Replacement[],
};

export const levanter = {
  file: 'gcp-tpu__modern__levanter__job-cluster__2024-10.yaml',
  replacements: (all: GoogleClusterBed): readonly Replacement[] => [
    ['hai-gcp-models', labProject, "the lab's project"],
    ['ghcr.io/stanford-crfm/levanter-cluster:latest', registryImage(all), 'an image of the registry of the lab'],
    ...inContainers.map(([says, lab, why]): Replacement => [says, lab.replace('\n      -', '\n        -'), why]),
    ['- --shm-size=32gb', '- --shm-size=1gb', 'the memory of this machine'],
  ],
};

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
