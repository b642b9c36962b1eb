// needs: ray, hosts, podman

/**
 * Two cluster files as their projects wrote them, from `up` to `down`, as a user with sudo, by the words of `ray`. What a
 * lab cannot give is replaced, and nothing else is:
 *
 * - the cloud: `provider`, `ssh_user`, images and node types are those of own machines and of the lab's registry;
 * - addresses in the internet: files and repositories under `/srv` of each host, packages that are installed already;
 * - Docker's daemon: podman behind a `docker` that asks for the group `docker`, as the daemon's socket does;
 * - systemd and sysctl: programs that write down what they were told, because the kernel is this machine's own;
 * - NFS: a file system in memory under the name of a server, as `mount` shows it;
 * - a GPU: an `nvidia-smi` that tells a driver's version, and a container runtime `nvidia` that is runc;
 * - limits above this machine's own, and the further limits that podman wants named beside them.
 */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { LabHost } from '../../lab/lab.ts';
import { ClusterBed, clusterProblem, eventually, leftOn, program } from './cluster-bed.ts';

/** Podman takes limits given to it for all there are, and then asks for more than it may. */
const limits = '--ulimit nofile=4096:4096 --ulimit nproc=4096:4096';

const installer = `#!/bin/sh
groupadd -f docker
cat >/usr/local/bin/docker <<'END'
#!/bin/sh
id -nG | grep -qw docker || { echo 'permission denied while trying to connect to the Docker daemon socket' >&2; exit 1; }
exec sudo -n /usr/bin/podman "$@"
END
chmod 755 /usr/local/bin/docker
`;

const recorder = (name: string): string => `#!/bin/sh\necho "$@" >>/var/log/told-${name}\n`;

async function furnish(host: LabHost): Promise<void> {
  await host.must(
    `rm -f /usr/local/bin/docker
mkdir -p /srv/flow-scripts /usr/local/sbin
cat >/srv/get-docker.sh
for name in systemctl sysctl; do printf '%s' '${recorder('NAME')}' | sed "s/NAME/$name/" >/usr/local/sbin/$name; chmod 755 /usr/local/sbin/$name; done
printf '#!/bin/sh\\necho "Driver Version                            : 515.43.04"\\n' >/usr/local/bin/nvidia-smi
chmod 755 /usr/local/bin/nvidia-smi
printf '[engine.runtimes]\\nnvidia = ["/usr/sbin/runc"]\\n' >>/etc/containers/containers.conf
cd /srv/flow-scripts && mkdir flow && echo design >flow/design.mk && export HOME=/root GIT_CONFIG_GLOBAL=/dev/null
git init -q && git add . && git -c user.name=lab -c user.email=lab@lab commit -qm first && chown -R ada: /srv`,
    { user: 'root', input: installer },
  );
}

const autotuner = (bed: ClusterBed): string => `# An unique identifier for the head node and workers of this cluster.
cluster_name: autotuner

max_workers: 2
upscaling_speed: 1.0

docker:
  image: "${bed.lab.registry!.images.ray}"
  container_name: "ray_container"
  pull_before_run: true
  run_options:
    - ${limits}
    - -v $HOME/OpenROAD-flow-scripts/flow:/OpenROAD-flow-scripts/flow

idle_timeout_minutes: 60

provider:
    type: local
    head_ip: ${bed.head.address}
    worker_ips: [${bed.workers[0]!.address}]

auth:
    ssh_user: ada

file_mounts: {
    "/OpenROAD-flow-scripts/service_account.json": "service_account.json",
}
cluster_synced_files: []
file_mounts_sync_continuously: False

rsync_exclude:
    - "**/.git"
    - "**/.git/**"
rsync_filter:
    - ".gitignore"

initialization_commands:
    - rm -rf ./OpenROAD-flow-scripts
    - git clone /srv/flow-scripts OpenROAD-flow-scripts
    - curl -fsSL file:///srv/get-docker.sh -o get-docker.sh
    - sudo sh get-docker.sh
    - sudo usermod -aG docker $USER
    - sudo systemctl restart docker -f

setup_commands: []

head_setup_commands:
  - pip install --no-index ray

worker_setup_commands: []

head_start_ray_commands:
    - ray stop
    - >-
      ray start
      --head
      --port=6379
      --object-manager-port=8076
      --autoscaling-config=~/ray_bootstrap_config.yaml
      --disable-usage-stats

worker_start_ray_commands:
    - ray stop
    - >-
      ray start
      --address=$RAY_HEAD_IP:6379
      --object-manager-port=8076
      --disable-usage-stats
`;

const makefile = `include .env
export

.PHONY: up down dashboard monitor

up:
\t@ray disable-usage-stats
\t@ray up -y public.yaml

down:
\t@ray down -y public.yaml

dashboard:
\t@ray dashboard public.yaml

monitor:
\t@ray monitor public.yaml
`;

const mainAddress = `import socket
print("Main IP address:", socket.gethostbyname(socket.gethostname()))
`;

const training = (bed: ClusterBed): string => `cluster_name: il-rep-lab

min_workers: 1
max_workers: 16
initial_workers: 16
autoscaling_mode: default
target_utilization_fraction: 0.9
idle_timeout_minutes: 5

docker:
  image: "${bed.lab.registry!.images.ray}"
  container_name: "il-rep-ray-tune"
  pull_before_run: False
  run_options:
    - "--mount"
    - "type=volume,source=project-data-volume,target=/project-data"
    - "--runtime=nvidia"
    - "--ulimit"
    - "core=0"
    - "${limits}"

provider:
  type: local
  head_ip: ${bed.head.address}
  worker_ips: [${bed.workers[0]!.address}]

auth:
  ssh_user: ada

head_node: {}
worker_nodes: {}

file_mounts: {
  "/tmp/ray-init-scripts": "ray-init-scripts",
}
cluster_synced_files: []
file_mounts_sync_continuously: False

initialization_commands:
  - >-
    sudo bash "$(find /tmp/ray* -type d -name 'ray-init-scripts' -print -quit)/nfs_mount.sh"
    && nfs_server_ip="$(mount | grep nfs | grep -v docker | head -n 1 | cut -d : -f 1)"
    && docker volume create --driver local --opt type=none \\
      --opt "o=bind" --opt device=/data/il-representations --label "server=\${nfs_server_ip}" \\
      project-data-volume
  - >-
    nfs_mount_path="$(mount | grep nfs | grep -v docker | head -n 1 | cut -d ' ' -f 3)"
    && nv_driver_major_version="$(nvidia-smi -q | grep 'Driver Version.*:.*' | cut -d : -f 2- | sed 's/\\s//g' | cut -d . -f 1)"
    && ( [ "$nv_driver_major_version" -ge 450 ] || sudo sh "\${nfs_mount_path}/driver/NVIDIA-Linux-x86_64-450.142.00.run" -s )
  - >-
    sudo sh -c 'echo "kernel.core_pattern=|/bin/false" > /etc/sysctl.d/50-coredump.conf'
    && sudo sysctl -p /etc/sysctl.d/50-coredump.conf
setup_commands:
  - bash /tmp/ray-init-scripts/start_x_server.sh
  - >-
    test -e ~/il-rep
    || cp -r \\
      /project-data/repository ~/il-rep
  - cd ~/il-rep/ && pip install --no-index -r requirements.txt
  - >-
    cd ~/il-rep/
    && source ./cloud/nfs_config.sh
    && mount_parent="$(dirname "$CLIENT_MOUNT_POINT")"
    && mount_no_slash="$(echo "$CLIENT_MOUNT_POINT" | sed 's-/$--')"
    && ( test -e "$mount_parent" || mkdir -p "$mount_parent" )
    && ( test -e "$CLIENT_MOUNT_POINT" || ln -vs /project-data "$mount_no_slash" )
  - >-
    cd ~/il-rep/
    && source ./cloud/nfs_config.sh
    && mkdir -p "\${CLIENT_MOUNT_POINT}/il-demos/"
    && ( test -e data || ln -vs "\${CLIENT_MOUNT_POINT}/il-demos/" data )
    && cluster_name="cluster-lab"
    && runs_path="\${CLIENT_MOUNT_POINT}/cluster-data/\${cluster_name}"
    && ( test -e runs || ( mkdir -p "$runs_path" && chmod -R +rX "$runs_path" && ln -vs "$runs_path" runs ) )
  - >-
    cd ~/il-rep/
    && source ./cloud/nfs_config.sh
    && cp "\${CLIENT_MOUNT_POINT}/mjkey.txt" ~/.mujoco/mjkey.txt
head_setup_commands: []
worker_setup_commands: []

head_start_ray_commands:
  - ray stop
  - >-
    ulimit -n 65536;
    export AUTOSCALER_MAX_NUM_FAILURES=1000;
    ray start
    --head
    --port=6379
    --object-manager-port=8076
    --autoscaling-config=~/ray_bootstrap_config.yaml
worker_start_ray_commands:
  - ray stop
  - >-
    ulimit -n 65536;
    export AUTOSCALER_MAX_NUM_FAILURES=1000;
    ray start
    --address=$RAY_HEAD_IP:6379
    --object-manager-port=8076
`;

const nfsMount = `#!/bin/bash
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

describe('cluster files of projects, by the words of ray', { skip: clusterProblem() ?? false }, () => {
  let bed: ClusterBed;
  before(async () => {
    bed = await ClusterBed.open({ hosts: 2, podman: true, ray: true, node: true, user: 'ada' });
    await Promise.all(bed.lab.hosts.map(furnish));
    await bed.on(bed.laptop, `mkdir -p ~/bin && ${program} shim install ~/bin`);
  });
  after(() => bed?.close());

  const inFolder = (folder: string, command: string): string => `export PATH=~/bin:$PATH; cd ~/${folder} && ${command}`;
  const eachIn = (container: string, command: string): Promise<string[]> =>
    Promise.all(
      bed.lab.hosts.map((host) => host.must(['podman', 'exec', container, 'bash', '-lc', command], { user: 'root' })),
    );

  describe('the tuner of a chip design flow', () => {
    const make = (target: string): Promise<string> => bed.on(bed.laptop, inFolder('tuner', `make ${target} 2>&1`));
    const ray = (words: string): Promise<string> => bed.on(bed.laptop, inFolder('tuner', `ray ${words} 2>&1`));

    let tunnel: ChildProcess;
    let tunnelEnded: Promise<unknown>;

    before(async () => {
      bed.write('tuner/public.yaml', autotuner(bed));
      bed.write('tuner/Makefile', makefile);
      bed.write('tuner/.env', 'DOCKERHUB_USERNAME=somebody\n');
      bed.write('tuner/service_account.json', '{"project": "lab"}\n');
      bed.write('tuner/scripts/show_main_ip.py', mainAddress);
      await make('up');
    });

    it('comes up by make up, with an engine that is installed on the way', async () => {
      for (const host of bed.lab.hosts) {
        assert.equal(await host.must('cat /var/log/told-systemctl', { user: 'root' }), 'restart docker -f\n');
        assert.match(await host.must('id -nG ada', { user: 'root' }), /docker/);
      }
      assert.match(await ray('exec public.yaml "ray status"'), /2 local/);
    });

    it('has the file and the folder of the host inside every container', async () => {
      const seen = await eachIn(
        'ray_container',
        'cat /OpenROAD-flow-scripts/service_account.json /OpenROAD-flow-scripts/flow/design.mk',
      );
      assert.deepEqual(seen, Array<string>(2).fill('{"project": "lab"}\ndesign\n'));
    });

    it('copies neither what the file excludes nor what a .gitignore does', async () => {
      bed.write('tuner/tree/.git/HEAD', 'ref\n');
      bed.write('tuner/tree/.gitignore', '*.log\n');
      bed.write('tuner/tree/a.txt', 'a\n');
      bed.write('tuner/tree/deep/b.log', 'b\n');
      await ray('rsync-up public.yaml tree/ /tree/');
      assert.equal(await ray('exec public.yaml "cd /tree && find . -type f | sort"'), './.gitignore\n./a.txt\n');
    });

    it('takes jobs through the dashboard that make holds', async () => {
      tunnel = bed.laptop.spawn(['bash', '-lc', inFolder('tuner', 'exec make dashboard')], { user: bed.user });
      tunnelEnded = once(tunnel, 'close');
      let said = '';
      tunnel.stdout!.on('data', (piece: Buffer) => (said += piece.toString()));
      await eventually('the tunnel stands', () => said.includes('localhost:8265'));
      const at = '--address http://localhost:8265';
      const main = `ray job submit ${at} --working-dir scripts -- python3 show_main_ip.py | grep "Main IP address" | awk '{print $4}'`;
      const address = (await bed.on(bed.laptop, inFolder('tuner', main))).trim();
      assert.equal(address, bed.head.address);
      assert.equal(await ray('get-head-ip public.yaml'), `${bed.head.address}\n`);
      const both = await bed.on(
        bed.laptop,
        inFolder(
          'tuner',
          `for i in 1 2; do ray job submit ${at} --entrypoint-num-cpus 2 -- python3 -c "import socket; print('ran on', socket.gethostname())" 2>&1 & done; wait`,
        ),
      );
      assert.equal(both.match(/ran on h[12]/g)?.length, 2, both);
      const tooMuch = await bed.laptop.exec(
        ['bash', '-lc', inFolder('tuner', `ray job submit ${at} --entrypoint-num-cpus 64 -- true`)],
        { user: bed.user, within: 120_000 },
      );
      assert.notEqual(tooMuch.code, 0, 'what no node can give is refused at once');
      assert.match(tooMuch.stdout + tooMuch.stderr, /64/);
    });

    it('is gone by make down, and the dashboard with it', async () => {
      await make('down');
      await tunnelEnded;
      for (const host of [bed.laptop, ...bed.lab.hosts])
        assert.deepEqual(await leftOn(bed, host, 'autotuner'), [], host.name);
      assert.equal(
        readFileSync(join(bed.laptop.root, 'home/ada/tuner/service_account.json'), 'utf8'),
        '{"project": "lab"}\n',
      );
    });
  });

  describe('a legacy training cluster with a shared volume', () => {
    const ray = (words: string): Promise<string> => bed.on(bed.laptop, inFolder('training', `ray ${words}`));

    before(async () => {
      bed.write('training/gcp_cluster.yaml', training(bed));
      bed.write('training/ray-init-scripts/nfs_mount.sh', nfsMount);
      bed.write('training/ray-init-scripts/start_x_server.sh', 'mkdir -p ~/.mujoco; echo started >> ~/x-server\n');
      bed.write(
        'training/job.py',
        'import sys\nprint("with", sys.argv[1:])\nopen("/project-data/result", "w").write("done")\n',
      );
      await ray('up -y gcp_cluster.yaml');
    });

    it('comes up as it was written', async () => {
      for (const host of bed.lab.hosts) {
        const volume = await host.must("podman volume inspect project-data-volume -f '{{.Labels.server}}'", {
          user: 'root',
        });
        assert.equal(volume, 'nfs-server\n', host.name);
        assert.match(
          await host.must('cat /var/log/told-sysctl', { user: 'root' }),
          /^-p \/etc\/sysctl\.d\/50-coredump\.conf$/m,
        );
      }
      const seen = await eachIn(
        'il-rep-ray-tune',
        'cat ~/x-server ~/.mujoco/mjkey.txt; readlink ~/il-rep/data ~/il-rep/runs; ulimit -c; ls /tmp/ray-init-scripts',
      );
      const wanted =
        'started\nkey\n/data/il-representations//il-demos/\n/data/il-representations//cluster-data/cluster-lab\n0\nnfs_mount.sh\nstart_x_server.sh\n';
      assert.deepEqual(seen, [wanted, wanted]);
      assert.match(await ray('exec gcp_cluster.yaml "ray status"'), /2 local/);
      await ray("exec gcp_cluster.yaml 'tail -n 100 /tmp/ray/session_*/logs/gcs_server*'");
    });

    it('takes many submissions in a loop, and knows how each ended', async () => {
      const loop = "for env in one two; do ray submit --tmux gcp_cluster.yaml job.py -- with env_name=$env 'a b'; done";
      const ids = (await bed.on(bed.laptop, inFolder('training', loop))).trim().split('\n');
      assert.equal(ids.length, 2);
      const listed = await eventually('both have ended', async () => {
        const said = await bed.manta(['sessions', 'training/gcp_cluster.yaml']);
        return said.match(/ended +0/g)?.length === 2 && said;
      });
      assert.ok(
        ids.every((id) => listed.includes(id)),
        listed,
      );
      assert.match(
        await bed.manta(['sessions', 'training/gcp_cluster.yaml', '--log', ids[1]!]),
        /'env_name=two', 'a b'/,
      );
      assert.equal(await bed.head.must('cat /data/il-representations/result'), 'done');
    });

    it('is gone by ray down', async () => {
      await ray('down -y gcp_cluster.yaml');
      for (const host of [bed.laptop, ...bed.lab.hosts])
        assert.deepEqual(await leftOn(bed, host, 'il-rep-lab'), [], host.name);
    });
  });
});
