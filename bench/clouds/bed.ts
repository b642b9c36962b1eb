/** One fake of a cloud, and on it clusters of Manta and of Ray, each in an account of its own that was empty before. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallRecord } from '../../lab/cloud/call-log.ts';
import type { ExecResult, LabHost } from '../../lab/lab.ts';
import { ClusterBed, program } from '../../test/lab/cluster-bed.ts';
import { quiet } from '../launcher/cost.ts';
import type { BenchedCloud, EmptyAccount, FakeCloud } from './cloud.ts';
import { clusterFile, file } from './cluster-file.ts';

/** Ray's autoscaler is v2 unless one asks for v1. */
export type SideName = 'manta' | 'ray' | 'ray v1';

const commandWithin = 400_000;
const quietWithin = 15_000;
const lookEvery = 100;

const ups: Readonly<Record<SideName, readonly string[]>> = {
  manta: [program, 'up', '-y', '--no-wait', file],
  ray: ['ray', 'up', '-y', '--no-config-cache', '--disable-usage-stats', file],
  'ray v1': ['ray', 'up', '-y', '--no-config-cache', '--disable-usage-stats', file],
};

export class CloudBench {
  readonly benched: BenchedCloud;
  readonly #bed: ClusterBed;
  readonly #fake: FakeCloud;

  private constructor(benched: BenchedCloud, bed: ClusterBed, fake: FakeCloud) {
    this.benched = benched;
    this.#bed = bed;
    this.#fake = fake;
  }

  static async open(benched: BenchedCloud): Promise<CloudBench> {
    const bed = await ClusterBed.open({ hosts: 0, ray: true, ...benched.packages });
    try {
      return new CloudBench(benched, bed, await benched.open(bed.lab));
    } catch (error) {
      await bed.close();
      throw error;
    }
  }

  /** A cluster of this side with so many workers that never scale down, in an account without anything. Not up yet. */
  async cluster(side: SideName, minWorkers: number): Promise<BenchCluster> {
    await this.#bed.laptop.must('rm -rf ~/.manta /tmp/ray* ~/.ssh/known_hosts ~/.ssh/ray-autoscaler*');
    const account = await this.#fake.emptyAccount();
    this.#bed.write(file, clusterFile(this.benched, account.id, minWorkers));
    await quiet(quietWithin);
    return new BenchCluster(this.#bed, this.#fake, { side, account });
  }

  async close(): Promise<void> {
    await this.#fake.close();
    await this.#bed.close();
  }
}

export class BenchCluster {
  readonly side: SideName;
  readonly #bed: ClusterBed;
  readonly #fake: FakeCloud;
  readonly #account: EmptyAccount;

  constructor(
    bed: ClusterBed,
    fake: FakeCloud,
    { side, account }: { readonly side: SideName; readonly account: EmptyAccount },
  ) {
    this.side = side;
    this.#bed = bed;
    this.#fake = fake;
    this.#account = account;
  }

  /** Milliseconds of the command. */
  up(): Promise<number> {
    return this.#timed(ups[this.side]);
  }

  /** Milliseconds of the command; throws where an instance is left. */
  async down(): Promise<number> {
    const took = await this.#timed([this.side === 'manta' ? program : 'ray', 'down', '-y', file]);
    const left = this.#fake.cloud.existing(this.#account.id);
    if (left.length > 0) throw new Error(`${this.side} has left ${left.length} instances`);
    return took;
  }

  /** All that the account was asked, in the order in which it arrived. */
  async calls(): Promise<readonly CallRecord[]> {
    const all = (await this.#fake.calls()).filter(({ account }) => account === this.#account.id);
    return all.toSorted((one, other) => one.at - other.at);
  }

  /** When the cloud was asked for the worker of this number, counted from one. */
  async askedFor(count: number, within: number): Promise<number> {
    for (const until = performance.now() + within; performance.now() < until; await sleep(lookEvery)) {
      const at = instantsOfWorkers(await this.calls())[count - 1];
      if (at !== undefined) return at;
    }
    const asked = instantsOfWorkers(await this.calls()).length;
    throw new Error(`${this.side} asked for ${asked} of ${count}:\n${await this.#log()}`);
  }

  #head(): LabHost | undefined {
    const existing = this.#fake.cloud.existing(this.#account.id);
    const head = existing.find(({ now }) => now.tags['ray-node-type'] === 'head');
    return head && this.#fake.host(head.id);
  }

  async #timed(words: readonly string[]): Promise<number> {
    const began = performance.now();
    const v1: Record<string, string> = this.side === 'ray v1' ? { RAY_UP_enable_autoscaler_v2: '0' } : {};
    const env = { ...this.#account.environment, ...v1 };
    const { code, stdout, stderr }: ExecResult = await this.#bed.laptop.exec(words, { env, within: commandWithin });
    if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${`${stderr}${stdout}`.slice(-4_000)}`);
    return performance.now() - began;
  }

  /** What the autoscaler has written, for anyone who looks for the reason of a figure. */
  async #log(): Promise<string> {
    const files =
      this.side === 'manta'
        ? '/home/ubuntu/.manta/head/clusters/*/mantad.log'
        : '/tmp/ray/session_latest/logs/monitor*';
    return (await this.#head()?.must(`tail -n 60 ${files} 2>&1 || true`)) ?? '';
  }
}

/** Calls that gave instances. The head is asked for alone, and first. */
export const givenLaunches = (calls: readonly CallRecord[]): readonly CallRecord[] =>
  calls.filter(({ call, status }) => call === 'launch' && status === 200);

/** When each worker was asked for. */
const instantsOfWorkers = (calls: readonly CallRecord[]): readonly number[] =>
  givenLaunches(calls)
    .slice(1)
    .flatMap(({ at, instances = [] }) => instances.map(() => at));
