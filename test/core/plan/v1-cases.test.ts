import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { GangDemand, PlacementRule, Request } from '../../../src/core/demand.ts';
import type { InstanceView } from '../../../src/core/instance.ts';
import type { Plan } from '../../../src/core/plan/plan.ts';
import { plan } from '../../../src/core/plan/plan-cluster.ts';
import type { ScalingType } from '../../../src/core/scaling.ts';
import { type Case, missingCases, readCases } from './cases.ts';
import { ask, launchCounts, now, specOf, typeOf, viewOf } from './clusters.ts';

/**
 * Ray's first autoscaler as a second opinion. It breaks ties by the later name, so types are given in that order here.
 * Compared are the launches by type, and for the packer alone also how many requests find no place.
 */
interface V1Type {
  readonly resources?: Readonly<Record<string, number>>;
  readonly max_workers?: number;
  readonly min_workers?: number;
}
type Amounts = Readonly<Record<string, number>>;

function typesOf(given: Readonly<Record<string, V1Type>>, existing: (name: string) => number): ScalingType[] {
  return Object.entries(given)
    .sort(([a], [b]) => (a < b ? 1 : -1))
    .map(([name, { resources, max_workers: max, min_workers: min }]) =>
      typeOf(name, resources ?? {}, { minWorkers: min ?? 0, maxWorkers: Math.max(0, (max ?? 0) - existing(name)) }),
    );
}

const unplaced = (made: Plan): number =>
  [...made.infeasible, ...made.waiting.map(({ demand }) => demand)].reduce(
    (sum, one) => sum + (one.kind === 'tasks' ? one.count : 0),
    0,
  );

const positive = (counts: Amounts): Amounts =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));

const plugin = 'the test plugs in its own scorer, which refuses every node';
const launchesHead = 'the first autoscaler counts on launching the head itself; the planner of Manta never does';

const deliberate: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  'v1_get_nodes_for.jsonl': { 135: plugin },
  'v1_get_nodes_to_launch.jsonl': {
    5: launchesHead,
    17: launchesHead,
    27: 'a gang that does not fit within the limits is not launched in part',
    28: 'a gang that does not fit within the limits is not launched in part',
    31: "never slower than Ray's second autoscaler, which would launch eight here",
    104: plugin,
    106: launchesHead,
    107: launchesHead,
    260: launchesHead,
    307: launchesHead,
    308: launchesHead,
  },
};

/** Runs every case; those that differ must be the deliberate ones. */
function compareAll(
  file: string,
  compare: (one: Case) => readonly [ours: unknown, theirs: unknown] | undefined,
): string {
  const different: number[] = [];
  let same = 0;
  for (const [position, one] of readCases(file).entries()) {
    const pair = compare(one);
    if (pair === undefined) continue;
    try {
      assert.deepEqual(pair[0], pair[1]);
      same++;
    } catch (error) {
      if (deliberate[file]?.[position] === undefined)
        throw new Error(`case ${position}: ${one.test}`, { cause: error });
      different.push(position);
    }
  }
  assert.deepEqual(different.map(String), Object.keys(deliberate[file] ?? {}));
  return `${same} the same, ${different.length} different on purpose`;
}

describe("the recorded cases of Ray's first autoscaler", () => {
  it('get_nodes_for: the same nodes for the same demand on an empty cluster', (t) => {
    const file = 'v1_get_nodes_for.jsonl';
    const missing = missingCases(file);
    if (missing !== undefined) return t.skip(missing);
    const told = compareAll(file, (one) => {
      const [types, existing, head, most, demands] = one.in.args as [
        Record<string, V1Type>,
        Amounts,
        string,
        number,
        Amounts[],
      ];
      const apart: PlacementRule[] =
        one.in.kwargs['strict_spread'] === true ? [{ kind: 'apart', label: 'pg', value: '' }] : [];
      const room = (name: string): number => (existing[name] ?? 0) - (name === head ? 1 : 0);
      const spec = specOf(
        typesOf(types, room).map((type) => ({ ...type, minWorkers: 0 })),
        { maxWorkers: most },
      );
      const asked = demands.map((resources) => ({ request: ask(resources, { placement: apart }), count: 1 }));
      const made = plan(viewOf([], { tasks: asked }), spec, now);
      const [nodes, residual] = one.out as [Amounts, Amounts[]];
      return [
        [launchCounts(made), unplaced(made)],
        [positive(nodes), residual.length],
      ];
    });
    t.diagnostic(told);
  });

  it('get_nodes_to_launch: the same launches for the same cluster', (t) => {
    const file = 'v1_get_nodes_to_launch.jsonl';
    const missing = missingCases(file);
    if (missing !== undefined) return t.skip(missing);
    const told = compareAll(file, (one) => {
      const world = worldOf(one);
      if (world === undefined) return undefined;
      return [launchCounts(plan(world.view, world.spec, now)), positive((one.out as [Amounts])[0])];
    });
    t.diagnostic(told);
  });
});

interface V1Scheduler {
  readonly head_node_type: string;
  readonly max_workers: number;
  readonly node_types: Readonly<Record<string, V1Type>>;
  readonly upscaling_speed: number;
  readonly provider: { readonly $obj: string; readonly mock_nodes?: Readonly<Record<string, V1Node>> };
}
interface V1Node {
  readonly internal_ip: string;
  readonly tags: Readonly<Record<string, string>>;
}

/** Undefined for cases that have no mock nodes to read the cluster from. */
function worldOf(one: Case) {
  const scheduler = one.in.args[0] as V1Scheduler;
  const named = [
    'nodes',
    'launching_nodes',
    'resource_demands',
    'unused_resources_by_ip',
    'pending_placement_groups',
    'max_resources_by_ip',
    'ensure_min_cluster_size',
  ];
  const at = (name: string): unknown => one.in.kwargs[name] ?? one.in.args[1 + named.indexOf(name)];
  const nodes = at('nodes') as string[];
  const mocks = scheduler.provider.mock_nodes;
  if (mocks === undefined || nodes.some((id) => mocks[id] === undefined)) return undefined;
  const unused = at('unused_resources_by_ip') as Record<string, Amounts>;
  const totals = at('max_resources_by_ip') as Record<string, Amounts>;
  const instances: InstanceView[] = nodes.flatMap((id) => {
    const { tags, internal_ip: ip } = mocks[id] as V1Node;
    const type = tags['ray-user-node-type'] ?? '';
    const resources = scheduler.node_types[type]?.resources;
    if (resources === undefined || tags['ray-node-type'] === 'unmanaged') return [];
    const available = unused[ip];
    return [
      {
        id,
        type,
        kind: tags['ray-node-type'] === 'head' ? 'head' : 'worker',
        status: available === undefined ? 'setting-up' : 'running',
        requestedAt: now - 60_000,
        since: now - 60_000,
        ...(available === undefined
          ? {}
          : { node: { id, total: totals[ip] ?? resources, available, labels: {}, idleFor: 0 } }),
      },
    ];
  });
  for (const [type, count] of Object.entries(at('launching_nodes') as Amounts))
    for (let n = 0; n < count; n++)
      instances.push({
        id: `launching-${type}-${n}`,
        type,
        kind: 'worker',
        status: 'queued',
        requestedAt: now - 60_000,
        since: now - 60_000,
      });
  const standing = (at('ensure_min_cluster_size') ?? []) as Amounts[];
  return {
    view: viewOf(instances, {
      tasks: (at('resource_demands') as Amounts[]).map((resources) => ({ request: ask(resources), count: 1 })),
      gangs: ((at('pending_placement_groups') ?? []) as V1Gang[]).map(gangOf),
      standing:
        standing.length === 0
          ? []
          : [{ requests: standing.map((resources) => ({ request: ask(resources), count: 1 })) }],
    }),
    spec: specOf(
      typesOf(scheduler.node_types, () => 0),
      {
        maxWorkers: scheduler.max_workers,
        upscalingSpeed: scheduler.upscaling_speed,
        headType: scheduler.head_node_type,
      },
    ),
  };
}

interface V1Gang {
  readonly bundles: readonly { readonly unit_resources: Amounts; readonly node_id?: string }[];
  readonly strategy?: string;
}

function gangOf({ bundles, strategy }: V1Gang, at: number): GangDemand {
  const kind = strategy === 'STRICT_SPREAD' ? 'apart' : strategy === 'STRICT_PACK' ? 'together' : undefined;
  const placement: PlacementRule[] = kind === undefined ? [] : [{ kind, label: `_PG_${at}`, value: '' }];
  return {
    id: `pg-${at}`,
    requests: bundles
      .filter(({ node_id: placed }) => !placed)
      .map(({ unit_resources: resources }): Request => ask(resources, { placement })),
  };
}
