import type { demandRoutes } from '../../api/demand.ts';
import type { BodyOf } from '../../api/route.ts';
import type { TaskDemand } from '../../core/demand.ts';

/** What the bundles of a request for resources ask for. */
export const bundlesOf = ({ bundles }: BodyOf<typeof demandRoutes.request>): TaskDemand[] =>
  bundles.map(({ resources, count = 1 }) => ({ request: { resources, selectors: [], placement: [] }, count }));
