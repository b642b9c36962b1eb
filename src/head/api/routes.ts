import type { Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { readOutsideJson } from '../../base/outside-json.ts';
import { version } from '../../base/version.ts';
import { statusText } from '../../core/status/text.ts';
import { errorAnswer, failureAnswer } from '../../jobs/api-answer.ts';
import { apiErrors } from '../../jobs/api-errors.ts';
import type { JobsEnv } from '../../jobs/auth.ts';
import { requireAdmin } from '../../jobs/permissions.ts';
import { headErrors } from '../errors.ts';
import type { Head } from '../head.ts';
import { clusterAnswer, demandAnswer, isSynced, nodeAnswers, unknownOf } from '../observer.ts';
import { readBundles } from './bundles.ts';
import { drainReason } from './drain-reason.ts';
import { journalAnswer } from './journal.ts';
import { openapiDocument } from './openapi.ts';
import { engineOf, launchedBecause, recentFailures, whyAnswer } from './questions.ts';
import { headStatuses } from './statuses.ts';
import { openStream } from './stream.ts';
import type { ClusterAnswer, ExtendBody, NodeAnswer } from './types.ts';

const base = '/api/manta/v1';
const largestBody = 64 << 10;

/** The cluster's part of Manta's own API. Authentication stands in front of it. */
export function mountHeadApi(app: Hono<JobsEnv>, head: Head): void {
  const small = bodyLimit({
    maxSize: largestBody,
    onError: (c) => errorAnswer(c, apiErrors.TooLarge({ limit: largestBody }), 413),
  });
  const route = (handler: (c: Context<JobsEnv>) => Promise<Response> | Response) => async (c: Context<JobsEnv>) => {
    try {
      return await handler(c);
    } catch (error) {
      return failureAnswer(c, error, headStatuses);
    }
  };
  const number = (c: Context, name: string): number | undefined => {
    const text = c.req.query(name);
    return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  };

  app.get(
    `${base}/cluster`,
    route((c) => c.json(clusterOf(head, c.get('user').name))),
  );
  app.get(
    `${base}/nodes`,
    route((c) => c.json({ nodes: nodesOf(head) })),
  );
  app.get(
    `${base}/demand`,
    route((c) => c.json(demandAnswer(head.sight()))),
  );
  app.get(
    `${base}/events`,
    route((c) => {
      const after = number(c, 'after');
      const limit = Math.min(number(c, 'limit') ?? 200, 2_000);
      return c.json({ events: after === undefined ? head.events.last(limit) : head.events.after(after, limit) });
    }),
  );
  app.get(
    `${base}/history`,
    route((c) => {
      const until = number(c, 'until') ?? head.clock.now();
      return c.json(
        head.history.between(
          number(c, 'since') ?? until - 3_600_000,
          until,
          Math.min(number(c, 'points') ?? 600, 5_000),
        ),
      );
    }),
  );
  app.get(
    `${base}/journal`,
    route((c) => {
      requireAdmin(c.get('user'), 'read the journal');
      return c.json(journalAnswer(head, Math.min(number(c, 'limit') ?? 1_000, 10_000)));
    }),
  );
  app.get(
    `${base}/openapi.json`,
    route((c) => c.json(openapiDocument(version))),
  );
  app.get(`${base}/stream`, (c) =>
    openStream(c, head, { cluster: () => clusterOf(head, c.get('user').name), nodes: () => nodesOf(head) }),
  );
  app.get(
    `${base}/status`,
    route((c) => {
      const status = recentFailures(head);
      const sight = head.sight();
      return c.json({
        text: statusText(status, localTime),
        verboseText: statusText(status, localTime, { verbose: true }),
        status,
        synced: isSynced(sight),
        unknown: unknownOf(sight, engineOf(head)),
        ...turnOffOf(head),
      });
    }),
  );
  app.get(
    `${base}/why/:kind/:id`,
    route((c) => c.json(whyAnswer(head, c.req.param('kind') ?? '', c.req.param('id') ?? '', c.get('user')))),
  );
  app.post(
    `${base}/request-resources`,
    small,
    route(async (c) => {
      requireAdmin(c.get('user'), 'request resources');
      const requests = readBundles(await jsonBody(c));
      await head.engine.requestResources(requests, AbortSignal.timeout(10_000));
      head.wake();
      return c.json({ requests });
    }),
  );
  const nodeNamed = (id: string): NodeAnswer => {
    const found = nodesOf(head).find(
      (each) => each.instance === id || (each.node !== undefined && each.node.startsWith(id) && id.length >= 6),
    );
    if (found === undefined) throw headErrors.NoSuchThing({ kind: 'node', id });
    return found;
  };
  app.post(
    `${base}/nodes/:id/drain`,
    small,
    route(async (c) => {
      requireAdmin(c.get('user'), 'drain a node');
      const id = c.req.param('id') ?? '';
      const found = nodeNamed(id);
      if (found.node === undefined) throw headErrors.NoSuchThing({ kind: 'node', id });
      const reason = drainReason(await jsonBody(c), head.clock.now());
      const answer = await head.engine.drain(found.node, reason, AbortSignal.timeout(10_000));
      if (answer.accepted && found.machine !== undefined) head.rest(found.machine);
      head.wake();
      return c.json({ instance: found.instance, ...answer });
    }),
  );
  app.post(
    `${base}/nodes/:id/end`,
    route((c) => {
      requireAdmin(c.get('user'), 'end a node');
      const { instance } = nodeNamed(c.req.param('id') ?? '');
      return c.json({ instance, accepted: head.end(instance) });
    }),
  );
  app.post(
    `${base}/extend`,
    small,
    route(async (c) => {
      requireAdmin(c.get('user'), 'keep the cluster for longer');
      const { by, until } = ((await jsonBody(c)) ?? {}) as ExtendBody;
      const turnOff = head.extend(
        typeof by === 'number' ? { by } : { until: typeof until === 'number' ? until : Number.NaN },
      );
      return c.json(turnOff === undefined ? {} : { turnOff });
    }),
  );
  app.post(
    `${base}/reload`,
    route((c) => {
      requireAdmin(c.get('user'), 'change the cluster');
      head.reload();
      return c.json({ name: head.folder.name });
    }),
  );
}

/** Undefined for what is no JSON. */
async function jsonBody(c: Context): Promise<unknown> {
  try {
    return readOutsideJson(await c.req.text());
  } catch {
    return undefined;
  }
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
