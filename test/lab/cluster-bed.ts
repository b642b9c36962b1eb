/** A lab with real Ray, and Manta on its laptop: what the tests of whole clusters stand on. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type ExecOptions, type ExecResult, type Lab, type LabHost, type LabOptions, openLab } from '../../lab/lab.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** How long one command may take before it counts as hung, on a machine that is busy with others too. */
const commandWithin = 600_000;

export type ManyWords = readonly string[];

export class ClusterBed {
  readonly lab: Lab;
  /** Whoever uses Manta: on the laptop and, unless a file says otherwise, on the hosts. */
  readonly user: 'root' | 'ada' | 'bob';
  /** Path of `manta` on the laptop: a bundle, as it is installed. */
  readonly program: string;
  readonly #bundle: string;

  private constructor(lab: Lab, bundle: string, user: ClusterBed['user']) {
    this.lab = lab;
    this.user = user;
    this.#bundle = bundle;
    this.program = join(bundle, 'bin', 'manta');
  }

  static async open(options: LabOptions): Promise<ClusterBed> {
    const user = options.user ?? 'root';
    const bundle = join(repository, 'node_modules', '.cluster-bed', randomBytes(4).toString('hex'));
    mkdirSync(bundle, { recursive: true });
    try {
      cpSync(join(repository, 'bin'), join(bundle, 'bin'), { recursive: true });
      const build = [join(repository, 'scripts', 'build.ts'), join(bundle, 'dist')];
      const [lab] = await Promise.all([openLab(options), promisify(execFile)(process.execPath, build)]);
      return new ClusterBed(lab, bundle, user);
    } catch (error) {
      rmSync(bundle, { recursive: true, force: true });
      throw error;
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
  run(words: ManyWords, options: Parameters<LabHost['exec']>[1] = {}): Promise<ExecResult> {
    return this.laptop.exec([this.program, ...words], { user: this.user, within: commandWithin, ...options });
  }

  /** As `run`; throws with all that was said when it fails. Returns standard output. */
  async manta(words: ManyWords, options: Parameters<LabHost['exec']>[1] = {}): Promise<string> {
    const { code, stdout, stderr } = await this.run(words, options);
    if (code !== 0) throw new Error(`manta ${words.join(' ')}: exit code ${code}\n${stderr}${stdout}`);
    return stdout;
  }

  start(words: ManyWords, options: ExecOptions = {}): ReturnType<LabHost['spawn']> {
    return this.laptop.spawn([this.program, ...words], { user: this.user, ...options });
  }

  /** Runs a shell program as this user. */
  on(host: LabHost, program: string, options: Parameters<LabHost['exec']>[1] = {}): Promise<string> {
    return host.must(['bash', '-lc', program], { user: this.user, within: commandWithin, ...options });
  }

  /** Writes a file into the user's home on the laptop, or to a whole path. */
  write(path: string, text: string): void {
    const whole = path.startsWith('/') ? path : join(this.home, path);
    const there = join(this.laptop.root, whole);
    mkdirSync(join(there, '..'), { recursive: true });
    writeFileSync(there, text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
  }

  async close(): Promise<void> {
    await this.lab.close();
    rmSync(this.#bundle, { recursive: true, force: true });
  }
}

/** Options that make a Ray small enough for many on one machine, and quick to notice that a node is dead. */
export const smallRay = '--num-cpus=1 --memory=500000000 --object-store-memory=80000000 --disable-usage-stats';
export const quickDeath = 'export RAY_health_check_period_ms=1000 RAY_health_check_failure_threshold=5;';

/** Waits until something is so; names what was waited for when it never is. */
export async function eventually<Value>(
  what: string,
  look: () => Promise<Value | undefined | false> | Value | undefined | false,
  within = 240_000,
): Promise<Value> {
  const until = performance.now() + within;
  for (let last: unknown; ; await sleep(250)) {
    try {
      const value = await look();
      if (value !== undefined && value !== false) return value;
      last = value;
    } catch (error) {
      last = error;
    }
    if (performance.now() > until)
      throw new Error(`${what}: not so within ${within / 1000} s (last: ${last instanceof Error ? last.message : last})`);
  }
}

/** One node as Ray's own table has it. */
export interface RayNode {
  readonly address: string;
  readonly alive: boolean;
  readonly id: string;
  readonly resources: Readonly<Record<string, number>>;
}

const nodesProgram = `
import json, ray
ray.init(address="auto", logging_level="error", log_to_driver=False)
print("NODES" + json.dumps([
  {"address": n["NodeManagerAddress"], "alive": n["Alive"], "id": n["NodeID"], "resources": n["Resources"]}
  for n in ray.nodes()]))
`;

/** Ray's node table, asked of Ray itself by a driver on the head. */
export async function rayNodes(bed: ClusterBed, cluster: string): Promise<readonly RayNode[]> {
  const said = await bed.manta(['exec', cluster, 'python -'], { input: nodesProgram });
  const line = said.split('\n').find((each) => each.startsWith('NODES'));
  if (line === undefined) throw new Error(`no node table in: ${said}`);
  return JSON.parse(line.slice('NODES'.length)) as RayNode[];
}

/** Ray's processes of a host by name, with their ids on it. */
export function rayProcesses(host: LabHost): readonly { readonly name: string; readonly hostPid: number }[] {
  return host.processes().flatMap(({ hostPid, command }) => {
    const text = command.join(' ');
    const name = /(?:^|\/)(raylet|gcs_server)(?= |$)/.exec(command[0] ?? '')?.[1] ?? /\bray::\S+|\/ray\/\S+\.py|ray start/.exec(text)?.[0];
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
    `cd ${bed.home}; ls -d .manta/nodes/* .manta/head/clusters/* .manta/clusters/* .manta/claims/* .manta/claim* 2>/dev/null
ls .ssh/authorized_keys.manta 2>/dev/null; grep -n restrict .ssh/authorized_keys
crontab -l -u ${bed.user} 2>/dev/null | grep -i manta; ls -d /tmp/ray_tmp_mount/${cluster} 2>/dev/null
! command -v podman >/dev/null || podman ps -a --format '{{.Names}}'; true`,
    { user: 'root' },
  );
  return [...processes, ...files.split('\n').filter((line) => line !== '')];
}
