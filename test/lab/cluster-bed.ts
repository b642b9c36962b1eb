// needs: ray, hosts

/** A lab with real Ray, and Manta on its laptop: what the tests of whole clusters stand on. */
import { type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, cpSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  type ExecOptions,
  type ExecResult,
  type Lab,
  type LabHost,
  type LabOptions,
  labProblem,
  openLab,
} from '../../lab/lab.ts';
import { rayVenvName, rayVersion } from '../../scripts/ray-venv.ts';
import { until } from '../contract/waiting.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** Why there can be no cluster of Ray here, with what to do about it; undefined when there can. */
export function clusterProblem(): string | undefined {
  const cached = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'manta', rayVenvName(rayVersion));
  const there = globSync(`lib/python3.*/site-packages/ray-${rayVersion}.dist-info`, { cwd: cached }).length > 0;
  const given = process.env['MANTA_RAY_PYTHON'] ?? '';
  return (
    labProblem() ?? (there || given !== '' ? undefined : `no Ray ${rayVersion}: 'node scripts/ray-venv.ts' installs it`)
  );
}

/** How long one command may take before it counts as hung, on a machine that is busy with others too. */
const commandWithin = 600_000;

/** Where `manta` is on the laptop. */
export const program = '/opt/manta/bin/manta';

export type Words = readonly string[];

export class ClusterBed {
  readonly lab: Lab;
  /** Whoever uses Manta: on the laptop and, unless a file says otherwise, on the hosts. */
  readonly user: 'root' | 'ada' | 'bob';

  private constructor(lab: Lab, user: ClusterBed['user']) {
    this.lab = lab;
    this.user = user;
  }

  /** Puts Manta on the laptop as its package ships it. */
  static async open(options: LabOptions): Promise<ClusterBed> {
    const bundle = mkdtempSync(join(tmpdir(), 'manta-bed-'));
    let lab: Lab | undefined;
    try {
      cpSync(join(repository, 'bin'), join(bundle, 'bin'), { recursive: true });
      await promisify(execFile)(process.execPath, [join(repository, 'scripts/build.ts'), join(bundle, 'dist')]);
      lab = await openLab(options);
      cpSync(bundle, join(lab.laptop.root, '/opt/manta'), { recursive: true });
      await lab.laptop.must('chmod -R a+rX /opt/manta', { user: 'root' });
      return new ClusterBed(lab, options.user ?? 'root');
    } catch (error) {
      await lab?.close();
      throw error;
    } finally {
      rmSync(bundle, { recursive: true, force: true });
    }
  }

  get laptop(): LabHost {
    return this.lab.laptop;
  }

  get head(): LabHost {
    return this.lab.hosts[0]!;
  }

  get workers(): readonly LabHost[] {
    return this.lab.hosts.slice(1);
  }

  /** The user's home on every machine. */
  get home(): string {
    return this.user === 'root' ? '/root' : `/home/${this.user}`;
  }

  /** Runs `manta` on the laptop. */
  run(words: Words, options: Parameters<LabHost['exec']>[1] = {}): Promise<ExecResult> {
    return this.laptop.exec([program, ...words], { user: this.user, within: commandWithin, ...options });
  }

  /** As `run`; throws with all that was said when it fails. Returns standard output. */
  async manta(words: Words, options: Parameters<LabHost['exec']>[1] = {}): Promise<string> {
    const { code, stdout, stderr } = await this.run(words, options);
    if (code !== 0) throw new Error(`manta ${words.join(' ')}: exit code ${code}\n${stderr}${stdout}`);
    return stdout;
  }

  start(words: Words, options: ExecOptions = {}): ReturnType<LabHost['spawn']> {
    return this.laptop.spawn([program, ...words], { user: this.user, ...options });
  }

  /** Runs a shell program as this user. */
  on(host: LabHost, program: string, options: Parameters<LabHost['exec']>[1] = {}): Promise<string> {
    return host.must(['bash', '-lc', program], { user: this.user, within: commandWithin, ...options });
  }

  /** Writes a file into the user's home on the laptop, or to a whole path. */
  write(path: string, text: string): void {
    const whole = path.startsWith('/') ? path : join(this.home, path);
    const there = join(this.laptop.root, whole);
    const made = mkdirSync(dirname(there), { recursive: true });
    writeFileSync(there, text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
    const id = { root: 0, ada: 2001, bob: 2002 }[this.user];
    for (let path = there; path.length >= (made ?? there).length; path = dirname(path)) chownSync(path, id, id);
  }

  close(): Promise<void> {
    return this.lab.close();
  }
}

/** Options that make a Ray small enough for many on one machine, and quick to notice that a node is dead. */
export const smallRay = '--num-cpus=1 --memory=500000000 --object-store-memory=80000000 --disable-usage-stats';
export const quickDeath = 'export RAY_health_check_period_ms=1000 RAY_health_check_timeout_ms=5000;';

/** One task on each node, all at once, each of which says where it runs. */
export const acrossProgram = `
import ray, socket
ray.init(address="auto", logging_level="error")
nodes = [n for n in ray.nodes() if n["Alive"]]
@ray.remote(num_cpus=0)
def where():
    return socket.gethostname()
pinned = [where.options(resources={"node:" + n["NodeManagerAddress"]: 0.01}).remote() for n in nodes]
print("HOSTS", *sorted(ray.get(pinned)))
`;

/** Waits until something is so: what is wrong now may come right. */
export const eventually = <Value>(
  what: string,
  look: Parameters<typeof until<Value>>[1],
  within?: number,
): Promise<Value> => until(what, look, { wrong: 'for now', pause: 250, ...(within !== undefined && { within }) });

/** One node as Ray's own table has it. */
export interface RayNode {
  readonly address: string;
  readonly alive: boolean;
  readonly id: string;
  readonly resources: Readonly<Record<string, number>>;
}

/**
 * A driver that reports the table whenever it has changed, and every few seconds: what Ray itself prints may land in the
 * middle of a report, which is then not read.
 */
const tableProgram = `
import json, os, ray, time
ray.init(address="auto", logging_level="error", log_to_driver=False)
last, reported = None, 0
while True:
    table = json.dumps([
      {"address": n["NodeManagerAddress"], "alive": n["Alive"], "id": n["NodeID"], "resources": n["Resources"]}
      for n in ray.nodes()])
    if table != last or time.monotonic() - reported > 2:
        os.write(1, ("\\nNODES" + table + "\\n").encode())
        last, reported = table, time.monotonic()
    time.sleep(0.25)
`;

/** The nodes of a whole report; nothing for any other line. */
function reportedNodes(line: string): readonly RayNode[] | undefined {
  if (!line.startsWith('NODES')) return undefined;
  try {
    return JSON.parse(line.slice('NODES'.length)) as RayNode[];
  } catch {
    return undefined;
  }
}

/** Ray's node table, told by Ray itself to a driver on the head. Asking costs nothing once it runs. */
export class NodeTable {
  readonly #bed: ClusterBed;
  readonly #file: string;
  #driver: ChildProcess | undefined;
  #nodes: readonly RayNode[] | undefined;
  #said = '';

  constructor(bed: ClusterBed, file: string) {
    this.#bed = bed;
    this.#file = file;
  }

  /** Waits until the nodes that are alive are so. A driver that ended, with its connection or its Ray, is replaced. */
  async until(what: string, isSo: (alive: readonly RayNode[]) => boolean): Promise<readonly RayNode[]> {
    return await eventually(`${what}, by Ray's own table`, () => {
      if (this.#driver === undefined || hasEnded(this.#driver)) this.#start();
      const alive = this.#nodes?.filter((node) => node.alive);
      if (alive === undefined) throw new Error(this.#said || 'no table yet');
      return isSo(alive) && alive;
    });
  }

  #start(): void {
    this.#nodes = undefined;
    const driver = this.#bed.start(['exec', this.#file, 'python -u -c "$(cat)"']);
    this.#driver = driver;
    driver.stdin!.on('error', () => undefined);
    driver.stdin!.end(tableProgram);
    for (const stream of [driver.stdout!, driver.stderr!])
      createInterface({ input: stream }).on('line', (line) => {
        if (driver !== this.#driver) return;
        const nodes = reportedNodes(line);
        if (nodes !== undefined) this.#nodes = nodes;
        else if (line !== '') this.#said = `${this.#said}${line}\n`.slice(-2000);
      });
  }

  async close(): Promise<void> {
    const driver = this.#driver;
    this.#driver = undefined;
    if (driver === undefined || hasEnded(driver)) return;
    const closed = once(driver, 'close');
    driver.kill('SIGTERM');
    await closed;
    // What a command that was cut short has left on the head is ended there within seconds.
    const { head } = this.#bed;
    await eventually(
      'the driver is gone',
      () => !head.processes().some(({ command }) => command.includes('manta-watch')),
    );
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

/** Ray's processes of a host by name, with their ids on it. */
export function rayProcesses(host: LabHost): readonly { readonly name: string; readonly hostPid: number }[] {
  return host.processes().flatMap(({ hostPid, command }) => {
    const text = command.join(' ');
    const name =
      /(?:^|\/)(raylet|gcs_server)(?= |$)/.exec(command[0] ?? '')?.[1] ??
      /\bray::\S+|\/ray\/\S+\.py|ray start/.exec(text)?.[0];
    return name === undefined ? [] : [{ name, hostPid }];
  });
}

export const rayletOf = (host: LabHost): number | undefined =>
  rayProcesses(host).find(({ name }) => name === 'raylet')?.hostPid;

/**
 * What a cluster that was taken down has left on a host: processes that were not there before it, files of its own,
 * keys, claims, cron entries. Empty is what `down` promises.
 */
export async function leftOn(bed: ClusterBed, host: LabHost, cluster: string): Promise<readonly string[]> {
  const processes = host
    .processes()
    .map(({ command }) => command.join(' '))
    .filter((text) => /ray|manta|watchdog|conmon/.test(text) && !/sshd|\/bin\/sh -c .*init/.test(text));
  const files = await host.must(
    `cd ${bed.home}; ls -d /var/tmp/manta-claims/* /tmp/manta-* .manta/nodes/* .manta/head/clusters/* .manta/clusters/* .manta/claims/* .manta/claim* ray_bootstrap_config.yaml 2>/dev/null
ls .ssh/authorized_keys.manta 2>/dev/null; grep -n restrict .ssh/authorized_keys
crontab -l -u ${bed.user} 2>/dev/null | grep -i manta; ls -d /tmp/ray_tmp_mount/${cluster} 2>/dev/null
! command -v podman >/dev/null || podman ps -a --format '{{.Names}}'; true`,
    { user: 'root' },
  );
  return [...processes, ...files.split('\n').filter((line) => line !== '')].map((line) => line.slice(0, 200));
}
