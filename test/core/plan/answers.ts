/** What counts in an answer in Ray's form: launches by type, ends by instance and cause, what found no place. */
type Fields = Readonly<Record<string, unknown>>;

export interface Answer {
  readonly launches: Readonly<Record<string, number>>;
  readonly ends: readonly string[];
  readonly requests: readonly string[];
  readonly gangs: readonly string[];
  readonly standing: readonly string[];
  readonly resources: Readonly<Record<string, number>>;
}

export function readAnswer(out: Fields): Answer {
  const list = (key: string): Fields[] => (out[key] ?? []) as Fields[];
  const launches: Record<string, number> = {};
  for (const { instance_type: type, count } of list('to_launch'))
    launches[String(type)] = (launches[String(type)] ?? 0) + Number(count);
  const resources = Object.entries((out['cluster_resources'] ?? {}) as Record<string, number>);
  return {
    launches,
    ends: list('to_terminate')
      .map((one) => `${String(one['instance_id'] ?? '')} ${String(one['cause'] ?? '')}`)
      .sort(),
    requests: list('infeasible_resource_requests').map(canonical).sort(),
    gangs: list('infeasible_gang_resource_requests').map(canonical).sort(),
    standing: list('infeasible_cluster_resource_constraints').map(canonical).sort(),
    resources: Object.fromEntries(resources.map(([name, amount]) => [name, Math.round(amount * 1e6) / 1e6])),
  };
}

/** Without type marks and with sorted keys. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([name]) => name !== '$pb');
  return `{${fields
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`)
    .join()}}`;
}
