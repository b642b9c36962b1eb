import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LabHost } from '../../../lab/lab.ts';
import type { EventAnswer, NodeAnswer, WhyAnswer } from '../../../src/api/types.ts';
import { type ClusterBed, eventually } from '../cluster-bed.ts';
import { Driver, driverProgram } from './driver.ts';
import type { Demand, Fault } from './scenario.ts';
import { Turnstile } from './turnstile.ts';

/** Limits of the cluster file that scenarios change by `manta up`. */
export interface Limits {
  readonly minWorkers: number;
  readonly maxWorkers: number;
}

const usualLimits: Limits = { minWorkers: 0, maxWorkers: 6 };

/** Where machines come from, and how things go wrong there. */
export interface Site {
  readonly cluster: string;
  readonly user: string;
  clusterFile(limits: Limits, turnstile: string): object;
  head(): Promise<LabHost>;
  /** The host of that name, while there is one. */
  host(name: string): LabHost | undefined;
  /** Brings a fault about before anything is asked for. */
  cause(fault: Fault, bed: RayBed): Promise<void>;
  /** Brings a fault about on a host that work runs on. */
  strike(fault: Fault, host: LabHost): Promise<void>;
  /** Nothing goes wrong any more. */
  calm(bed: RayBed): Promise<void>;
  /** Why what was asked for is more than it should be, or something is left that should not be. */
  problems(since: number): Promise<readonly string[]>;
  /** A mark for `problems`: from here on. */
  mark(): Promise<number>;
  readonly env: Readonly<Record<string, string>>;
}

/** One cluster of real Ray for many scenarios: its user at the laptop, a driver on its head, a turnstile for its work. */
export class RayBed {
  readonly user: ClusterBed;
  readonly site: Site;
  readonly turnstile: Turnstile;
  readonly driver: Driver;
  readonly head: LabHost;
  readonly #token: string;

  private constructor(parts: Pick<RayBed, 'user' | 'site' | 'turnstile' | 'driver' | 'head'>, token: string) {
    this.user = parts.user;
    this.site = parts.site;
    this.turnstile = parts.turnstile;
    this.driver = parts.driver;
    this.head = parts.head;
    this.#token = token;
  }

  static async open(user: ClusterBed, site: Site): Promise<RayBed> {
    const turnstile = await Turnstile.open(user.lab);
    try {
      return await RayBed.#openWith(user, site, turnstile);
    } catch (error) {
      turnstile.close();
      throw error;
    }
  }

  static async #openWith(user: ClusterBed, site: Site, turnstile: Turnstile): Promise<RayBed> {
    const { cluster, env } = site;
    const home = site.user === 'root' ? 'root' : `home/${site.user}`;
    user.write(fileOf(cluster), fileText(site, usualLimits, turnstile));
    await user.manta(['up', '-y', fileOf(cluster)], { env });
    const head = await site.head();
    writeFileSync(join(head.root, home, 'driver.py'), driverProgram);
    const driver = await Driver.open(
      user.start(['exec', fileOf(cluster), `exec python -u driver.py ${turnstile.url}`], { env }),
    );
    const token = await head.must(`cat /${home}/.manta/head/clusters/${cluster}/tokens/owner`);
    return new RayBed({ user, site, turnstile, driver, head }, token.trim());
  }

  /** Changes limits of the cluster file and runs `up` again. */
  async limit(limits: Partial<Limits>): Promise<void> {
    const { cluster, env } = this.site;
    const file = fileOf(cluster);
    this.user.write(file, fileText(this.site, { ...usualLimits, ...limits }, this.turnstile));
    await this.user.manta(['up', '-y', '--no-wait', file], { env });
  }

  /** Workers of the cluster's own that are, or may come to be. */
  async workers(): Promise<readonly NodeAnswer[]> {
    const { nodes } = await this.#get<{ nodes: NodeAnswer[] }>('/nodes');
    return nodes.filter(({ kind, byHand }) => kind === 'worker' && !byHand);
  }

  async events(after: number): Promise<readonly EventAnswer[]> {
    return (await this.#get<{ events: EventAnswer[] }>(`/events?limit=2000&after=${after}`)).events;
  }

  async lastEvent(): Promise<number> {
    return (await this.#get<{ events: EventAnswer[] }>('/events?limit=1')).events.at(-1)?.seq ?? 0;
  }

  /** What `manta why` says, in lines. */
  async why(subject: string): Promise<string> {
    const words = ['--json', 'why', subject, '-n', this.site.cluster];
    const { chain, next } = JSON.parse(await this.user.manta(words, { env: this.site.env })) as WhyAnswer;
    return [...chain.map(({ text }) => text), ...next].join('\n');
  }

  async status(): Promise<string> {
    return await this.user.manta(['status', fileOf(this.site.cluster)], { env: this.site.env });
  }

  /** kill -9, and back under its supervisor. */
  async killMantad(): Promise<void> {
    const before = await this.#mantad();
    await this.head.must(`kill -9 ${before}`, { user: 'root' });
    await eventually('mantad is back', async () => (await this.#mantad()) !== before);
  }

  async #mantad(): Promise<string> {
    const { user, cluster } = this.site;
    const file = `${user === 'root' ? '/root' : `/home/${user}`}/.manta/head/clusters/${cluster}/mantad.lock`;
    return /"pid":\s*(\d+)/.exec(await this.head.must(`cat ${file}`, { user: 'root' }))?.[1] ?? '';
  }

  /** The whole cluster goes. */
  async down(): Promise<void> {
    await this.driver.close();
    await this.user.manta(['down', '-y', fileOf(this.site.cluster)], { env: this.site.env });
  }

  close(): void {
    this.turnstile.close();
  }

  async #get<T>(path: string): Promise<T> {
    const url = `http://127.0.0.1:8265/api/manta/v1${path}`;
    return JSON.parse(
      await this.head.must(['curl', '-sSf', '--retry', '5', '-H', `Authorization: Bearer ${this.#token}`, url]),
    ) as T;
  }
}

const fileOf = (cluster: string): string => `${cluster}.yaml`;

/** JSON is YAML. */
const fileText = (site: Site, limits: Limits, { url }: Turnstile): string =>
  JSON.stringify(site.clusterFile(limits, url), null, 1);

/** How many pieces a demand is made of; none of what asks for room alone. */
export function piecesOf(demand: Demand): number {
  if (demand.kind === 'tasks' || demand.kind === 'actors') return demand.count;
  return demand.kind === 'group' ? demand.bundles.length : 0;
}
