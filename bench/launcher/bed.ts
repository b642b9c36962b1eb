/** A lab with real Ray and the bundled Manta on its laptop, and the three ways of starting a cluster that are compared. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { LabHost } from '../../lab/lab.ts';
import { ClusterBed, program, rayProcesses, smallRay } from '../../test/lab/cluster-bed.ts';
import { quiet, spentByCommands, spentByMachine, spentOn } from './cost.ts';

export const clusterName = 'bench';
export const file = 'bench.yaml';
const gcsPort = 6379;
const nodeTable = fileURLToPath(new URL('node-table.ts', import.meta.url));
const tokenOnLaptop = '/tmp/ray-token';
const aliveWithin = (bed: ClusterBed): number => 120_000 + 40_000 * bed.workers.length;

/** A run begins when the machine has room for it, or after this long. */
const quietWithin = 60_000;

export const rounds = Number(process.env['MANTA_BENCH_ROUNDS'] ?? 3);

export const openBed = (hosts: number): Promise<ClusterBed> => ClusterBed.open({ hosts, ray: true });

/** What all three are given. Ray's own launcher needs the file of `--autoscaling-config`; Manta leaves its monitor out. */
export function clusterYaml(bed: ClusterBed): string {
  return `cluster_name: ${clusterName}
provider: {type: local, head_ip: ${bed.head.address}, worker_ips: [${bed.workers.map((each) => each.address).join(', ')}]}
auth: {ssh_user: root, ssh_private_key: ~/.ssh/id_ed25519}
head_start_ray_commands:
  - ray stop
  - ulimit -c unlimited; ray start --head --port=${gcsPort} --autoscaling-config=~/ray_bootstrap_config.yaml ${smallRay}
worker_start_ray_commands:
  - ray stop
  - ulimit -c unlimited; ray start --address=$RAY_HEAD_IP:${gcsPort} ${smallRay}
`;
}

export interface Way {
  readonly name: 'manta' | 'ray' | 'floor';
  readonly up: readonly string[];
  /** The floor is ended by a power cut. */
  readonly down?: readonly string[];
}

const v1 = { RAY_UP_enable_autoscaler_v2: '0' };

export function ways(bed: ClusterBed): readonly Way[] {
  return [
    { name: 'manta', up: [program, 'up', '-y', file], down: [program, 'down', '-y', file] },
    {
      name: 'ray',
      up: ['ray', 'up', '-y', '--no-config-cache', '--disable-usage-stats', file],
      down: ['ray', 'down', '-y', file],
    },
    { name: 'floor', up: ['bash', '-c', floorProgram(bed)] },
  ];
}

/** One plain ssh a host with the same start commands, the head without the monitor; workers when the GCS port is open. */
function floorProgram({ head, workers }: ClusterBed): string {
  const on = (host: LabHost, commands: string): string =>
    `ssh -T -o BatchMode=yes -o StrictHostKeyChecking=accept-new root@${host.address} bash -l <<'END' >/dev/null 2>&1 &\n${commands}\nEND\n`;
  const start = (words: string): string => `ray stop; ulimit -c unlimited; ray start ${words} ${smallRay}`;
  return `${on(head, start(`--head --no-monitor --port=${gcsPort} --dashboard-host=127.0.0.1`))}
until (exec 3<>/dev/tcp/${head.address}/${gcsPort}) 2>/dev/null; do sleep 0.05; done
${workers.map((host) => on(host, start(`--address=${head.address}:${gcsPort}`))).join('')}wait
`;
}

/** Machines as they are before the first cluster: booted anew, with nothing of any launcher on them. */
export async function freshen(bed: ClusterBed): Promise<void> {
  await quiet(quietWithin);
  const hosts = [bed.head, ...bed.workers];
  await Promise.all(hosts.map((host) => host.reboot()));
  await Promise.all(
    hosts.map((host) =>
      host.must('rm -rf ~/.manta ~/ray_bootstrap* /tmp/ray /tmp/ray_tmp_mount /var/tmp/manta-claims'),
    ),
  );
  await bed.laptop.must(
    'rm -rf ~/.manta /tmp/ray /tmp/ray_ssh_* ~/.ssh/known_hosts; cat /proc/*/comm | grep -c ^ssh$ || :',
  );
}

export interface UpTimes {
  /** Until every node is alive in Ray's node table. */
  readonly alive: number;
  /** Until the command came back. */
  readonly returned: number;
  /** When each further node was seen. */
  readonly steps: readonly number[];
  /** Processor time of all machines, the laptop's too, until then. */
  readonly spent: number;
  /** Cores that others had on this machine meanwhile. */
  readonly others: number;
}

/** Starts a cluster and watches Ray's node table from the laptop. Milliseconds from the start of the command. */
export async function timeUp(bed: ClusterBed, way: Way): Promise<UpTimes> {
  rmSync(join(bed.laptop.root, tokenOnLaptop), { force: true });
  const wanted = 1 + bed.workers.length;
  const within = aliveWithin(bed);
  const watcher = bed.laptop.spawn(['node', nodeTable, bed.head.address, String(gcsPort), tokenOnLaptop]);
  const lines = createInterface({ input: watcher.stdout! })[Symbol.asyncIterator]();
  const deadline = setTimeout(() => watcher.kill('SIGKILL'), within);
  const passing = passToken(bed);
  try {
    await lines.next();
    const machines = [bed.laptop, bed.head, ...bed.workers];
    const spent = (): number => machines.reduce((sum, host) => sum + spentOn(host), spentByCommands());
    const before = spent();
    const machine = spentByMachine();
    const began = Date.now();
    const command = bed.laptop.exec(way.up, { within, env: way.name === 'ray' ? v1 : {} });
    const ended = command.then(({ code, stdout, stderr }) => {
      if (code !== 0) throw new Error(`${way.name} ended with ${code}: ${stderr.slice(-3_000)}${stdout.slice(-3_000)}`);
      return Date.now() - began;
    });
    ended.catch(() => watcher.kill('SIGKILL'));
    const steps: number[] = [];
    while (steps.length < wanted) {
      const { value, done } = await lines.next();
      if (done) {
        await ended;
        throw new Error(`${way.name}: ${steps.length} of ${wanted} nodes within ${within / 1_000} s`);
      }
      const [at, alive] = value.split(' ').map(Number) as [number, number];
      while (steps.length < alive) steps.push(at - began);
    }
    const took = spent() - before;
    const others = (spentByMachine() - machine - took) / (Date.now() - began);
    return { alive: steps[wanted - 1]!, returned: await ended, steps, spent: took, others };
  } finally {
    clearTimeout(deadline);
    passing();
    watcher.kill('SIGKILL');
  }
}

/** Manta's Ray lets in who has its token, which is on the head. */
function passToken(bed: ClusterBed): () => void {
  const there = join(bed.head.root, '/root/.manta/nodes', clusterName, 'token');
  const timer = setInterval(() => {
    if (existsSync(there)) writeFileSync(join(bed.laptop.root, tokenOnLaptop), readFileSync(there));
  }, 50);
  return () => clearInterval(timer);
}

export async function timeDown(bed: ClusterBed, { name, down }: Way): Promise<{ time: number; left: number }> {
  const began = performance.now();
  const { code, stderr } = await bed.laptop.exec(down!, { within: aliveWithin(bed), env: name === 'ray' ? v1 : {} });
  if (code !== 0) throw new Error(`${down!.join(' ')} ended with ${code}: ${stderr}`);
  const time = performance.now() - began;
  return { time, left: [bed.head, ...bed.workers].flatMap(rayProcesses).length };
}

/** Runs a command on the laptop; milliseconds, by a shell there, so that the way onto the laptop is not counted. */
export async function timeCommand(bed: ClusterBed, words: readonly string[]): Promise<number> {
  const timed = 'a=$EPOCHREALTIME; "$@" >/dev/null; c=$?; b=$EPOCHREALTIME; echo $(( ${b/./} - ${a/./} )); exit $c';
  const { code, stdout, stderr } = await bed.laptop.exec(['bash', '-c', timed, 'bash', ...words]);
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${stderr}`);
  return Number(stdout) / 1_000;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export const seconds = (milliseconds: number): string =>
  `${(milliseconds / 1_000).toFixed(milliseconds < 10_000 ? 2 : 1)} s`;

/** A line of the run itself: medians hide how far single runs were apart, and how busy the machine was. */
export const note = (words: string): void =>
  void process.stderr.write(`  ${words} (load ${loadavg()[0]!.toFixed(1)})\n`);
