import type { InvocationOf, Run } from '../../command.ts';
import { cliErrors } from '../../errors.ts';
import { withHead } from '../../shared/cluster-connection.ts';
import type { requestResourcesOptions } from './declaration.ts';

interface Bundle {
  readonly resources: Readonly<Record<string, number>>;
  readonly count: number;
}

export const run: Run<typeof requestResourcesOptions> = (invocation, io) => {
  const bundles = bundlesOf(invocation);
  return withHead(invocation, io, async (http) => {
    const answer = await http.json('POST', '/api/manta/v1/request-resources', { json: { bundles }, repeatable: true });
    const count = bundles.reduce((sum, bundle) => sum + bundle.count, 0);
    const words =
      count === 0
        ? 'withdrew the request'
        : `reserved capacity for ${count} ${count === 1 ? 'bundle' : 'bundles'} until 'manta request-resources --clear'`;
    io.out(io.json ? `${JSON.stringify(answer)}\n` : `${words}\n`);
    return 0;
  });
};

/** As Ray counts it: `num_cpus` is that many bundles of one CPU, beside the others. */
function bundlesOf({ options }: InvocationOf<typeof requestResourcesOptions>): Bundle[] {
  const { numCpus: cpus, bundles: text, clear } = options;
  const bad = (option: string, value: string, expected: string): Error =>
    cliErrors.BadValue({ command: 'manta request-resources', option, value, expected });
  if (clear) {
    return [];
  }
  if (cpus === undefined && text === undefined)
    throw cliErrors.MissingArgument({
      command: 'manta request-resources',
      argument: '--num-cpus, --bundles or --clear',
      usage: 'manta request-resources --num-cpus N',
    });
  if (cpus !== undefined && cpus < 0) throw bad('--num-cpus', String(cpus), 'a number of CPUs');
  const own = cpus === undefined || cpus === 0 ? [] : [{ resources: { CPU: 1 }, count: cpus }];
  return [...own, ...(text === undefined ? [] : readBundles(text, bad))];
}

function readBundles(text: string, bad: (option: string, value: string, expected: string) => Error): Bundle[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (!Array.isArray(value) || !value.every(isBundle))
    throw bad('--bundles', text.slice(0, 200), 'a JSON list of resources such as [{"CPU": 2}, {"GPU": 1}]');
  const counts = new Map<string, Bundle>();
  for (const resources of value as Record<string, number>[]) {
    const key = JSON.stringify(Object.entries(resources).sort(([a], [b]) => (a < b ? -1 : 1)));
    counts.set(key, { resources, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()];
}

const isBundle = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((amount) => typeof amount === 'number' && amount >= 0);
