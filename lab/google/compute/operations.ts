import type { IncomingMessage } from 'node:http';
import { type Caller, handlers, type Request } from '../caller.ts';
import { googleError } from '../errors.ts';
import type { ComputeOperation } from '../operations.ts';
import { aggregatedOf, listOf } from '../paging.ts';
import type { GoogleWorld } from '../world.ts';

/** How long a call that waits for an operation waits at most. */
const longestWait = 120_000;

const scopeOf = (path: ReadonlyMap<string, string>): string => {
  const [zone, region] = [path.get('zone'), path.get('region')];
  return zone !== undefined ? `zones/${zone}` : region !== undefined ? `regions/${region}` : 'global';
};

/** Waits before the call takes effect, where it is one that waits: until its operation ends, or its caller hangs up. */
export async function waitsFor(
  world: GoogleWorld,
  name: string,
  { path }: Request,
  request: IncomingMessage,
): Promise<void> {
  if (!name.endsWith('Operations.wait')) return;
  const project = world.project(path.get('project') ?? '');
  const operation = project?.operations.get(scopeOf(path), path.get('operation') ?? '');
  if (operation === undefined || operation.done) return;
  const ends = new AbortController();
  request.socket.once('close', () => ends.abort());
  world.cloud.clock.sleep(longestWait, ends.signal).then(
    () => ends.abort(),
    () => {},
  );
  await operation.ended(ends.signal);
  ends.abort();
}

function named({ path }: Request, caller: Caller): ComputeOperation {
  const scope = scopeOf(path);
  const name = path.get('operation')!;
  const whole = `projects/${caller.projectId}/${scope}/operations/${name}`;
  caller.may(`compute.${caller.name.split('.')[0]}.get`, whole);
  const found = caller.project.operations.get(scope, name);
  if (found === undefined) throw googleError('notFound', `The resource '${whole}' was not found`);
  return found;
}

const show = (request: Request, caller: Caller): object => named(request, caller).shown();

function list(request: Request, caller: Caller): object {
  const scope = scopeOf(request.path);
  const path = `projects/${caller.projectId}/${scope}/operations`;
  caller.may(`compute.${caller.name.split('.')[0]}.list`, path);
  const items = caller.project.operations.of(scope).map((each) => each.shown());
  return listOf(request, caller.world.cloud.settings.page_size, { kind: 'operationList', path }, items);
}

export const operationHandlers = handlers({
  'zoneOperations.get': show,
  'zoneOperations.wait': show,
  'zoneOperations.list': list,
  'regionOperations.get': show,
  'regionOperations.wait': show,
  'regionOperations.list': list,
  'globalOperations.get': show,
  'globalOperations.wait': show,
  'globalOperations.list': list,

  'globalOperations.aggregatedList': (request: Request, caller) => {
    caller.may('compute.globalOperations.list');
    const { world, project } = caller;
    const { regions } = world.cloud.catalog;
    const scopes = [
      'global',
      ...Object.keys(regions).map((each) => `regions/${each}`),
      ...Object.values(regions)
        .flat()
        .map((each) => `zones/${each}`),
    ];
    const items = scopes.flatMap((scope) =>
      project.operations.of(scope).map((each) => ({ scope, item: each.shown() })),
    );
    const path = `projects/${project.id}/aggregated/operations`;
    const about = { kind: 'operationAggregatedList', path, part: 'operations' };
    return aggregatedOf(request, world.cloud.settings.page_size, about, items);
  },
});
