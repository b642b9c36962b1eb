import type {
  ClusterAnswer,
  DemandAnswer,
  EventAnswer,
  Mark,
  NodeAnswer,
  SamplePoint,
} from '../../../src/api/types.ts';
import type { InstanceStatus } from '../../../src/core/instance.ts';
import type { EndCause, Job, JobState } from '../../../src/core/jobs/job.ts';

const gib = 1024 ** 3;

/** Numbers in [0, 1) that are the same for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const nodeTypes: ClusterAnswer['nodeTypes'] = [
  {
    name: 'head',
    head: true,
    resources: { CPU: 8, memory: 32 * gib },
    minWorkers: 0,
    maxWorkers: 0,
    pricePerHour: 0.384,
  },
  {
    name: 'cpu-large',
    head: false,
    resources: { CPU: 32, memory: 128 * gib },
    minWorkers: 2,
    maxWorkers: 600,
    pricePerHour: 1.536,
  },
  {
    name: 'cpu-spot',
    head: false,
    resources: { CPU: 16, memory: 64 * gib },
    minWorkers: 0,
    maxWorkers: 400,
    pricePerHour: 0.241,
  },
  {
    name: 'gpu-a10',
    head: false,
    resources: { CPU: 8, GPU: 1, memory: 32 * gib },
    minWorkers: 0,
    maxWorkers: 120,
    pricePerHour: 1.006,
  },
  {
    name: 'highmem',
    head: false,
    resources: { CPU: 16, memory: 512 * gib },
    minWorkers: 0,
    maxWorkers: 40,
    pricePerHour: 4.032,
  },
];

const shares = [0, 0.52, 0.33, 0.11, 0.04];
const users = ['ana', 'default', 'bench', 'rl-team', 'nightly'];
const commands = [
  'python train.py --config configs/resnet50.yaml --epochs 90',
  'python -m sweep.run --lr 3e-4 --batch 256 --seed 17',
  'python evaluate.py --checkpoint s3://models/run-118/last --split test',
  './preprocess.sh shards/2026-11 --workers 16',
  'python tokenise.py --input corpus/part-0042.jsonl.zst --vocab 64k',
  'node etl/compact.js --day 2026-11-14',
  'python simulate.py --episodes 2000 --env cheetah-v4',
];
const zones = ['a', 'b', 'c'];
const reasons = [
  'for 12 × {CPU: 4} of queued jobs; cpu-spot was refused in zone b until 12:31',
  'for gang train-llm-7b: 8 × {GPU: 1, CPU: 4}, STRICT_SPREAD',
  'to keep min_workers 2 of cpu-large',
  'for 40 × {CPU: 1}; cheapest type that fits',
];

const pick = <Item>(items: readonly Item[], random: () => number): Item =>
  items[Math.floor(random() * items.length)] as Item;

export function seedNodes(count: number, now: number, random: () => number): NodeAnswer[] {
  return Array.from({ length: count }, (_, index) => {
    const roll = random();
    let place = 0;
    for (let sum = 0, i = 1; i < shares.length; i += 1) {
      sum += shares[i] ?? 0;
      if (roll < sum) {
        place = i;
        break;
      }
    }
    const type = nodeTypes[index === 0 ? 0 : Math.max(1, place)]!;
    const status = index === 0 ? 'running' : statusFor(random());
    const requestedAt = now - Math.floor(random() * 5_400_000) - 60_000;
    const reported = status === 'running' || status === 'draining';
    const busy = reported && random() > 0.18;
    const share = busy ? Math.ceil(random() * 8) / 8 : 0;
    return {
      instance:
        index === 0 ? 'demo-head' : `${type.name}-${(0x10000 + Math.floor(random() * 0xeffff)).toString(16)}-${index}`,
      ...(reported ? { node: `node-${index.toString(16).padStart(6, '0')}` } : {}),
      type: type.name,
      kind: index === 0 ? ('head' as const) : ('worker' as const),
      status,
      since: requestedAt + 45_000,
      requestedAt,
      ...(reported ? { idleFor: busy || index === 0 ? 0 : Math.floor(random() * 280_000) } : {}),
      total: type.resources,
      available: Object.fromEntries(
        Object.entries(type.resources).map(([name, total]) => [
          name,
          total - Math.round(total * share * (name === 'memory' ? 0.7 : 1)),
        ]),
      ),
      jobs: [],
      zone: `eu-central-1${pick(zones, random)}`,
      market: type.name === 'cpu-spot' ? 'spot' : 'on-demand',
      pricePerHour: type.pricePerHour ?? 0,
      launchedBecause: index === 0 ? 'the head of the cluster' : pick(reasons, random),
      ...(status === 'draining' ? { endsBecause: 'idle for 5 min 02 s, timeout 5 min' } : {}),
      ...(status === 'launch-failed'
        ? { endsBecause: 'the provider had no capacity for cpu-spot in eu-central-1b' }
        : {}),
    };
  });
}

function statusFor(roll: number): InstanceStatus {
  if (roll < 0.94) return 'running';
  if (roll < 0.96) return 'setting-up';
  if (roll < 0.975) return 'requested';
  if (roll < 0.99) return 'draining';
  return 'launch-failed';
}

export function seedJobs(count: number, now: number, nodes: readonly NodeAnswer[], random: () => number): Job[] {
  const homes = nodes.filter((node) => node.node !== undefined && node.kind === 'worker');
  return Array.from({ length: count }, (_, index) => {
    const age = count - index;
    const submittedAt = now - age * 2100 - Math.floor(random() * 1500);
    const state: JobState = age <= 400 ? freshState(random()) : doneState(random());
    const started = state !== 'queued' && state !== 'held' && state !== 'starting';
    const over = state === 'succeeded' || state === 'failed' || state === 'stopped';
    const startedAt = Math.min(now - 500, submittedAt + 300 + Math.floor(random() * 20_000));
    const endedAt = Math.min(now, startedAt + 4000 + Math.floor(random() * 900_000));
    const node = homes.length === 0 ? undefined : pick(homes, random).node;
    const lost = over && random() < 0.06;
    const id = `${pick(['train', 'sweep', 'eval', 'etl', 'sim'], random)}-${String(index + 1).padStart(5, '0')}`;
    const cause: EndCause | undefined =
      state === 'succeeded' || state === 'stopped' ? state : state === 'failed' ? 'failed' : undefined;
    const exitCode = state === 'succeeded' ? 0 : state === 'failed' ? 1 : undefined;
    const first = {
      id: `${id}.1`,
      number: 1,
      ...(node === undefined ? {} : { node }),
      startedAt,
      endedAt: startedAt + 3000,
      cause: 'node-lost' as const,
      message: 'the node stopped answering and its lease ran out',
    };
    const last = {
      id: `${id}.${lost ? 2 : 1}`,
      number: lost ? 2 : 1,
      ...(node === undefined ? {} : { node }),
      startedAt: lost ? startedAt + 5000 : startedAt,
      ...(over ? { endedAt } : {}),
      ...(cause === undefined ? {} : { cause }),
      ...(exitCode === undefined ? {} : { exitCode }),
    };
    return {
      id,
      user: pick(users, random),
      entrypoint: pick(commands, random),
      runtimeEnv: {
        env_vars: { WANDB_API_KEY: 'not-to-be-seen', OMP_NUM_THREADS: '4' },
        pip: ['torch==2.9.0', 'numpy'],
      },
      metadata: { project: 'vision' },
      resources:
        random() < 0.12
          ? { CPU: 4, GPU: 1 }
          : { CPU: pick([1, 2, 4, 8], random), ...(random() < 0.4 ? { memory: 8 * gib } : {}) },
      labels: {},
      priority: random() < 0.1 ? 10 : 0,
      retries: { failed: 0, nodeLost: 3, preempted: 3, setupFailed: 1 },
      dependsOn: [],
      submittedAt,
      state,
      attempts: started ? (lost ? [first, last] : [last]) : [],
      message: messageFor(state),
      ...(started ? { startedAt } : {}),
      ...(over ? { endedAt } : {}),
      ...(exitCode === undefined ? {} : { exitCode }),
    };
  });
}

function freshState(roll: number): JobState {
  if (roll < 0.5) return 'running';
  if (roll < 0.8) return 'queued';
  if (roll < 0.86) return 'starting';
  return 'held';
}

function doneState(roll: number): JobState {
  return roll < 0.9 ? 'succeeded' : roll < 0.97 ? 'failed' : 'stopped';
}

function messageFor(state: JobState): string {
  if (state === 'failed')
    return 'Job entrypoint command failed with exit code 1, last available logs: ValueError: loss is NaN at step 1840';
  if (state === 'queued') return 'Waits for 4 CPU: 31 jobs are before it';
  if (state === 'held') return 'Waits for other jobs';
  return '';
}

export function seedDemand(now: number): DemandAnswer {
  const request = (resources: Record<string, number>) => ({ resources, selectors: [], placement: [] });
  const cpu = { kind: 'tasks' as const, request: request({ CPU: 4 }), count: 124 };
  const gpus = {
    id: 'train-llm-7b',
    requests: Array.from({ length: 8 }, () => request({ GPU: 1, CPU: 4 })),
    details: 'STRICT_SPREAD',
  };
  return {
    demand: {
      tasks: [
        { request: cpu.request, count: 124 },
        { request: request({ GPU: 4, CPU: 16 }), count: 2 },
      ],
      gangs: [gpus],
      standing: [],
    },
    waiting: [
      {
        demand: cpu,
        for: [
          { type: 'cpu-large', why: { kind: 'upscaling-speed', pending: 24, allowed: 24 } },
          {
            type: 'cpu-spot',
            zone: 'eu-central-1b',
            market: 'spot',
            why: {
              kind: 'refused',
              refusal: {
                type: 'cpu-spot',
                zone: 'eu-central-1b',
                market: 'spot',
                reason: 'no-capacity',
                times: 3,
                last: now - 20_000,
                until: now + 95_000,
              },
            },
          },
          { type: 'gpu-a10', why: { kind: 'dearer', price: 1.006, chosen: 0.241 } },
        ],
        until: now + 95_000,
        text: '24 launches are under way, as many as upscaling_speed allows; spot capacity in zone b was refused three times',
      },
      {
        demand: { kind: 'gang', gang: 'train-llm-7b' },
        for: [{ type: 'gpu-a10', why: { kind: 'type-limit', max: 120 } }],
        text: 'all eight parts need room at once and gpu-a10 is at its limit of 120',
      },
    ],
    infeasible: [
      {
        kind: 'tasks',
        request: request({ GPU: 4, CPU: 16 }),
        count: 2,
        types: [
          { type: 'gpu-a10', why: { kind: 'too-small', resource: 'GPU', asked: 4, has: 1 } },
          { type: 'cpu-large', why: { kind: 'too-small', resource: 'GPU', asked: 4, has: 0 } },
        ],
        text: 'no node type has 4 GPU; the nearest is gpu-a10 with 1',
      },
    ],
  };
}

export function seedEvents(
  count: number,
  now: number,
  nodes: readonly NodeAnswer[],
  jobs: readonly Job[],
  random: () => number,
): EventAnswer[] {
  return Array.from({ length: count }, (_, index) => {
    const node = pick(nodes, random);
    const job = pick(jobs, random);
    const kinds = [
      { code: 'MANTA_JOB_OVER', level: 'info' as const, text: `${job.id} succeeded after 4 min 12 s`, job: job.id },
      {
        code: 'MANTA_AUTOSCALER_RUNNING',
        level: 'info' as const,
        text: `${node.instance} is running after 41 s`,
        instance: node.instance,
        type: node.type,
      },
      {
        code: 'MANTA_AUTOSCALER_LAUNCHING',
        level: 'info' as const,
        text: `launching 6 × cpu-large for 48 × {CPU: 4} of queued jobs`,
        type: 'cpu-large',
      },
      {
        code: 'MANTA_AUTOSCALER_ENDING',
        level: 'info' as const,
        text: `draining ${node.instance}: idle for 5 min, timeout 5 min`,
        instance: node.instance,
        type: node.type,
      },
      {
        code: 'MANTA_AUTOSCALER_REFUSED',
        level: 'warn' as const,
        text: 'cpu-spot in eu-central-1b: no capacity; not asked again for 2 min',
        type: 'cpu-spot',
      },
      { code: 'MANTA_JOB_OVER', level: 'error' as const, text: `${job.id} failed: exit code 1`, job: job.id },
      { code: 'MANTA_AUTOSCALER_ACTION_DROPPED', level: 'debug' as const, text: 'pass of 1.8 ms: nothing to do' },
    ];
    return { seq: index + 1, at: now - (count - index) * 1700, ...kinds[Math.floor(random() ** 1.6 * kinds.length)]! };
  });
}

/** A day of history in which the cluster breathes with the working day. */
export function seedHistory(
  count: number,
  now: number,
  random: () => number,
): { samples: SamplePoint[]; marks: Mark[] } {
  const samples: SamplePoint[] = [];
  const marks: Mark[] = [];
  const length = 24 * 3_600_000;
  const step = 15_000;
  let before: Record<string, number> = {};
  for (let at = now - length; at <= now; at += step) {
    const until = (now - at) / 3_600_000;
    const wave = Math.max(
      0.06,
      Math.min(1, 1.02 - until * 0.9 + (until > 1.1 ? 0.5 + 0.4 * Math.sin(at / 4_000_000) : 0)),
    );
    const nodes: Record<string, number> = { head: 1 };
    for (const [index, type] of nodeTypes.entries()) {
      if (index === 0) continue;
      const portion = Math.max(2, Math.round(((shares[index] ?? 0) * count) / 9));
      const wanted = Math.min(
        Math.round((shares[index] ?? 0) * count),
        Math.round((wave * (shares[index] ?? 0) * count) / portion) * portion,
      );
      nodes[type.name] = Math.max(index === 1 ? 2 : 0, wanted);
      const was = before[type.name] ?? wanted;
      if (wanted > was) {
        marks.push({ at, kind: 'launch', type: type.name, count: wanted - was, because: pick(reasons, random) });
        nodes[`${type.name}+`] = Math.ceil((wanted - was) / 2);
      } else if (wanted < was) {
        marks.push({ at, kind: 'end', type: type.name, count: was - wanted, because: 'idle for 5 min, timeout 5 min' });
      }
    }
    if (random() < 0.004) {
      marks.push({
        at,
        kind: 'failure',
        type: 'cpu-spot',
        count: 4,
        because: 'the provider had no capacity in eu-central-1b',
      });
    }
    before = nodes;
    const cpus = (nodes['cpu-large'] ?? 0) * 32 + (nodes['cpu-spot'] ?? 0) * 16 + 8;
    const gpus = nodes['gpu-a10'] ?? 0;
    const use = 0.62 + 0.3 * Math.sin(at / 900_000);
    samples.push({
      at,
      nodes,
      usage: {
        CPU: { used: Math.floor(cpus * use), total: cpus },
        GPU: { used: Math.floor(gpus * Math.min(1, use + 0.1)), total: gpus },
        memory: { used: cpus * 4 * gib * use * 0.8, total: cpus * 4 * gib },
      },
      queued: Math.floor(140 * wave),
      running: Math.floor(220 * wave),
    });
  }
  return { samples, marks };
}
