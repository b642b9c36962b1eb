import { type ConversionConfig, toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import { cluster, clusterRoutes, node, turnOff } from './cluster.ts';
import { demand, demandRoutes, passed, request, taskDemand } from './demand.ts';
import { errorAnswer } from './error.ts';
import { attempt, job, jobRoutes, jobRow, jobState, logChunk, logEnd, otherRow, submission } from './jobs.ts';
import { event, fact, mark, pastRoutes, sample } from './past.ts';
import { everyRoute, type Route } from './route.ts';
import type { Schema } from './schema.ts';
import { user, userRoutes } from './users.ts';

/** All routes of the API, in the order in which they are described. */
export const routes: readonly Route[] = [clusterRoutes, demandRoutes, pastRoutes, jobRoutes, userRoutes].flatMap(
  (group) => Object.values(group) as unknown as Route[],
);

/** Schemas with a name of their own; where they are part of others they are referred to. */
const components = {
  Attempt: attempt,
  Cluster: cluster,
  Demand: demand,
  Error: errorAnswer,
  Event: event,
  Job: job,
  JobRow: jobRow,
  JobState: jobState,
  JournalFact: fact,
  LogChunk: logChunk,
  LogEnd: logEnd,
  Mark: mark,
  Node: node,
  OtherRow: otherRow,
  Passed: passed,
  Request: request,
  Sample: sample,
  Submission: submission,
  TaskDemand: taskDemand,
  TurnOff: turnOff,
  User: user,
};

type Json = Readonly<Record<string, unknown>>;

const settings: ConversionConfig = {
  target: 'draft-2020-12',
  ignoreActions: ['check', 'max_bytes'],
  overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
};

function json(schema: Schema): Json {
  const { $schema: _, $defs: __, ...rest } = toJsonSchema(schema, { ...settings, definitions: components });
  return rest;
}

const roles = {
  user: 'For every user.',
  owner: 'For the owner of the job and administrators.',
  admin: 'For administrators.',
} as const;

const meanings = new Map([
  [400, 'A value is not valid'],
  [401, 'The request has no token'],
  [403, 'The token is not valid, or does not allow this'],
  [404, 'Not found'],
  [409, 'The current state does not allow this'],
  [413, 'The body is too large'],
  [422, 'No node of the cluster can ever run it'],
  [429, 'Too many connections, streams, invalid tokens or jobs; try again later'],
  [500, 'Internal error; see the log of mantad'],
  [503, 'Temporarily unavailable: mantad is shutting down, or Ray does not respond'],
  [507, 'The disk of the head is full'],
]);

function operation(each: Route): Json {
  const limit = each.bodyLimit === undefined ? '' : ` The body can have at most ${each.bodyLimit} bytes.`;
  const parameters = [
    ...Object.entries<{ schema: Schema; what: string }>(each.params ?? {}).map(([name, { schema, what }]) => ({
      name,
      in: 'path',
      required: true,
      description: what,
      schema: json(schema),
    })),
    ...Object.entries(each.query ?? {}).map(([name, schema]) => {
      const { description, ...rest } = json(schema);
      return { name, in: 'query', ...(description !== undefined && { description }), schema: rest };
    }),
  ];
  return {
    operationId: each.id,
    summary: each.summary,
    description: `${roles[each.role]}${limit}`,
    'x-manta-role': each.role,
    ...(parameters.length > 0 && { parameters }),
    ...(each.body && { requestBody: { required: true, content: { 'application/json': { schema: json(each.body) } } } }),
    responses: responses(each),
  };
}

function responses({ answer, body, refusals = [] }: Route): Json {
  const { what, schema, content, headers, events } = answer;
  const good =
    content !== undefined
      ? { [content]: { schema: { type: 'string' } } }
      : schema && { 'application/json': { schema: json(schema) } };
  const failed = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
  const statuses = [...new Set([...everyRoute, ...refusals, ...(body ? [413] : [])])].sort((a, b) => a - b);
  return {
    [good === undefined ? '204' : '200']: {
      description: what,
      ...(headers && {
        headers: Object.fromEntries(
          Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
        ),
      }),
      ...(good && { content: good }),
      ...(events && {
        'x-manta-events': Object.fromEntries(Object.entries(events).map(([name, each]) => [name, json(each)])),
      }),
    },
    ...Object.fromEntries(
      statuses.map((status) => [String(status), { description: meanings.get(status) ?? '', content: failed }]),
    ),
  };
}

/** Manta's own HTTP API, all of it, as OpenAPI 3.1. */
export function openapiDocument(mantaVersion: string): {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>;
} & Json {
  const paths = new Map<string, Record<string, Json>>();
  for (const each of routes)
    paths.set(each.path, { ...paths.get(each.path), [each.method.toLowerCase()]: operation(each) });
  return {
    openapi: '3.1.0',
    info: {
      title: 'Manta',
      version: mantaVersion,
      description: 'Times are whole milliseconds since 1970, sizes are bytes. Keys may be added to answers.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/api/manta/v1' }],
    security: [{ token: [] }],
    paths: Object.fromEntries(paths),
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: toJsonSchemaDefs(components, settings),
    },
  };
}
