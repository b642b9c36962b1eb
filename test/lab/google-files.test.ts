// needs: openssl, google-discovery, ray, hosts, podman

/** Cluster files of projects on Google Cloud, from `up` to `down`, by the words of `ray`. */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import type { LabHost } from '../../lab/lab.ts';
import { inSoak } from '../soak.ts';
import { spread } from './cloud-cluster-bed.ts';
import { corpusFile, corpusProblem } from './cloud-corpus.ts';
import { eventually, leftOn, program } from './cluster-bed.ts';
import { GoogleClusterBed } from './google-cluster-bed.ts';
import { gpuDocker, nfsMount, standIns, training, tuner } from './google-corpus.ts';

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

/** What is left to `npm run soak -- clouds`. */
const inClouds = (name: string, tests: () => void): void => {
  if (inSoak('clouds')) describe(name, tests);
};

describe('cluster files of projects on Google Cloud', { skip: corpusProblem() ?? false }, () => {
  let all: GoogleClusterBed;
  before(async () => {
    const image = { ray: true, cron: true, podman: true, first: standIns };
    all = await GoogleClusterBed.open({ hosts: 1, podman: true }, { image, retired: true });
    await all.bed.on(all.bed.laptop, `mkdir -p ~/bin && ${program} shim install ~/bin`);
  });
  after(() => all?.close());

  const inFolder = (folder: string, command: string): string => `export PATH=~/bin:$PATH; cd ~/${folder} && ${command}`;
  const on = (folder: string, command: string): Promise<string> =>
    all.bed.on(all.bed.laptop, inFolder(folder, command));
  const hosts = (cluster: string): readonly LabHost[] => all.existing(cluster).map((each) => all.host(each));
  const eachIn = (cluster: string, container: string, command: string): Promise<string[]> =>
    Promise.all(
      hosts(cluster).map((host) =>
        host.must(['podman', 'exec', container, 'bash', '-lc', command], { user: 'root', within: 60_000 }),
      ),
    );

  describe(tuner.file, () => {
    let tunnel: ChildProcess;
    let tunnelEnded: Promise<unknown>;
    const at = '--address http://localhost:8265';
    const make = (target: string): Promise<string> => on('tuner', `make ${target} 2>&1`);
    const ray = (words: string): Promise<string> => on('tuner', `ray ${words} 2>&1`);

    it('comes up by make up, with an engine that is installed on the way', async (t) => {
      const { bed } = all;
      bed.write(
        'tuner/public.yaml',
        corpusFile(tuner.file, tuner.replacements(all), (line) => t.diagnostic(line)),
      );
      bed.write('tuner/Makefile', makefile);
      bed.write('tuner/.env', 'DOCKERHUB_USERNAME=somebody\n');
      bed.write('tuner/service_account.json', '{"project": "lab"}\n');
      bed.write('tuner/scripts/show_main_ip.py', mainAddress);
      await make('up');
      assert.match(await ray('exec public.yaml "ray status"'), /1 ray_worker_small/);
      for (const host of hosts('autotuner')) {
        assert.equal(await host.must('cat /var/log/told-systemctl'), 'restart docker -f\n');
        assert.match(await host.must('id -nG ubuntu'), /docker/);
      }
    });

    it('has the file and the folder of the host inside every container', async () => {
      await Promise.all(hosts('autotuner').map((host) => host.must('echo design > /home/ubuntu/flow/design.mk')));
      const seen = await eachIn(
        'autotuner',
        'ray_container',
        'cat /OpenROAD-flow-scripts/service_account.json /OpenROAD-flow-scripts/flow/design.mk',
      );
      assert.deepEqual(seen, Array<string>(2).fill('{"project": "lab"}\ndesign\n'));
    });

    it('copies neither what the file excludes nor what a .gitignore does', async () => {
      const { bed } = all;
      bed.write('tuner/tree/.git/HEAD', 'ref\n');
      bed.write('tuner/tree/.gitignore', '*.log\n');
      bed.write('tuner/tree/a.txt', 'a\n');
      bed.write('tuner/tree/deep/b.log', 'b\n');
      await ray('rsync-up public.yaml tree/ /tree/');
      assert.equal(await ray('exec public.yaml "cd /tree && find . -type f | sort"'), './.gitignore\n./a.txt\n');
    });

    it('takes jobs through the dashboard that make holds', async () => {
      tunnel = all.bed.laptop.spawn(['bash', '-lc', inFolder('tuner', 'exec make dashboard')], { user: 'root' });
      tunnelEnded = once(tunnel, 'close');
      let said = '';
      tunnel.stdout!.on('data', (piece: Buffer) => (said += piece.toString()));
      await eventually('the tunnel stands', () => said.includes('localhost:8265'));
      const main = `ray job submit ${at} --working-dir scripts -- python3 show_main_ip.py | grep "Main IP address" | awk '{print $4}'`;
      assert.equal((await on('tuner', main)).trim(), all.ofKind('autotuner', 'head')[0]!.now.address);
      const both = await on(
        'tuner',
        `for i in 1 2; do ray job submit ${at} --entrypoint-num-cpus 2 -- python3 -c "import socket; print('ran on', socket.gethostname())" 2>&1 & done; wait`,
      );
      assert.equal(both.match(/ran on h\d+/g)?.length, 2, both);
      const tooMuch = await all.bed.laptop.exec(
        ['bash', '-lc', inFolder('tuner', `ray job submit ${at} --entrypoint-num-cpus 64 -- true`)],
        { user: 'root', within: 120_000 },
      );
      assert.notEqual(tooMuch.code, 0, 'what no node can give is refused at once');
      assert.match(tooMuch.stdout + tooMuch.stderr, /64/);
    });

    it('stops a job by the port of the head that Ray itself listens on', async () => {
      await ray(`job submit ${at} --submission-id endless --no-wait -- sleep 1000`);
      const head = (await on('tuner', 'ray get-head-ip public.yaml')).trim();
      await ray(`job stop --address ${head}:6379 --no-wait endless`);
      await eventually('it is stopped', async () => /was stopped/.test(await ray(`job status ${at} endless`)));
    });

    it('is gone by make down, and the dashboard with it', async () => {
      await make('down');
      await tunnelEnded;
      await all.assertNothingLeft('autotuner');
      assert.deepEqual(await leftOn(all.bed, all.bed.laptop, 'autotuner'), []);
    });
  });

  inClouds(training.file, () => {
    const ray = (words: string): Promise<string> => on('training', `ray ${words}`);

    it('comes up as it was written', async (t) => {
      const { bed } = all;
      const text = corpusFile(training.file, training.replacements(all), (line) => t.diagnostic(line));
      bed.write('training/gcp_cluster.yaml', text);
      bed.write('training/ray-init-scripts/nfs_mount.sh', nfsMount);
      bed.write('training/ray-init-scripts/start_x_server.sh', 'mkdir -p ~/.mujoco; echo started >> ~/x-server\n');
      bed.write(
        'training/job.py',
        'import sys\nprint("with", sys.argv[1:])\nopen("/project-data/result", "w").write("done")\n',
      );
      await ray('up -y gcp_cluster.yaml');
      await eventually('a spot worker is there', () => all.ofKind('il-rep-lab', 'worker')[0]?.market === 'spot');
      await eventually('it has joined', async () =>
        /1 ray-legacy-worker-node-type/.test(await ray('exec gcp_cluster.yaml "ray status"')),
      );
      for (const host of hosts('il-rep-lab')) {
        const volume = "podman volume inspect project-data-volume -f '{{.Labels.server}}'";
        assert.equal(await host.must(volume, { user: 'root' }), 'nfs-server\n', host.name);
        const told = await host.must('cat /var/log/told-sysctl', { user: 'root' });
        assert.match(told, /^-p \/etc\/sysctl\.d\/50-coredump\.conf$/m);
      }
      const seen = await eachIn(
        'il-rep-lab',
        'il-rep-ray-tune',
        'cat ~/x-server ~/.mujoco/mjkey.txt; readlink ~/il-rep/data ~/il-rep/runs; ulimit -c; ls /tmp/ray-init-scripts',
      );
      const wanted =
        'started\nkey\n/data/il-representations//il-demos/\n/data/il-representations//cluster-data/cluster-lab\n0\nnfs_mount.sh\nstart_x_server.sh\n';
      assert.deepEqual(seen, [wanted, wanted]);
    });

    it('takes many submissions in a loop, and knows how each ended', async () => {
      const loop = "for env in one two; do ray submit --tmux gcp_cluster.yaml job.py -- with env_name=$env 'a b'; done";
      const ids = (await on('training', loop)).trim().split('\n');
      assert.equal(ids.length, 2);
      const listed = await eventually('both have ended', async () => {
        const said = await all.manta('sessions', 'training/gcp_cluster.yaml');
        return said.match(/ended +0/g)?.length === 2 && said;
      });
      assert.ok(
        ids.every((id) => listed.includes(id)),
        listed,
      );
      const log = await all.manta('sessions', 'training/gcp_cluster.yaml', '--log', ids[1]!);
      assert.match(log, /'env_name=two', 'a b'/);
      const [head] = all.ofKind('il-rep-lab', 'head');
      assert.equal(await all.host(head).must('cat /data/il-representations/result'), 'done');
    });

    it('is gone by ray down', async () => {
      await ray('down -y gcp_cluster.yaml');
      await all.assertNothingLeft('il-rep-lab');
      assert.deepEqual(await leftOn(all.bed, all.bed.laptop, 'il-rep-lab'), []);
    });
  });

  describe(gpuDocker.file, () => {
    it('comes up, runs on a machine of each kind, and leaves nothing', async (t) => {
      const text = corpusFile(gpuDocker.file, gpuDocker.replacements(all), (line) => t.diagnostic(line));
      all.bed.write('gpu.yaml', text);
      await all.manta('up', '-y', 'gpu.yaml');
      const said = await all.job('gpu-docker', spread(['{"GPU": 1}', '{"GPU": 1}']));
      assert.equal(/^RAN ON (.*)$/m.exec(said)?.[1]?.split(' ').length, 2, said);
      assert.match(await all.manta('down', '-y', 'gpu.yaml'), /nothing is left/);
      await all.assertNothingLeft('gpu-docker');
    });
  });
});
