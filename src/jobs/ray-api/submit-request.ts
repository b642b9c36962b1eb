import type { Submission } from '../queue/submission.ts';

/** What is wrong with a request, in the words of Ray's own check. */
export class BadRequest extends Error {}

type Fields = ReadonlyMap<string, unknown>;

/** Reads the body of `POST /api/jobs/`. Keys with null are as if absent; wrong types are refused. Keys that are not read
 * have no effect: newer clients may send more. Who submits is told by the token alone. */
export function readSubmitRequest(body: unknown, user: string): Submission {
  if (!isRecord(body)) throw new BadRequest('the request body must be a JSON object');
  const fields = new Map(Object.entries(body).filter(([, value]) => value !== null));
  if (!fields.has('entrypoint'))
    throw new BadRequest("TypeError: JobSubmitRequest.__init__() missing 1 required positional argument: 'entrypoint'");
  const entrypoint = text(fields, 'entrypoint', 'entrypoint must be a string') ?? '';
  const id =
    text(fields, 'submission_id', 'submission_id must be a string if provided') ??
    text(fields, 'job_id', 'job_id must be a string if provided');
  const runtimeEnv = record(fields, 'runtime_env');
  const metadata = record(fields, 'metadata');
  for (const value of Object.values(metadata ?? {}))
    if (typeof value !== 'string')
      throw new BadRequest(`TypeError: metadata values must be strings, got ${pythonType(value)}`);
  const labels = record(fields, 'entrypoint_label_selector');
  for (const value of Object.values(labels ?? {}))
    if (typeof value !== 'string')
      throw new BadRequest(`TypeError: entrypoint_label_selector values must be strings, got ${pythonType(value)}`);
  return {
    entrypoint,
    ...(id !== undefined && { id }),
    ...(runtimeEnv && { runtimeEnv }),
    ...(metadata && { metadata: metadata as Record<string, string> }),
    resources: resourcesOf(fields),
    ...(labels && { labels: labels as Record<string, string> }),
    user,
  };
}

function resourcesOf(fields: Fields): Record<string, number> {
  const custom = record(fields, 'entrypoint_resources') ?? {};
  for (const value of Object.values(custom))
    if (typeof value !== 'number')
      throw new BadRequest(`TypeError: entrypoint_resources values must be numbers, got ${pythonType(value)}`);
  for (const name of ['CPU', 'GPU', 'memory']) {
    if (Object.hasOwn(custom, name))
      throw new BadRequest(
        `ValueError: Use the 'entrypoint_num_cpus', 'entrypoint_num_gpus' and 'entrypoint_memory' arguments instead of '${name}' in 'entrypoint_resources'`,
      );
  }
  const cpus = amount(fields, 'entrypoint_num_cpus', 'a number');
  const gpus = amount(fields, 'entrypoint_num_gpus', 'a number');
  const memory = amount(fields, 'entrypoint_memory', 'an integer');
  if (memory !== undefined && !Number.isInteger(memory))
    throw new BadRequest("TypeError: entrypoint_memory must be an integer, got <class 'float'>");
  return {
    ...(custom as Record<string, number>),
    ...(cpus !== undefined && { CPU: cpus }),
    ...(gpus !== undefined && { GPU: gpus }),
    ...(memory !== undefined && { memory }),
  };
}

function text(fields: Fields, key: string, rule: string): string | undefined {
  const value = fields.get(key);
  if (value !== undefined && typeof value !== 'string')
    throw new BadRequest(`TypeError: ${rule}, got ${pythonType(value)}`);
  return value;
}

function record(fields: Fields, key: string): Record<string, unknown> | undefined {
  const value = fields.get(key);
  if (value !== undefined && !isRecord(value))
    throw new BadRequest(`TypeError: ${key} must be a dict, got ${pythonType(value)}`);
  return value;
}

function amount(fields: Fields, key: string, kind: string): number | undefined {
  const value = fields.get(key);
  if (value !== undefined && typeof value !== 'number')
    throw new BadRequest(`TypeError: ${key} must be ${kind}, got ${pythonType(value)}`);
  return value;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function pythonType(value: unknown): string {
  if (typeof value === 'string') return "<class 'str'>";
  if (typeof value === 'boolean') return "<class 'bool'>";
  if (typeof value === 'number') return Number.isInteger(value) ? "<class 'int'>" : "<class 'float'>";
  return Array.isArray(value) ? "<class 'list'>" : value === null ? "<class 'NoneType'>" : "<class 'dict'>";
}
