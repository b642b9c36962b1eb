import type { Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import * as v from 'valibot';
import { check, readQuery, type Wrong } from '../../api/check.ts';
import { apiErrors } from '../../api/errors.ts';
import { apiBase, type ParamOf, type Route, type WireOf, type WireQuery } from '../../api/route.ts';
import type { Schema } from '../../api/schema.ts';
import type { MantaError } from '../../base/errors.ts';
import { readOutsideJson } from '../../base/outside-json.ts';
import { errorAnswer, failureAnswer, type Statuses } from '../api-answer.ts';
import type { JobsEnv } from '../users/auth.ts';
import { requireAdmin } from '../users/permissions.ts';
import type { User } from '../users/users.ts';

/** A request that its route has taken: everything in it is as the route declares it. */
interface Asked<Path extends string, Query, Body> {
  readonly user: User;
  readonly params: Readonly<Record<ParamOf<Path>, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly c: Context<JobsEnv>;
}

type Refuse = (wrong: Wrong) => MantaError;
type Handled<Answer> = Promise<Response | Answer> | Response | Answer;

/**
 * Puts routes on an app as they are declared: who may ask, how large a body may be, what values may be given. A handler
 * gets typed values and returns the answer, or a Response where the answer is not plain JSON.
 */
export function mountOn(app: Hono<JobsEnv>, statuses: Statuses, refuse: Refuse) {
  return <
    Path extends string,
    Query extends v.ObjectEntries,
    Body extends Schema | undefined,
    Answer extends Schema | undefined,
  >(
    each: Route<Path, Query, Body, Answer>,
    handler: (asked: Asked<Path, WireQuery<Query>, WireOf<Body>>) => Handled<WireOf<Answer>>,
    refuseBody: Refuse = refuse,
  ): void => {
    const { query: entries, body, action, bodyLimit: most } = each as Route;
    const query = entries && v.object(entries);
    const read = (schema: Schema, value: unknown, refused: Refuse, whole: string): unknown => {
      const result = check(schema, value, whole);
      if ('wrong' in result) throw refused(result.wrong);
      return result.value;
    };
    const answer = async (c: Context<JobsEnv>): Promise<Response> => {
      try {
        const user = c.get('user');
        if (each.role === 'admin') requireAdmin(user, action ?? 'do this');
        const given = await handler({
          c,
          user,
          params: c.req.param() as never,
          query: (query &&
            read(
              query,
              readQuery(query.entries, (name) => c.req.queries(name)),
              refuse,
              'query',
            )) as never,
          body: (body && read(body, await jsonBody(c, refuseBody), refuseBody, 'the body')) as never,
        });
        if (given instanceof Response) return given;
        return given === undefined ? c.body(null, 204) : c.json(given as object);
      } catch (error) {
        return failureAnswer(c, error, statuses);
      }
    };
    const path = `${apiBase}${each.path.replaceAll(/\{(\w+)\}/g, ':$1')}`;
    if (most === undefined) app.on(each.method, path, answer);
    else app.on(each.method, path, limited(most), answer);
  };
}

const limited = (most: number) =>
  bodyLimit({ maxSize: most, onError: (c) => errorAnswer(c, apiErrors.TooLarge({ limit: most }), 413) });

/** A body that is left out is an object without keys. */
async function jsonBody(c: Context, refuse: Refuse): Promise<unknown> {
  try {
    const text = await c.req.text();
    return text === '' ? {} : readOutsideJson(text);
  } catch (error) {
    throw refuse({ field: 'the body', problem: `is not JSON: ${(error as Error).message}` });
  }
}
