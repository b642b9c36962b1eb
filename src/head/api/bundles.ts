import type { TaskDemand } from '../../core/demand.ts';
import { headErrors } from '../errors.ts';

const most = 10_000;

/** Reads the body of `POST /request-resources`: `{"bundles": [{"resources": {"CPU": 2}, "count": 3}]}`; an empty list withdraws the request. */
export function readBundles(body: unknown): TaskDemand[] {
  const bundles = (body as { bundles?: unknown } | undefined)?.bundles;
  if (!Array.isArray(bundles)) throw headErrors.BadBundles({ problem: "'bundles' must be a list" });
  if (bundles.length > most) throw headErrors.BadBundles({ problem: `more than ${most} bundles` });
  return bundles.map((bundle: unknown, index) => {
    const { resources, count = 1 } = (bundle ?? {}) as { resources?: unknown; count?: unknown };
    const amounts = typeof resources === 'object' && resources !== null ? Object.entries(resources) : [];
    if (amounts.length === 0) throw headErrors.BadBundles({ problem: `bundle ${index} has no resources` });
    for (const [name, amount] of amounts)
      if (typeof amount !== 'number' || !Number.isFinite(amount) || amount < 0)
        throw headErrors.BadBundles({ problem: `bundle ${index} asks for ${JSON.stringify(amount)} of '${name}'` });
    if (!Number.isInteger(count) || (count as number) < 1 || (count as number) > most)
      throw headErrors.BadBundles({ problem: `bundle ${index} has the count ${JSON.stringify(count)}` });
    return {
      request: { resources: Object.fromEntries(amounts), selectors: [], placement: [] },
      count: count as number,
    };
  });
}
