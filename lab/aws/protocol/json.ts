/** Requests and answers of the `json` protocol, version 1.1. */
import { awsError } from '../errors.ts';
import type { Member, Model, Operation } from '../models.ts';
import { type Complaints, readScalar } from './values.ts';

const validation = (constraint: string) =>
  awsError('ValidationException', `1 validation error detected: ${constraint}`);
const complaints: Complaints = {
  unknown: (path) => validation(`Unknown member '${path}'`),
  missing: (path) => validation(`Value at '${path}' failed to satisfy constraint: Member must not be null`),
  wrong: (path, value, wanted) =>
    validation(`Value '${value}' at '${path}' failed to satisfy constraint: Member must be ${wanted}`),
};

const jsonTypes: Readonly<Record<string, string>> = { boolean: 'boolean', string: 'string', blob: 'string' };

export function readJson(model: Model, operation: Operation, text: string): Record<string, unknown> {
  let given: unknown;
  try {
    given = JSON.parse(text === '' ? '{}' : text);
  } catch {
    throw awsError('SerializationException', 'The body is not JSON');
  }
  if (operation.input === undefined) return {};
  return read(model, operation.input, given, '') as Record<string, unknown>;
}

function read(model: Model, { shape: name }: Pick<Member, 'shape'>, value: unknown, path: string): unknown {
  const shape = model.shapes[name]!;
  const at = (key: string | number): string => (path === '' ? String(key) : `${path}.${key}`);
  const bad = () => awsError('SerializationException', `${path || 'the request'} is not a ${shape.type}`);
  switch (shape.type) {
    case 'structure': {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) throw bad();
      const entries = Object.entries(value).filter(([, each]) => each !== null);
      for (const [key] of entries) if (shape.members?.[key] === undefined) throw complaints.unknown(at(key));
      for (const key of shape.required ?? [])
        if (!entries.some(([each]) => each === key)) throw complaints.missing(at(key));
      return Object.fromEntries(
        entries.map(([key, each]) => [key, read(model, shape.members![key]!, each, at(key))] as const),
      );
    }
    case 'list':
      if (!Array.isArray(value)) throw bad();
      return value.map((each, index) => read(model, shape.member!, each, at(index)));
    case 'map':
      if (typeof value !== 'object' || value === null || Array.isArray(value)) throw bad();
      return Object.fromEntries(
        Object.entries(value).map(([key, each]) => [key, read(model, shape.value!, each, at(key))]),
      );
    default:
      if (typeof value !== (jsonTypes[shape.type] ?? 'number')) throw bad();
      return readScalar(name, shape, String(value), path, complaints);
  }
}

export function writeJson(model: Model, operation: Operation, body: unknown): string {
  return JSON.stringify(operation.output ? write(model, operation.output, body, operation.name) : {});
}

function write(model: Model, { shape: name }: Pick<Member, 'shape'>, value: unknown, at: string): unknown {
  const shape = model.shapes[name]!;
  switch (shape.type) {
    case 'structure':
      return Object.fromEntries(
        Object.entries(value as object)
          .filter(([, each]) => each !== undefined)
          .map(([key, each]) => {
            const member = shape.members?.[key];
            if (member === undefined) throw new Error(`the model has no ${at}.${key}`);
            return [key, write(model, member, each, `${at}.${key}`)];
          }),
      );
    case 'list':
      return (value as unknown[]).map((each) => write(model, shape.member!, each, at));
    case 'timestamp':
      return (value as Date).getTime() / 1000;
    default:
      return value;
  }
}
