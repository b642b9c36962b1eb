import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type MantaEvent, silent } from '../../../src/base/events.ts';
import type { Host, HostResult, RunOptions } from '../../../src/base/host.ts';
import { wallClock } from '../../../src/base/time/wall-clock.ts';
import type { OwnHost } from '../../../src/core/spec/local.ts';
import type { LocalProviderEdges } from '../../../src/providers/local/edges.ts';
import { LocalProvider } from '../../../src/providers/local/provider.ts';

export const type = 'local.cluster.node';
const root = '/STAND-IN';

/** One host: a folder of this machine in which real sh programs find a claims folder, a process table and devices. */
export class StandInHost {
  readonly folder: string;
  /** Nothing of it answers. */
  down = false;
  /** So many programs run to their end and their answers are lost. */
  loseAnswers = 0;
  /** So many programs never begin. */
  dropBefore = 0;
  connects = 0;
  readonly name: string;

  constructor(parent: string, name: string) {
    this.name = name;
    this.folder = join(parent, name);
    mkdirSync(join(this.folder, 'proc/1'), { recursive: true });
    mkdirSync(join(this.folder, 'proc/sys/kernel/random'), { recursive: true });
    mkdirSync(join(this.folder, 'dev'));
    writeFileSync(join(this.folder, 'proc/1/comm'), 'init\n');
    writeFileSync(join(this.folder, 'proc/meminfo'), 'MemTotal:       16384 kB\nMemFree: 1 kB\n');
    this.boot('0a-1', 1000);
    // Where the claims folder will be made by whoever comes first, as in /var/tmp.
    mkdirSync(join(this.folder, 'tmp'));
    chmodSync(join(this.folder, 'tmp'), 0o1777);
  }

  boot(id: string, uptime: number): void {
    writeFileSync(join(this.folder, 'proc/sys/kernel/random/boot_id'), `${id}\n`);
    writeFileSync(join(this.folder, 'proc/uptime'), `${uptime}.25 99.00\n`);
  }

  runs(pid: number, comm: string | undefined): void {
    const folder = join(this.folder, 'proc', String(pid));
    rmSync(folder, { recursive: true, force: true });
    if (comm === undefined) return;
    mkdirSync(folder);
    writeFileSync(join(folder, 'comm'), `${comm}\n`);
  }

  /** The claims that lie there. */
  claims(): Record<string, unknown>[] {
    const folder = join(this.folder, 'tmp/claims');
    try {
      return readdirSync(folder)
        .filter((name) => !name.startsWith('.'))
        .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Record<string, unknown>);
    } catch {
      return [];
    }
  }

  /** The way in, as a user of this machine. */
  as(uid?: number, path?: string): Host {
    const unused = (): never => {
      throw new Error('not for this host');
    };
    return {
      name: this.name,
      connect: async ({ signal }) => {
        this.connects++;
        signal.throwIfAborted();
        if (this.down) throw new Error(`ssh: connect to host ${this.name} port 22: Connection refused`);
      },
      sh: (program, options) => this.#sh(program, options, uid, path),
      put: unused,
      open: unused,
      rsync: unused,
      forward: unused,
      renew: async () => {},
      close: async () => {},
    };
  }

  async #sh(program: string, { signal }: RunOptions, uid?: number, path?: string): Promise<HostResult> {
    signal.throwIfAborted();
    if (this.down || this.dropBefore-- > 0) throw new Error('Connection closed by remote host');
    const child = spawn('sh', [], {
      stdio: 'pipe',
      cwd: '/',
      ...(uid === undefined ? {} : { uid, gid: uid }),
      ...(path === undefined ? {} : { env: { PATH: path } }),
    });
    child.stdin.on('error', () => {});
    child.stdin.end(program.replaceAll(root, this.folder));
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const code = await new Promise<number>((resolve) => child.on('close', (status) => resolve(status ?? 255)));
    if (this.loseAnswers-- > 0) throw new Error('Connection closed by remote host');
    return { code, stdout, stderr };
  }
}

/** Claims go to a folder of each stand-in; what it says of itself is read there too. */
export const terms = {
  folder: `${root}/tmp/claims`,
  proc: `${root}/proc`,
  devices: `${root}/dev`,
  lifetime: 600_000,
};

export const claimant = (clusterId: string, cluster = 'lab') => ({
  clusterId,
  cluster,
  owner: `someone@${clusterId}`,
  headAddress: '10.0.0.1',
});

/** Some hosts, and providers of clusters that share them. */
export class HostBed {
  readonly folder: string;
  readonly hosts: readonly StandInHost[];
  readonly ended: string[] = [];
  readonly told: Pick<MantaEvent, 'code' | 'text'>[] = [];
  readonly #providers: LocalProvider[] = [];

  constructor(t: TestContext, count: number) {
    this.folder = mkdtempSync(join(tmpdir(), 'manta-hosts-'));
    chmodSync(this.folder, 0o755);
    this.hosts = Array.from({ length: count }, (_, index) => new StandInHost(this.folder, `h${index + 1}`));
    t.after(async () => {
      await Promise.all(this.#providers.map((provider) => provider.close()));
      rmSync(this.folder, { recursive: true, force: true });
    });
  }

  host(name: string): StandInHost {
    const host = this.hosts.find((each) => each.name === name);
    if (!host) throw new Error(`no host '${name}'`);
    return host;
  }

  provider(edges: Partial<LocalProviderEdges> & { readonly clusterId?: string } = {}): LocalProvider {
    const { clusterId = 'mine', ...rest } = edges;
    const provider = new LocalProvider({
      folder: join(this.folder, 'records', clusterId),
      claimant: claimant(clusterId),
      pools: () => [{ type, hosts: this.hosts.map(ownHost) }],
      connect: (host) => this.host(host.name).as(),
      end: async (host, instance, signal) => {
        const { code } = await host.sh('true', { signal });
        if (code === 0) this.ended.push(`${host.name} ${instance}`);
      },
      clock: wallClock,
      events: { ...silent, emit: (kind, data) => this.told.push({ code: kind.code, text: kind.text(data) }) },
      terms,
      ...rest,
      pace: { endAgain: 5, coolOff: 50, patience: 500, connect: 5_000, silent: 60_000, giveUp: 60_000, ...rest.pace },
    });
    this.#providers.push(provider);
    return provider;
  }
}

export const ownHost = ({ name }: { readonly name: string }): OwnHost => ({ name, address: name });
