// needs: ray, hosts

/** A laptop with Manta on it, as its package ships it, and hosts on which faults are caused. */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Lab, type LabHost, type LabOptions, openLab } from '../../lab/lab.ts';
import { buildBundle } from '../../scripts/build.ts';

export interface Ran {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Everything that was shown, in order. */
  readonly shown: string;
}

/** A command that is under way. */
export interface Running {
  readonly shown: () => string;
  /** Resolves when a line like this was shown; fails when the command ends without it. */
  said(pattern: RegExp): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<Ran>;
}

export interface ClusterWords {
  readonly name: string;
  readonly head: LabHost;
  readonly workers?: readonly LabHost[];
  /** Keys of the cluster file that differ from the ordinary. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** Ray as small as it gets: several nodes share two cores. */
const small = '--num-cpus 1 --memory 500000000 --object-store-memory 80000000 --disable-usage-stats';
const place = '/opt/manta';
/** Catches hangs; nothing is measured by it. */
const patience = 240_000;

export class FaultBed {
  readonly lab: Lab;
  readonly laptop: LabHost;
  readonly hosts: readonly LabHost[];
  readonly #package: string;

  private constructor(lab: Lab, bundle: string) {
    this.lab = lab;
    this.laptop = lab.laptop;
    this.hosts = lab.hosts;
    this.#package = bundle;
  }

  static async open(options: LabOptions): Promise<FaultBed> {
    const bundle = mkdtempSync(join(tmpdir(), 'manta-fault-'));
    try {
      const lab = await openLab(options);
      await buildBundle(join(bundle, 'dist'));
      cpSync(fileURLToPath(new URL('../../bin', import.meta.url)), join(bundle, 'bin'), { recursive: true });
      const bed = new FaultBed(lab, bundle);
      bed.install(bed.laptop);
      return bed;
    } catch (error) {
      rmSync(bundle, { recursive: true, force: true });
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.lab.close();
    rmSync(this.#package, { recursive: true, force: true });
  }

  /** Puts Manta on a machine, which may then be used as a laptop. */
  install(machine: LabHost): void {
    cpSync(this.#package, join(machine.root, place), { recursive: true });
  }

  /** Writes a cluster file on the laptop; its name there. */
  cluster({ name, head, workers = [], more = {} }: ClusterWords, machine = this.laptop): string {
    const file = `${name}.yaml`;
    const text = {
      cluster_name: name,
      provider: { type: 'local', head_ip: head.address, worker_ips: workers.map(({ address }) => address) },
      auth: { ssh_user: 'root' },
      min_workers: workers.length,
      max_workers: workers.length,
      head_start_ray_commands: ['ray stop', `ray start --head --port=6379 ${small}`],
      worker_start_ray_commands: ['ray stop', `ray start --address=$RAY_HEAD_IP:6379 ${small}`],
      ...more,
    };
    // JSON is YAML.
    writeFileSync(join(machine.root, 'root', file), JSON.stringify(text, null, 1));
    return file;
  }

  /** Starts `manta` on the laptop, in the home of its user. */
  start(words: readonly string[], machine = this.laptop): Running {
    return new Command(machine.spawn([`${place}/bin/manta`, ...words], { stdio: ['ignore', 'pipe', 'pipe'] }), words);
  }

  manta(...words: readonly string[]): Promise<Ran> {
    return this.start(words).ended;
  }

  /** As `manta`; anything but success fails. */
  async must(...words: readonly string[]): Promise<string> {
    const { code, shown } = await this.manta(...words);
    assert.equal(code, 0, `manta ${words.join(' ')}:\n${shown}`);
    return shown;
  }

  /** Fails when anything of any cluster is on one of the hosts; what Manta keeps for the next one does not count. */
  async nothingLeft(...hosts: readonly LabHost[]): Promise<void> {
    for (const host of hosts) assert.deepEqual(await leftOn(host), [], `left on ${host.name}`);
  }
}

class Command implements Running {
  readonly ended: Promise<Ran>;
  readonly #child: ChildProcess;
  readonly #words: string;
  #shown = '';
  #over = false;

  constructor(child: ChildProcess, words: readonly string[]) {
    this.#child = child;
    this.#words = words.join(' ');
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (bytes: Buffer) => {
        this.#shown += bytes.toString();
      });
    this.ended = new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        child.kill('SIGKILL');
        reject(new Error(`'manta ${this.#words}' did not end:\n${this.#shown}`));
      }, patience);
      child.on('error', reject);
      child.on('close', (code, signal) => {
        clearTimeout(late);
        this.#over = true;
        resolve({ code, signal, shown: this.#shown });
      });
    });
    this.ended.catch(() => {});
  }

  shown(): string {
    return this.#shown;
  }

  async said(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.#shown)) {
      if (this.#over) throw new Error(`'manta ${this.#words}' ended and never said ${pattern}:\n${this.#shown}`);
      await sleep(20);
    }
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
}

const ofClusters =
  /gcs_server|raylet|ray::|ray-dashboard|ray\/dashboard|log_monitor|\/mantad\.js|\/supervisor\.js|\/steps\//;

/** What is on a host of any cluster: processes, folders, keys, claims, entries that start something at boot. */
export async function leftOn(host: LabHost): Promise<readonly string[]> {
  const processes = host
    .processes()
    .filter(({ command }) => ofClusters.test(command.join(' ')))
    .map(({ pid, command }) => `process ${pid}: ${command.join(' ').slice(0, 200)}`);
  const files = await host.must(
    `cd; ls -d .manta/nodes/* .manta/head/clusters/* .manta/head/boot-* 2>/dev/null
find /var/tmp/manta-claims -type f -name '[!.]*' -size +0 2>/dev/null | xargs -r grep -l cluster
grep -h 'manta' .ssh/authorized_keys; crontab -l 2>/dev/null | grep manta; :`,
  );
  return [...processes, ...files.split('\n').filter((line) => line !== '')];
}

/**
 * Holds a message to what somebody needs at two in the morning: what went wrong and where, what to do next, its code to
 * look up, and no insides of the program.
 */
export function readable(
  { shown, code: exit }: Ran,
  expected: { readonly code: string; readonly exit: number; readonly says: readonly (string | RegExp)[] },
): void {
  const at = shown.lastIndexOf('error: ');
  const message = shown.slice(Math.max(0, at));
  assert.ok(at >= 0, `an error is shown:\n${shown}`);
  assert.ok(message.includes(`(${expected.code})`), `${expected.code} is named:\n${message}`);
  assert.match(message, /^hint: \S/m, 'the next step is named');
  for (const words of expected.says)
    if (typeof words === 'string') assert.ok(message.includes(words), `'${words}' is said:\n${message}`);
    else assert.match(message, words);
  unadorned(shown);
  assert.equal(exit, expected.exit, shown);
}

/** Nothing that only a programmer of Manta understands. */
export function unadorned(shown: string): void {
  assert.doesNotMatch(shown, /^ {4}at |\[object |undefined|MANTA_INTERNAL|node:internal|file:\/\//m);
}
