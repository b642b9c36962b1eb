import type { Document, Method, Parameter, Schema } from './discovery.ts';
import { errorInfo, type GoogleError, googleError } from './errors.ts';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** What goes wrong where a value does not fit; requests and answers say it in different words. */
interface Words {
  unknown(at: string, name: string): Error;
  wrong(at: string, schema: Schema, value: unknown): Error;
  missing(at: string): Error;
}

/** One value on its way through a document. */
interface Walk {
  readonly document: Document;
  readonly method: Method;
  readonly words: Words;
  /** Of a request: what only Google writes is left out, and patterns are checked. */
  readonly request: boolean;
}

function read(walk: Walk, given: Schema, value: unknown, at: string): unknown {
  const schema = given.$ref === undefined ? given : walk.document.schemas[given.$ref]!;
  if (schema.properties !== undefined || (schema.type === 'object' && schema.additionalProperties !== undefined))
    return readObject(walk, schema, value, at);
  if (schema.type === 'array') {
    if (!Array.isArray(value)) throw walk.words.wrong(at, schema, value);
    return value.map((each, index) => read(walk, schema.items!, each, `${at}[${index}]`));
  }
  if (schema.type === 'any' || schema.type === 'object') return value;
  return readScalar(walk, schema, value, at);
}

function readObject(walk: Walk, schema: Schema, value: unknown, at: string): unknown {
  const { properties = {}, additionalProperties } = schema;
  // A list in place of an object is taken apart, the last of each member counts: Google's parser does so.
  const whole: unknown = walk.request && Array.isArray(value) ? Object.assign({}, ...(value as object[])) : value;
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole)) throw walk.words.wrong(at, schema, value);
  const found: Record<string, unknown> = {};
  for (const [name, each] of Object.entries(whole)) {
    const member = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (member === undefined) throw walk.words.unknown(at, name);
    if (each === undefined || each === null || (walk.request && member.readOnly)) continue;
    found[name] = read(walk, member, each, `${at}.${name}`);
  }
  if (walk.request)
    for (const [name, { annotations }] of Object.entries(properties))
      if (annotations?.required?.includes(walk.method.id) && found[name] === undefined)
        throw walk.words.missing(`${at}.${name}`);
  return found;
}

const long = /^u?int64$/;

function readScalar(walk: Walk, schema: Schema, value: unknown, at: string): unknown {
  const wrong = (): Error => walk.words.wrong(at, schema, value);
  switch (schema.type) {
    case 'string': {
      // Whole numbers that do not fit a double are strings in answers, and may be numbers in requests.
      const text = walk.request && long.test(schema.format ?? '') && typeof value === 'number' ? String(value) : value;
      if (typeof text !== 'string') throw wrong();
      if (long.test(schema.format ?? '') && !/^-?\d+$/.test(text)) throw wrong();
      if (schema.enum !== undefined && !schema.enum.includes(text)) throw wrong();
      if (walk.request && schema.pattern !== undefined && !new RegExp(`^(?:${schema.pattern})$`).test(text))
        throw wrong();
      return text;
    }
    case 'integer': {
      const number = walk.request && typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
      if (!Number.isInteger(number)) throw wrong();
      return number;
    }
    case 'number':
      if (typeof value !== 'number') throw wrong();
      return value;
    case 'boolean':
      if (typeof value !== 'boolean') throw wrong();
      return value;
    default:
      throw new Error(`the fake does not know the type ${schema.type} of ${at}`);
  }
}

const old = ({ id }: Method): boolean => id.startsWith('compute.');

const requestWords = (method: Method): Words => ({
  unknown: (at, name) => unknownName(`${JSON.stringify(name)} at '${at}'`, 'Cannot find field.'),
  missing: (at) => googleError('required', `Required field '${at}' not specified`),
  wrong: (at, schema, value) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    if (old(method) && schema.pattern !== undefined && typeof value === 'string')
      return googleError(
        'invalid',
        `Invalid value for field '${at}': '${text}'. Must be a match of regex '(?:${schema.pattern})'`,
      );
    if (old(method) && schema.type === 'string')
      return googleError('invalid', `Invalid value for field '${at}': '${text}'. ${hint(schema)}`);
    return googleError('invalid', `Invalid value at '${at}' (${hint(schema)}), ${JSON.stringify(value)}`);
  },
});

const hint = ({ enum: choices, type, format }: Schema): string =>
  choices === undefined ? `TYPE_${(format ?? type ?? 'object').toUpperCase()}` : `one of ${choices.join(', ')}`;

const unknownName = (what: string, why: string): GoogleError =>
  googleError(
    'invalid',
    `Invalid JSON payload received. Unknown name ${what}: ${why}`,
    errorInfo('badRequest', 'googleapis.com'),
  );

/** The body of a request as its method takes it; what it does not know, or what does not fit, is refused. */
export function readBody(document: Document, method: Method, body: unknown): unknown {
  if (method.request === undefined) return {};
  const at = old(method) ? 'resource' : method.request.$ref!.replace(/^./, (first) => first.toLowerCase());
  return read({ document, method, words: requestWords(method), request: true }, method.request, body ?? {}, at);
}

/** Values of the query, each of the type that the method says. */
export function readQuery(
  document: Document,
  method: Method,
  query: URLSearchParams,
): ReadonlyMap<string, string | number | boolean> {
  const found = new Map<string, string | number | boolean>();
  const own = method.parameters ?? {};
  for (const [name, text] of query) {
    const parameter = parameterOf(own, name) ?? parameterOf(document.parameters, name);
    if (parameter === undefined || parameter.location !== 'query')
      throw unknownName(
        JSON.stringify(name),
        `Cannot bind query parameter. Field '${name}' could not be found in request message.`,
      );
    found.set(name, readParameter(method, parameter, name, text));
  }
  for (const [name, { required, location }] of Object.entries(own))
    if (required && location === 'query' && !found.has(name))
      throw googleError('required', `Required field '${name}' not specified`);
  return found;
}

const parameterOf = (all: Readonly<Record<string, Parameter>>, name: string): Parameter | undefined =>
  Object.hasOwn(all, name) ? all[name] : undefined;

function readParameter(method: Method, parameter: Parameter, name: string, text: string): string | number | boolean {
  const wrong = (): GoogleError =>
    googleError('invalid', `Invalid value for field '${name}': '${text}'. ${hint(parameter)}`);
  if (parameter.type === 'boolean') {
    if (text !== 'true' && text !== 'false') throw wrong();
    return text === 'true';
  }
  if (parameter.type === 'integer') {
    if (!/^\d+$/.test(text)) throw wrong();
    return Number(text);
  }
  if (parameter.enum !== undefined && !parameter.enum.includes(text)) throw wrong();
  // A UUID, by all that its description says.
  if (name === 'requestId' && old(method) && !/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text))
    throw wrong();
  return text;
}

const answerWords = ({ id }: Method): Words => {
  // Not as the trouble of a server, which clients would try again.
  const bug = (text: string): Error =>
    googleError('notImplemented', `The fake's ${id} answers what its document does not have: ${text}`);
  return {
    unknown: (at, name) => bug(`${at}.${name}`),
    wrong: (at, schema, value) => bug(`${at} is ${JSON.stringify(value)}, and should be ${hint(schema)}`),
    missing: (at) => bug(`${at} is missing`),
  };
};

/** An answer, held to what its document says; one that does not fit is a bug of the fake. */
export function writeAnswer(document: Document, method: Method, body: unknown): string {
  if (method.response === undefined) return '';
  const walk = { document, method, words: answerWords(method), request: false };
  return JSON.stringify(read(walk, method.response, body, method.response.$ref!), undefined, 2);
}
