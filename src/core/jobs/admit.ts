import { amountOf, type Labels, type Resources, sumResources } from '../resources.ts';
import type { JobSpec } from './job.ts';
import { matchesLabels, parseSelector } from './labels.ts';

/** A node type as far as admission goes. */
export interface Capacity {
  readonly name: string;
  /** What one node of it offers. */
  readonly resources: Resources;
  readonly labels: Labels;
  /** How many nodes of it there can be at most. */
  readonly atMost: number;
}

/** Why no set of nodes that this cluster may ever have could hold a job. */
export interface InfeasibleJob {
  readonly request: Resources;
  readonly reason: 'labels' | 'one-node' | 'whole-cluster' | 'node-count';
  /** Resources that no node type with the job's labels has any of. */
  readonly unknown?: readonly string[];
  /** The type that comes nearest, with what it lacks. */
  readonly nearest?: {
    readonly type: string;
    readonly lacks: readonly { readonly name: string; readonly asked: number; readonly has: number }[];
  };
}

type Ask = Pick<JobSpec, 'resources' | 'labels' | 'gang'>;

/**
 * Undefined when the job could be held by nodes the cluster may have (all of them empty), otherwise why not. Never
 * refuses what could run; a list without types is a cluster whose capacity is not known, and holds anything.
 */
export function infeasibility(
  ask: Ask,
  types: readonly Capacity[],
  maxNodes = Number.POSITIVE_INFINITY,
): InfeasibleJob | undefined {
  const usable = types.filter((type) => type.atMost > 0);
  if (usable.length === 0) return undefined;
  const selector = parseSelector(ask.labels) ?? [];
  const matching = usable.filter((type) => matchesLabels(selector, type.labels));
  const bundles = ask.gang ? ask.gang.bundles : [ask.resources];
  if (matching.length === 0) return { request: bundles[0] ?? {}, reason: 'labels' };
  const pieces = ask.gang?.strategy === 'STRICT_PACK' ? [sumResources(bundles)] : bundles;
  for (const piece of pieces) {
    if (!matching.some((type) => holds(type.resources, piece)))
      return { request: piece, reason: 'one-node', ...offeredByNone(piece, matching), ...nearestType(piece, matching) };
  }
  return ask.gang ? gangInfeasibility(pieces, ask.gang.strategy, matching, maxNodes) : undefined;
}

function gangInfeasibility(
  pieces: readonly Resources[],
  strategy: string,
  types: readonly Capacity[],
  maxNodes: number,
): InfeasibleJob | undefined {
  const nodes = Math.min(
    maxNodes,
    types.reduce((sum, type) => sum + type.atMost, 0),
  );
  if (strategy === 'STRICT_SPREAD' && pieces.length > nodes)
    return { request: sumResources(pieces), reason: 'node-count' };
  const asked = sumResources(pieces);
  for (const [name, amount] of Object.entries(asked)) {
    const most = types.reduce((sum, type) => sum + amountOf(type.resources, name) * Math.min(type.atMost, maxNodes), 0);
    if (amount > most) return { request: asked, reason: 'whole-cluster' };
  }
  return undefined;
}

/** Amounts are compared with the tolerance of Ray's fixed-point resources (a ten-thousandth). */
const holds = (offer: Resources, asked: Resources): boolean =>
  Object.entries(asked).every(([name, amount]) => amount <= amountOf(offer, name) + 5e-5);

function offeredByNone(asked: Resources, types: readonly Capacity[]): Pick<InfeasibleJob, 'unknown'> {
  const unknown = Object.entries(asked)
    .filter(([name, amount]) => amount > 0 && types.every((type) => amountOf(type.resources, name) === 0))
    .map(([name]) => name);
  return unknown.length > 0 ? { unknown } : {};
}

/** Fewest resources missing first, then the smallest missing share of what was asked. */
function nearestType(asked: Resources, types: readonly Capacity[]): Pick<InfeasibleJob, 'nearest'> {
  const ranked = types
    .map((type) => {
      const lacks = Object.entries(asked)
        .map(([name, amount]) => ({ name, asked: amount, has: amountOf(type.resources, name) }))
        .filter((each) => each.asked > each.has);
      return { type: type.name, lacks, share: lacks.reduce((sum, each) => sum + 1 - each.has / each.asked, 0) };
    })
    .sort((a, b) => a.lacks.length - b.lacks.length || a.share - b.share);
  const best = ranked[0];
  return best ? { nearest: { type: best.type, lacks: best.lacks } } : {};
}

/** The refusal in words. */
export function infeasibleText(infeasible: InfeasibleJob): string {
  const asked = `{${Object.entries(infeasible.request)
    .map(([name, amount]) => `${name}: ${amount}`)
    .join(', ')}}`;
  switch (infeasible.reason) {
    case 'labels':
      return 'no node type has the labels that the job requires';
    case 'node-count':
      return `the job needs more nodes at once than the cluster can have: ${asked}`;
    case 'whole-cluster':
      return `the job needs more than all nodes together can ever provide: ${asked}`;
    case 'one-node': {
      // A type that has nothing of it is not near.
      if (infeasible.unknown)
        return `no node type provides ${infeasible.unknown.map((name) => `'${name}'`).join(' or ')}`;
      const nearest = infeasible.nearest;
      const lacks = nearest?.lacks.map((each) => `${each.name} ${each.has} of ${each.asked}`).join(', ');
      return `no node type can fit ${asked}${nearest ? `; the nearest is '${nearest.type}', which provides ${lacks}` : ''}`;
    }
  }
}
