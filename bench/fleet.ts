/**
 * What mantad takes for a cluster of many nodes: the shipped daemon, with its journal, its gateway and its loop, over real
 * gRPC to a stand-in for Ray and over HTTP to a lab cloud whose machines are none. Of what it does on machines over SSH,
 * which is to renew leases every few minutes, the start of the client is in the figures; nobody answers it.
 * `MANTA_BENCH_NODES` (1000) says how many nodes.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Cloud } from '../lab/cloud/cloud.ts';
import type { Hypervisor } from '../lab/cloud/hypervisor.ts';
import { serveCloud } from '../lab/cloud/open.ts';
import type { Measurement } from '../scripts/bench.ts';
import { buildBundle } from '../scripts/build.ts';
import { rayTags } from '../src/core/ray-tags.ts';
import { createCluster } from '../src/state/cluster-record.ts';
import { stateFolder } from '../src/state/state-folder.ts';
import { costOf, held, show } from './bed/shipped-cluster.ts';
import { StandInRay, serveRay } from './fleet/stand-in-ray.ts';

const name = 'fleet';
const clusterId = 'fleet-1';
const settles = 15_000;
/** Leases are renewed from the start on, ten a second. */
const renewed = (count: number): number => 100 * count + 10_000;
const measures = 30_000;
const readyWithin = 120_000;

const nodes = Number(process.env['MANTA_BENCH_NODES'] ?? 1_000);

export async function run(): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'manta-fleet-'));
  const cloud = new Cloud({ hypervisor: noMachines });
  const served = await serveCloud(cloud);
  const head = launch(cloud, 'head', 1)[0]!;
  const ray = new StandInRay(head, launch(cloud, 'worker', nodes), 'worker');
  const rayServed = await serveRay(ray);
  let mantad: ChildProcess | undefined;
  try {
    await buildBundle(join(folder, 'dist'));
    mantad = startMantad(folder, { endpoint: served.endpoint, token: served.token, head, ...rayServed });
    await ready(folder, mantad);
    const until = performance.now() + renewed(nodes);
    await sleep(settles);
    const renewing = await cost(mantad, ray, () => {});
    await sleep(Math.max(0, until - performance.now()));
    const idle = await cost(mantad, ray, () => {});
    const busy = await cost(mantad, ray, () => ray.change());
    const launches = (await served.admin.calls({ call: 'launch' })).length;
    const line = (what: string, { share, megabytes, looks }: Cost, goal: boolean): Measurement => {
      const ours = `${(100 * share).toFixed(1)} % of a core, ${megabytes.toFixed(0)} MB, ${looks.toFixed(1)} looks a second`;
      return goal ? held(what, ours, 'under 10 % of a core', share < 0.1) : { name: what, ours };
    };
    return [
      line(`fleet: mantad with ${nodes} nodes, nothing changes`, idle, true),
      line(`fleet: mantad with ${nodes} nodes, demand and 50 nodes change every second`, busy, true),
      line(`fleet: mantad with ${nodes} nodes, while it renews their leases`, renewing, false),
      { name: 'fleet: launches that were not needed', ours: String(launches) },
    ];
  } finally {
    if (mantad?.exitCode === null) {
      mantad.kill('SIGKILL');
      await once(mantad, 'exit');
    }
    rayServed.close();
    await served.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Cost {
  readonly share: number;
  readonly megabytes: number;
  readonly looks: number;
}

async function cost(mantad: ChildProcess, ray: StandInRay, everySecond: () => void): Promise<Cost> {
  const [before, began, asked] = [costOf(mantad.pid!), performance.now(), ray.asked];
  const timer = setInterval(everySecond, 1_000);
  await sleep(measures);
  clearInterval(timer);
  const [after, took] = [costOf(mantad.pid!), (performance.now() - began) / 1_000];
  return {
    share: (after.seconds - before.seconds) / took,
    megabytes: after.megabytes,
    looks: (ray.asked - asked) / took,
  };
}

/** Machines that are said to run, and that nobody reaches. */
const noMachines: Hypervisor = {
  make: async ({ instance }) => ({
    address: `10.0.${Number.parseInt(instance.slice(-5), 10) >> 8}.${Number.parseInt(instance.slice(-5), 10) & 255}`,
    boot: async () => {},
    kill: async () => {},
    discard: async () => {},
    console: () => '',
  }),
};

function launch(cloud: Cloud, type: 'head' | 'worker', count: number): string[] {
  const tags = {
    [rayTags.cluster]: name,
    'manta-cluster-id': clusterId,
    [rayTags.kind]: type,
    [rayTags.type]: type,
    [rayTags.launchRequest]: `bench-${type}`,
  };
  return cloud.launch('lab', { machine_type: 'large', count, tags }).map(({ id }) => id);
}

interface Around {
  readonly endpoint: string;
  readonly token: string;
  readonly head: string;
  readonly gcsPort: number;
  readonly dashboardPort: number;
}

/** As the launcher would leave a head behind. */
function startMantad(folder: string, { endpoint, token, head, gcsPort, dashboardPort }: Around): ChildProcess {
  const state = stateFolder(join(folder, '.manta/head'), name);
  const file = {
    cluster_name: name,
    max_workers: 2 * nodes,
    provider: { type: 'lab_cloud', endpoint },
    head_node_type: 'head',
    available_node_types: {
      head: { node_config: { machine_type: 'small' }, resources: { CPU: 0 } },
      worker: { node_config: { machine_type: 'large' }, resources: { CPU: 8 }, max_workers: 2 * nodes },
    },
  };
  createCluster(state, {
    role: 'head',
    createdAt: Date.now(),
    engine: 'ray',
    config: { path: 'fleet.yaml', text: JSON.stringify(file), env: {} },
    ray: {
      id: clusterId,
      instance: head,
      address: '127.0.0.1',
      gcsPort,
      dashboardPort,
      loginShells: false,
      usageStats: false,
      mounts: [],
    },
  });
  writeFileSync(`${state.files.key}.pub`, 'ssh-ed25519 none fleet\n');
  writeFileSync(state.files.credential, token);
  // Nobody is reached over SSH, and nobody is waited for.
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'ssh'), '#!/bin/sh\necho "Permission denied (publickey)." >&2\nexit 255\n', { mode: 0o755 });
  const log = openSync(join(folder, 'log'), 'a');
  return spawn(process.execPath, [join(folder, 'dist/mantad.js'), join(folder, '.manta/head'), name], {
    env: { ...process.env, HOME: folder, PATH: `${bin}:${process.env['PATH']}` },
    stdio: ['ignore', log, log],
  });
}

async function ready(folder: string, mantad: ChildProcess): Promise<void> {
  const file = stateFolder(join(folder, '.manta/head'), name).files.serving;
  for (const until = performance.now() + readyWithin; performance.now() < until; await sleep(100)) {
    if (mantad.exitCode !== null) break;
    if (!existsSync(file)) continue;
    const { url } = JSON.parse(readFileSync(file, 'utf8')) as { url: string };
    const answer = await fetch(`${url}/readyz`).catch(() => undefined);
    if (answer?.status === 200) return;
  }
  throw new Error(`mantad does not serve:\n${readFileSync(join(folder, 'log'), 'utf8').slice(-3_000)}`);
}

if (import.meta.main) show(await run());
