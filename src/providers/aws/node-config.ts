import type { PlainMap } from '../../core/spec/cluster.ts';
import { type MemberProblem, MemberTable } from '../members.ts';
import { runInstances } from './gen/run-instances.ts';

/** What a launch itself sets, and Ray's own member: subnets to choose from. */
const ownMembers: ReadonlySet<string> = new Set(['MinCount', 'MaxCount', 'ClientToken', 'DryRun', 'SubnetIds']);
const table = new MemberTable(runInstances, { extra: { RunInstances: ['SubnetIds:[string]'] }, set: ownMembers });

/** What RunInstances does not take of a `node_config`. Paths start under it. */
export function checkNodeConfig(config: PlainMap): readonly MemberProblem[] {
  const problems: MemberProblem[] = [];
  table.read(config, 'RunInstances', [], problems);
  return problems;
}

/** A `node_config` as RunInstances takes it, with every scalar of the type that AWS wants, and without what a launch sets. */
export function launchMembers(config: PlainMap): Readonly<Record<string, unknown>> {
  const all = table.read(config, 'RunInstances', [], []) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.entries(all).filter(([name]) => !ownMembers.has(name)));
}
