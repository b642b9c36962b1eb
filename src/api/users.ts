import * as v from 'valibot';
import { limits } from './limits.ts';
import { route } from './route.ts';
import { amount, count, flag, given, instant, listOf, maybe, object, text, textUpTo, type Wire } from './schema.ts';

export const user = object({
  name: text,
  admin: flag,
  /** Share of the cluster beside others. */
  weight: amount,
  createdAt: instant,
  revokedAt: maybe(instant),
});
export type UserAnswer = Wire<typeof user>;

const usersAnswer = object({
  users: listOf(user),
  /** Give as `after` for the next page. */
  next: maybe(text),
});
export type UsersAnswer = Wire<typeof usersAnswer>;

const newUser = given('a user', {
  name: textUpTo(64),
  admin: maybe(flag),
  weight: maybe(
    v.pipe(
      amount,
      v.gtValue(0, 'is not above 0 and at most 1000'),
      v.maxValue(1_000, 'is not above 0 and at most 1000'),
    ),
  ),
});

export const userRoutes = {
  list: route({
    method: 'GET',
    path: '/users',
    id: 'listUsers',
    summary: 'List users, in the order they were added',
    role: 'admin',
    action: 'list the users',
    query: {
      limit: maybe(v.pipe(count, v.description(`At most ${limits.users.most}; default ${limits.users.usual}`))),
      after: maybe(v.pipe(text, v.description('`next` of the previous page'))),
    },
    answer: { what: 'A page', schema: usersAnswer },
  }),
  add: route({
    method: 'POST',
    path: '/users',
    id: 'addUser',
    summary: 'Add a user; the token is shown only once',
    role: 'admin',
    action: 'add a user',
    body: newUser,
    bodyLimit: limits.smallBody,
    answer: { what: 'The user and the token', schema: object({ user, token: text }) },
    refusals: [409, 507],
  }),
  revoke: route({
    method: 'DELETE',
    path: '/users/{name}',
    id: 'revokeUser',
    summary: 'Revoke all tokens of a user at once',
    role: 'admin',
    action: 'revoke a user',
    params: { name: { schema: text, what: 'A user name' } },
    answer: { what: 'The user', schema: user },
    refusals: [404, 409, 507],
  }),
  ticket: route({
    method: 'POST',
    path: '/tickets',
    id: 'makeTicket',
    summary: 'Create a ticket that opens the page in a browser, once and within a minute',
    role: 'user',
    answer: { what: 'The ticket', schema: object({ ticket: text }) },
    refusals: [404],
  }),
};
