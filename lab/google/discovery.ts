import { type GoogleApi, googleApis, readDiscovery } from '../../scripts/google-discovery.ts';

/** A type of values, as discovery documents write it. */
export interface Schema {
  readonly type?: string;
  readonly $ref?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly readOnly?: boolean;
  readonly annotations?: { readonly required?: readonly string[] };
}

export interface Parameter extends Schema {
  readonly location: 'path' | 'query';
  readonly required?: boolean;
  readonly repeated?: boolean;
}

export interface Method {
  /** Such as `compute.instances.insert`. */
  readonly id: string;
  readonly httpMethod: string;
  readonly path: string;
  readonly flatPath?: string;
  readonly parameters?: Readonly<Record<string, Parameter>>;
  readonly request?: Schema;
  readonly response?: Schema;
}

interface Resource {
  readonly methods?: Readonly<Record<string, Method>>;
  readonly resources?: Readonly<Record<string, Resource>>;
}

export interface Document extends Resource {
  readonly rootUrl: string;
  readonly servicePath: string;
  readonly parameters: Readonly<Record<string, Parameter>>;
  readonly schemas: Readonly<Record<string, Schema>>;
}

/** A method with the paths that lead to it. */
export interface Route {
  readonly api: GoogleApi;
  readonly document: Document;
  readonly method: Method;
  /** As the log and faults name it: `instances.insert`. */
  readonly name: string;
  readonly pattern: RegExp;
  readonly names: readonly string[];
}

interface Loaded {
  readonly document: Document;
  readonly host: string;
  readonly routes: readonly Route[];
}

const loaded = new Map<GoogleApi, Loaded>();

function load(api: GoogleApi): Loaded {
  const known = loaded.get(api);
  if (known !== undefined) return known;
  const document = JSON.parse(readDiscovery(api)) as Document;
  const routes = [...methodsOf(document)].map((method) => routeTo(api, document, method));
  const made = { document, host: new URL(document.rootUrl).host, routes };
  loaded.set(api, made);
  return made;
}

function* methodsOf({ methods = {}, resources = {} }: Resource): Generator<Method> {
  yield* Object.values(methods);
  for (const resource of Object.values(resources)) yield* methodsOf(resource);
}

/** Paths are flat: every part that varies has a name of its own, such as `projectsId`, which is kept as `project`. */
function routeTo(api: GoogleApi, document: Document, method: Method): Route {
  const names: string[] = [];
  const flat = `${document.servicePath}${method.flatPath ?? method.path}`;
  // Where a path may end with a verb, what varies holds no colon.
  const part = api === 'compute.v1' ? '([^/]+)' : '([^/:]+)';
  const pattern = flat
    .split(/\{(\+?\w+)\}/)
    .map((piece, index) => {
      if (index % 2 === 0) return piece.replace(/[$.]/g, '\\$&');
      names.push(piece.replace(/s?Id$/, ''));
      return part;
    })
    .join('');
  return { api, document, method, name: method.id.split('.').slice(-2).join('.'), pattern: regexp(pattern), names };
}

const regexp = (pattern: string): RegExp => new RegExp(`^/${pattern}$`);

/** The document itself, as clients fetch it. */
export const documentOf = (api: GoogleApi): Document => load(api).document;

export interface Found {
  readonly route: Route;
  /** What varies in the path, by name, and the version of the API as `version`. */
  readonly path: ReadonlyMap<string, string>;
}

/**
 * What a request is for. All APIs answer on every address that is not one of Google's names; there, one that is meant
 * for another API leads nowhere.
 */
export function findRoute(verb: string, host: string, path: string): Found | undefined {
  for (const api of googleApis) {
    const { host: own, routes } = load(api);
    if (host.endsWith('.googleapis.com') && host !== own && !(host === 'www.googleapis.com' && api === 'compute.v1'))
      continue;
    for (const route of routes) {
      if (route.method.httpMethod !== verb) continue;
      const match = route.pattern.exec(path);
      if (match === null) continue;
      const varies = route.names.map((name, index): [string, string] => [name, decodeURIComponent(match[index + 1]!)]);
      return { route, path: new Map([['version', api.slice(api.indexOf('.') + 1)], ...varies]) };
    }
  }
  return undefined;
}
