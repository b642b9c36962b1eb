import type { Instant } from '../../base/time/clock.ts';
import type { GangDemand, TaskDemand } from '../demand.ts';
import { amountOf, type Resources } from '../resources.ts';
import { memoryText, pythonBundle, pythonFloat } from './python-text.ts';
import type { ClusterStatus, StatusNode } from './status.ts';

const failuresShown = 20;

/**
 * Ray's status text to the letter. Two lines say more than Ray's do: `launching` counts instances, not requests, and
 * gangs of different shapes are listed apart.
 *
 * @param localTime `2026-01-31 12:34:56.000000` of an instant, in the reader's time zone.
 */
export function statusText(
  status: ClusterStatus,
  localTime: (at: Instant) => string,
  { verbose = false }: { readonly verbose?: boolean } = {},
): string {
  const header = `${'='.repeat(8)} Autoscaler status: ${localTime(status.at)} ${'='.repeat(8)}`;
  const rule = '-'.repeat(header.length);
  return [
    header,
    ...(verbose ? timingLines(status) : []),
    'Node status',
    rule,
    'Active:',
    ...typeCounts(status.active, ' (no active nodes)'),
    'Idle:',
    ...typeCounts(status.idle, ' (no idle nodes)'),
    'Pending:',
    ...pendingLines(status),
    'Recent failures:',
    ...failureLines(status, localTime, verbose),
    '',
    'Resources',
    rule,
    'Total Usage:',
    ...usageLines(sumUsage([...status.active, ...status.idle]), verbose).map((line) => ` ${line}`),
    '',
    'From request_resources:',
    ...standingLines(status),
    'Pending Demands:',
    ...demandLines(status),
    ...(verbose ? [...status.active, ...status.idle].flatMap(nodeLines) : []),
  ]
    .join('\n')
    .trim();
}

function timingLines({ timings }: ClusterStatus): string[] {
  const line = (label: string, ms: number | undefined): string[] =>
    ms === undefined ? [] : [`${label}: ${(ms / 1000).toFixed(6)}s`];
  const lines = [
    ...line('GCS request time', timings?.engineMs),
    ...line('Node Provider non_terminated_nodes time', timings?.providerMs),
    ...line('Autoscaler iteration time', timings?.passMs),
  ];
  return lines.length === 0 ? [] : [...lines, ''];
}

function typeCounts(nodes: readonly StatusNode[], none: string): string[] {
  const counts = new Map<string, number>();
  for (const node of nodes) counts.set(node.type, (counts.get(node.type) ?? 0) + 1);
  return counts.size === 0 ? [none] : [...counts].map(([type, count]) => ` ${count} ${type}`);
}

function pendingLines({ launching, pending }: ClusterStatus): string[] {
  const counts = new Map<string, number>();
  for (const { type, count } of launching) counts.set(type, (counts.get(type) ?? 0) + count);
  const lines = [
    ...[...counts].map(([type, count]) => ` ${type}, ${count} launching`),
    ...pending.map(({ instance, type, details }) => ` ${instance}: ${type}, ${details.toLowerCase()}`),
  ];
  return lines.length === 0 ? [' (no pending nodes)'] : lines;
}

function failureLines(status: ClusterStatus, localTime: (at: Instant) => string, verbose: boolean): string[] {
  const lines = [
    ...[...status.failedLaunches]
      .sort((a, b) => b.at - a.at)
      .map(
        ({ type, at, reason }) =>
          ` ${type}: LaunchFailed (latest_attempt: ${localTime(at).slice(11, 19)})${verbose ? ` - ${reason}` : ''}`,
      ),
    ...status.failedNodes.map(({ type, instance }) => ` ${type}: NodeTerminated (instance_id: ${instance})`),
  ].slice(0, failuresShown);
  return lines.length === 0 ? [' (no failures)'] : lines;
}

function standingLines({ demand }: ClusterStatus): string[] {
  const lines = demand.standing.flatMap(({ requests }) =>
    requests.map(({ request, count }) => ` ${bundleText(request.resources)}: ${count} from request_resources()`),
  );
  return lines.length === 0 ? [' (none)'] : lines;
}

function demandLines({ demand }: ClusterStatus): string[] {
  const lines = [...taskLines(demand.tasks), ...gangLines(demand.gangs)];
  return lines.length === 0 ? [' (no resource demands)'] : lines;
}

function taskLines(tasks: readonly TaskDemand[]): string[] {
  const all = new Map<string, number>();
  const inGroups = new Map<string, number>();
  for (const { request, count } of tasks) {
    const named = Object.entries(request.resources).map(([name, amount]) => ({ ...groupResource(name), amount }));
    const grouped = named.some(({ group }) => group !== undefined);
    const bundle = new Map(named.map(({ resource, amount }) => [resource, amount]));
    if (grouped) bundle.delete('bundle');
    if (bundle.size === 0) continue;
    const text = pythonBundle([...bundle].sort(([a], [b]) => (a < b ? -1 : 1)));
    all.set(text, (all.get(text) ?? 0) + count);
    if (grouped) inGroups.set(text, (inGroups.get(text) ?? 0) + count);
  }
  return [...all].map(([bundle, count]) => {
    const grouped = inGroups.get(bundle);
    return ` ${bundle}: ${count}+ pending tasks/actors${grouped === undefined ? '' : ` (${grouped}+ using placement groups)`}`;
  });
}

function gangLines(gangs: readonly GangDemand[]): string[] {
  const counts = new Map<string, number>();
  for (const gang of gangs) {
    const shapes = new Map<string, number>();
    for (const { resources } of gang.requests) {
      const text = bundleText(resources);
      shapes.set(text, (shapes.get(text) ?? 0) + 1);
    }
    const strategy = /:([A-Z_]+)\|/.exec(gang.details ?? '')?.[1] ?? 'PACK';
    const text = `${[...shapes].map(([shape, count]) => `${shape} * ${count}`).join(', ')} (${strategy})`;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].map(([text, count]) => ` ${text}: ${count}+ pending placement groups`);
}

function nodeLines(node: StatusNode): string[] {
  return [
    '',
    `Node: ${node.instance} (${node.type})`,
    ` Id: ${node.id}`,
    ...(node.idleFor > 0 ? [` Idle: ${Math.round(node.idleFor)} ms`] : []),
    ' Usage:',
    ...usageLines(sumUsage([node]), true).map((line) => `  ${line}`),
    ' Activity:',
    ...(node.activity.length === 0 ? ['  (no activity)'] : node.activity.map((line) => `  ${line}`)),
  ];
}

interface Usage {
  used: number;
  total: number;
}

function sumUsage(nodes: readonly StatusNode[]): Map<string, Usage> {
  const sums = new Map<string, Usage>();
  for (const { total, available } of nodes)
    for (const [name, amount] of Object.entries(total)) {
      const sum = sums.get(name) ?? { used: 0, total: 0 };
      sums.set(name, { used: sum.used + amount - amountOf(available, name), total: sum.total + amount });
    }
  return sums;
}

function usageLines(usage: Map<string, Usage>, verbose: boolean): string[] {
  const reserved = new Map<string, Usage>();
  for (const [name, { used, total }] of usage) {
    const { resource, group, indexed } = groupResource(name);
    if (group === undefined) continue;
    const sum = reserved.get(resource) ?? { used: 0, total: 0 };
    reserved.set(resource, indexed ? sum : { used: sum.used + used, total: sum.total + total });
  }
  const hidden = (name: string): boolean =>
    name.includes('node:') ||
    groupResource(name).group !== undefined ||
    (name.startsWith('accelerator_type:') && !verbose);
  return [...usage]
    .filter(([name]) => !hidden(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { used, total }]) => {
      const amount = name === 'memory' || name === 'object_store_memory' ? memoryText : pythonFloat;
      const group = reserved.get(name);
      const own = group ? used - group.total + group.used : used;
      const inGroups = group
        ? ` (${amount(group.used)} used of ${amount(group.total)} reserved in placement groups)`
        : '';
      return `${amount(own)}/${amount(total)} ${name}${inGroups}`;
    });
}

/** Ray names a placement group's share `CPU_group_<id>` and, once more per bundle, `CPU_group_<index>_<id>`. */
function groupResource(name: string): { resource: string; group?: string; indexed: boolean } {
  const indexed = /^(.+)_group_(\d+)_([0-9a-zA-Z]+)$/.exec(name);
  if (indexed) return { resource: indexed[1] as string, group: indexed[3] as string, indexed: true };
  const wildcard = /^(.+)_group_([0-9a-zA-Z]+)$/.exec(name);
  if (wildcard) return { resource: wildcard[1] as string, group: wildcard[2] as string, indexed: false };
  return { resource: name, indexed: false };
}

const bundleText = (resources: Resources): string => pythonBundle(Object.entries(resources));
