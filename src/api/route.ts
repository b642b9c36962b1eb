import type * as v from 'valibot';
import type { Schema, Wire } from './schema.ts';

/** Who may ask: everybody with a token, the owner of the job and administrators, or administrators alone. */
export type Role = 'user' | 'owner' | 'admin';

/**
 * One route of Manta's own API, all that is known of it: it is mounted from this, checked by this, and described by this in
 * `openapi.json`.
 */
export interface Route<
  Path extends string = string,
  Query extends v.ObjectEntries = v.ObjectEntries,
  Body extends Schema | undefined = Schema | undefined,
  Answer extends Schema | undefined = Schema | undefined,
> {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below `/api/manta/v1`; `{name}` is a part that the client chooses. */
  readonly path: Path;
  /** The operation's id. */
  readonly id: string;
  readonly summary: string;
  readonly role: Role;
  /** What only administrators may do, behind "may": where the role is `admin`. */
  readonly action?: string;
  /** What each part of the path is. */
  readonly params?: Readonly<Record<ParamOf<Path>, { readonly schema: Schema; readonly what: string }>>;
  readonly query?: Query;
  readonly body?: Body;
  /** Largest body, in bytes. */
  readonly bodyLimit?: number;
  /** What is answered when all goes well: JSON, nothing (204), or another kind of content. */
  readonly answer: {
    readonly what: string;
    readonly schema?: Answer;
    readonly content?: 'text/plain' | 'text/event-stream';
    readonly headers?: Readonly<Record<string, string>>;
    /** The data of each kind of server-sent event. */
    readonly events?: Readonly<Record<string, Schema>>;
  };
  /** Statuses of refusals, beside those that every route has (`everyRoute`). */
  readonly refusals?: readonly number[];
}

/** The names in a path: `id` in `/jobs/{id}`. */
export type ParamOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamOf<Rest>
  : never;

export type WireQuery<Query extends v.ObjectEntries> = Wire<v.ObjectSchema<Query, undefined>>;
export type WireOf<Each extends Schema | undefined> = Each extends Schema ? Wire<Each> : undefined;

/** What a route hands to its handler. */
export type QueryOf<Each> = Each extends Route<string, infer Query> ? WireQuery<Query> : never;
export type BodyOf<Each> = Each extends Route<string, v.ObjectEntries, infer Body> ? WireOf<Body> : never;

/** Keeps the types of what is written down. */
export const route = <
  const Path extends string,
  Query extends v.ObjectEntries = v.ObjectEntries,
  Body extends Schema | undefined = undefined,
  Answer extends Schema | undefined = undefined,
>(
  each: Route<Path, Query, Body, Answer>,
): Route<Path, Query, Body, Answer> => each;

/** Wrong values, no token or a wrong one, no permission, too much at once, a fault of Manta, a mantad that is ending. */
export const everyRoute: readonly number[] = [400, 401, 403, 429, 500, 503];

export const apiBase = '/api/manta/v1';
