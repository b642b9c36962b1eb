/** One lab cloud, and on it clusters of the same shape: Manta's, and those of Ray's two autoscalers. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { CallRecord } from '../../lab/cloud/call-log.ts';
import { type LabCloud, openLabCloud } from '../../lab/cloud/open.ts';
import type { LabHost } from '../../lab/lab.ts';
import { exchange } from '../../src/providers/lab-cloud/exchange.ts';
import { ClusterBed } from '../../test/lab/cluster-bed.ts';
import { clusterName, gcsPort, headStart, mantaFile, rayFile, type Shape } from './cluster-file.ts';
import { Driver } from './driver.ts';

export type SideName = 'manta' | 'v2' | 'v1';

/** One cluster that scales, and how its calls are told from those of the others: each has an account of its own. */
export interface Side {
  readonly name: SideName;
  readonly driver: Driver;
}

const providerFile = fileURLToPath(new URL('lab_cloud_provider.py', import.meta.url));
const lookEvery = 50;

export const sideNames = (process.env['MANTA_BENCH_SIDES'] ?? 'manta,v2,v1').split(',') as readonly SideName[];

export class ScalingBed {
  readonly #bed: ClusterBed;
  readonly #cloud: LabCloud;
  readonly #tokens = new Map<SideName, string>();
  readonly #drivers: Driver[] = [];

  private constructor(bed: ClusterBed, cloud: LabCloud) {
    this.#bed = bed;
    this.#cloud = cloud;
  }

  static async open(): Promise<ScalingBed> {
    const bed = await ClusterBed.open({ hosts: 0, ray: true });
    try {
      return new ScalingBed(bed, await openLabCloud(bed.lab, { image: { ray: true } }));
    } catch (error) {
      await bed.close();
      throw error;
    }
  }

  get admin(): LabCloud['admin'] {
    return this.#cloud.admin;
  }

  /** Starts the head of one cluster, and a driver on it. */
  async start(name: SideName, shape: Shape): Promise<Side> {
    const token = await this.admin.open(name);
    this.#tokens.set(name, token);
    const driver = name === 'manta' ? await this.#startManta(shape, token) : await this.#startRay(name, shape, token);
    this.#drivers.push(driver);
    return { name, driver };
  }

  async #startManta(shape: Shape, token: string): Promise<Driver> {
    this.#bed.write('cloud-token', token);
    this.#bed.write('bench.yaml', mantaFile(shape, this.#cloud.endpoint));
    await this.#bed.manta(['up', '-y', 'bench.yaml']);
    const head = (await this.instances('manta'))[0]!;
    // What `manta exec` does before a command.
    return Driver.start(this.#hostOf(head), {}, `. /root/.manta/nodes/${clusterName}/env.sh; `);
  }

  async #startRay(name: SideName, shape: Shape, token: string): Promise<Driver> {
    const { lab } = this.#bed;
    const login = { user: 'root', public_key: readFileSync(`${lab.key}.pub`, 'utf8').trim() };
    const tags = { 'ray-cluster-name': clusterName, 'ray-node-type': 'head', 'ray-user-node-type': 'head' };
    const [head] = await this.admin.stray(name, { machine_type: 'small', login, tags });
    const host = await this.#booted(head!.id);
    const write = (path: string, text: string, mode = 0o600): void =>
      writeFileSync(join(host.root, path), text, { mode });
    write('root/.ssh/id_ed25519', readFileSync(lab.key, 'utf8'));
    write('root/lab_cloud_provider.py', readFileSync(providerFile, 'utf8'));
    write('root/ray_bootstrap_config.yaml', rayFile(shape, { endpoint: this.#cloud.endpoint, token, login }));
    const env = {
      PYTHONPATH: '/root',
      RAY_AUTH_MODE: 'disabled',
      RAY_enable_autoscaler_v2: name === 'v2' ? '1' : '0',
      RAY_CLOUD_INSTANCE_ID: head!.id,
      RAY_NODE_TYPE_NAME: 'head',
    };
    await host.must(['bash', '-lc', `${headStart} --node-ip-address=${host.address}`], { env, within: 300_000 });
    return Driver.start(host, { RAY_AUTH_MODE: 'disabled', RAY_ADDRESS: `${host.address}:${gcsPort}` });
  }

  /** Instances of one cluster that exist, in the order of their launch. */
  async instances(name: SideName): Promise<readonly string[]> {
    return (await this.admin.instances()).filter((each) => each.account === name && each.exists).map(({ id }) => id);
  }

  /** Ends instances, as their owner could at the cloud's own page. */
  async terminate(name: SideName, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const token = this.#tokens.get(name)!;
    const signal = AbortSignal.timeout(60_000);
    const order = { method: 'POST', path: '/v1/instances/terminate', body: { ids }, token, signal };
    const { status, text } = await exchange(this.#cloud.localEndpoint, order);
    if (status !== 200) throw new Error(`terminate was answered ${status}: ${text}`);
  }

  /** Number of the newest call, to ask for those after it. */
  async lastCall(): Promise<number> {
    return Math.max(0, ...(await this.admin.calls()).map(({ number }) => number));
  }

  /** When one cluster asked for instances last. */
  async lastLaunch(name: SideName): Promise<number> {
    const calls = await this.admin.calls({ call: 'launch' });
    return Math.max(0, ...calls.filter(({ account }) => account === name).map(({ at }) => at));
  }

  /** Waits until calls of a cluster have done so much; the instant at which the last of them arrived. */
  async until(
    name: SideName,
    only: { readonly since: number; readonly call: CallRecord['call'] },
    enough: { readonly count: number; readonly within: number; readonly of: (call: CallRecord) => number },
  ): Promise<{ readonly at: number | undefined; readonly count: number; readonly calls: readonly CallRecord[] }> {
    for (const until = performance.now() + enough.within; ; await sleep(lookEvery)) {
      const all = (await this.admin.calls(only)).filter(({ account, status }) => account === name && status === 200);
      const calls = all.toSorted((a, b) => a.at - b.at);
      let count = 0;
      for (const call of calls) {
        count += enough.of(call);
        if (count >= enough.count) return { at: call.at, count, calls };
      }
      if (performance.now() > until) return { at: undefined, count, calls };
    }
  }

  /** What the autoscaler of a head has written, for whoever looks for the reason of a figure. */
  async log(name: SideName): Promise<string> {
    const [head] = await this.instances(name);
    const files = name === 'manta' ? '~/.manta/head/clusters/*/mantad.log' : '/tmp/ray/session_latest/logs/monitor*';
    return this.#hostOf(head!).must(`tail -n 60 ${files} 2>&1 || true`);
  }

  async close(): Promise<void> {
    for (const driver of this.#drivers) driver.close();
    await this.#cloud.close();
    await this.#bed.close();
  }

  #hostOf(id: string): LabHost {
    const host = this.#cloud.host(id);
    if (host === undefined) throw new Error(`${id} has no host`);
    return host;
  }

  async #booted(id: string): Promise<LabHost> {
    for (const until = performance.now() + 60_000; performance.now() < until; await sleep(lookEvery)) {
      const found = (await this.admin.instances()).find((each) => each.id === id);
      if (found?.state === 'running') return this.#hostOf(id);
    }
    throw new Error(`${id} has not booted`);
  }
}
