import type { Hono } from 'hono';
import type { Wrong } from '../../api/check.ts';
import { clusterRoutes } from '../../api/cluster.ts';
import { demandRoutes } from '../../api/demand.ts';
import { apiErrors } from '../../api/errors.ts';
import { limits } from '../../api/limits.ts';
import { openapiDocument } from '../../api/openapi.ts';
import { pastRoutes } from '../../api/past.ts';
import type { ClusterAnswer, NodeAnswer, StatusAnswer } from '../../api/types.ts';
import { version } from '../../base/version.ts';
import { statusText } from '../../core/status/text.ts';
import { mountOn } from '../../jobs/manta-api/mount.ts';
import type { JobsEnv } from '../../jobs/users/auth.ts';
import { headErrors } from '../errors.ts';
import type { Head } from '../head.ts';
import { clusterAnswer, demandAnswer, firstOf, isSynced, nodeAnswers, unknownOf } from '../report/observer.ts';
import { bundlesOf } from './bundles.ts';
import { drainReason } from './drain-reason.ts';
import { journalAnswer } from './journal.ts';
import { engineOf, launchedBecause, recentFailures, whyAnswer } from './questions.ts';
import { headStatuses } from './statuses.ts';
import { openStream } from './stream.ts';

/** The cluster's part of Manta's own API. Authentication stands in front of it. */
export function mountHeadApi(app: Hono<JobsEnv>, head: Head): void {
  const on = mountOn(app, headStatuses, (wrong) => apiErrors.BadValue(wrong));
  const problem = ({ field, problem: what }: Wrong): { problem: string } => ({ problem: `${field} ${what}` });

  on(clusterRoutes.get, ({ user }) => clusterOf(head, user.name));
  on(clusterRoutes.nodes, ({ query: { after, limit = limits.nodes.usual } }) => {
    const all = nodesOf(head);
    const from = after === undefined ? 0 : all.findIndex(({ instance }) => instance === after) + 1;
    const nodes = all.slice(from, from + Math.min(limits.nodes.most, Math.max(1, limit)));
    const last = nodes.at(-1);
    return { nodes, ...(from + nodes.length < all.length && last && { next: last.instance }) };
  });
  on(clusterRoutes.status, () => statusAnswer(head));
  on(demandRoutes.get, () => demandAnswer(head.sight()));
  on(pastRoutes.events, ({ query: { after, limit = limits.events.usual } }) => {
    const most = Math.min(limit, limits.events.most);
    return { events: after === undefined ? head.events.last(most) : head.events.after(after, most) };
  });
  on(pastRoutes.history, ({ query: { until = head.clock.now(), since = until - 3_600_000, points } }) =>
    head.history.between(since, until, Math.min(points ?? limits.points.usual, limits.points.most)),
  );
  on(pastRoutes.journal, ({ query: { limit = limits.facts.usual } }) =>
    journalAnswer(head, Math.min(limit, limits.facts.most)),
  );
  on(pastRoutes.openapi, () => openapiDocument(version));
  on(pastRoutes.stream, ({ c, user, query }) =>
    openStream(c, head, query.after, { cluster: () => clusterOf(head, user.name), nodes: () => nodesOf(head) }),
  );
  on(pastRoutes.why, ({ params, user }) => whyAnswer(head, params.kind, params.id, user));
  on(
    demandRoutes.request,
    async ({ body }) => {
      const requests = bundlesOf(body);
      await head.engine.requestResources(requests, AbortSignal.timeout(10_000));
      head.wake();
      return { requests };
    },
    (wrong) => headErrors.BadBundles(problem(wrong)),
  );
  const nodeNamed = (id: string): NodeAnswer => {
    const found = nodesOf(head).find(
      (each) => each.instance === id || (each.node !== undefined && each.node.startsWith(id) && id.length >= 6),
    );
    if (found === undefined) throw headErrors.NoSuchThing({ kind: 'node', id });
    return found;
  };
  on(
    clusterRoutes.drain,
    async ({ params: { id }, body }) => {
      const found = nodeNamed(id);
      if (found.node === undefined) throw headErrors.NoSuchThing({ kind: 'node', id });
      const reason = drainReason(body, head.clock.now());
      const answer = await head.engine.drain(found.node, reason, AbortSignal.timeout(10_000));
      if (answer.accepted && found.machine !== undefined) head.rest(found.machine);
      head.wake();
      return { instance: found.instance, ...answer };
    },
    (wrong) => headErrors.BadDrain(problem(wrong)),
  );
  on(clusterRoutes.end, ({ params }) => {
    const { instance } = nodeNamed(params.id);
    return { instance, accepted: head.end(instance) };
  });
  on(
    clusterRoutes.extend,
    ({ body: { by, until = Number.NaN } }) => {
      const turnOff = head.extend(by === undefined ? { until } : { by });
      return turnOff === undefined ? {} : { turnOff };
    },
    () => headErrors.NoExtension({}),
  );
  on(clusterRoutes.reload, () => {
    head.reload();
    return { name: head.folder.name };
  });
}

function statusAnswer(head: Head): StatusAnswer {
  const status = recentFailures(head);
  const sight = head.sight();
  return {
    text: statusText(status, localTime),
    verboseText: statusText(status, localTime, { verbose: true }),
    status: { ...status, demand: firstOf(status.demand) },
    synced: isSynced(sight),
    unknown: unknownOf(sight, engineOf(head)),
    ...turnOffOf(head),
  };
}

function clusterOf(head: Head, user: string): ClusterAnswer {
  const { name } = head.folder;
  return clusterAnswer(head.sight(), {
    engine: engineOf(head),
    name,
    mantaVersion: version,
    startedAt: head.startedAt,
    user,
    spent: head.spent(),
    ...turnOffOf(head),
  });
}

function turnOffOf(head: Head): Pick<ClusterAnswer, 'turnOff'> {
  const turnOff = head.turnsOff();
  return turnOff === undefined ? {} : { turnOff };
}

const nodesOf = (head: Head): NodeAnswer[] => nodeAnswers(head.sight(), launchedBecause(head), head.addressOf);

/** `2026-01-31 12:34:56.789000`, as Python prints a local time. */
function localTime(at: number): string {
  const date = new Date(at);
  const local = new Date(at - date.getTimezoneOffset() * 60_000).toISOString();
  return `${local.slice(0, 10)} ${local.slice(11, 23)}000`;
}
