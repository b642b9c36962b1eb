import { defineEvent } from '../base/events.ts';

/** Changes of who may use the cluster, for those who look after it. Tokens never stand in an event. */
export const userEvents = {
  added: defineEvent<{ user: string; admin: boolean }>({
    code: 'MANTA_USER_ADDED',
    level: 'info',
    text: (e) => `user ${e.user} was added${e.admin ? ' as an administrator' : ''} and has a token`,
  }),
  revoked: defineEvent<{ user: string }>({
    code: 'MANTA_USER_REVOKED',
    level: 'info',
    text: (e) => `user ${e.user} was revoked: their tokens and sessions have ended`,
  }),
  tokenIssued: defineEvent<{ user: string }>({
    code: 'MANTA_USER_TOKEN_ISSUED',
    level: 'info',
    text: (e) => `user ${e.user} has another token`,
  }),
  signInRefused: defineEvent<{ count: number }>({
    code: 'MANTA_USER_SIGN_IN_REFUSED',
    level: 'warn',
    text: (e) =>
      e.count === 1
        ? 'a request was refused: its token or link is not valid'
        : `${e.count} requests were refused since the last such event: their tokens or links are not valid`,
  }),
  ownerRestored: defineEvent<{ user: string }>({
    code: 'MANTA_USER_OWNER_RESTORED',
    level: 'warn',
    text: (e) => `user ${e.user} has a new token: whoever owns the state folder always gets back in`,
  }),
};
