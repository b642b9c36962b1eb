import type { IncomingMessage, ServerResponse } from 'node:http';
import { asCloudError, type Call, type CallDesk } from '../cloud/call-desk.ts';
import type { LaunchAsked } from '../cloud/call-log.ts';
import type { CloudError } from '../cloud/errors.ts';
import type { CallName } from '../cloud/faults.ts';
import { answerCut, readText } from '../cloud/http.ts';
import { iamHandlers } from './access/iam.ts';
import { osLoginHandlers } from './access/os-login.ts';
import { resourceManagerHandlers } from './access/resource-manager.ts';
import type { Bearer } from './access/tokens.ts';
import { isArtifactHost } from './artifacts.ts';
import { Caller, type Handlers, type Request } from './caller.ts';
import { computeHandlers } from './compute/compute.ts';
import { askedOfInsert } from './compute/launch-plan.ts';
import { waitsFor } from './compute/operations.ts';
import { type Found, findRoute } from './discovery.ts';
import { errorInfo, type GoogleError, googleError, inWordsOf, writeError } from './errors.ts';
import { serveOther } from './other-paths.ts';
import { readBody, readQuery, writeAnswer } from './schema.ts';
import { send } from './send.ts';
import { askedOf, tpuHandlers } from './tpu/tpu.ts';
import type { GoogleWorld } from './world.ts';

const apis: ReadonlyMap<string, Handlers> = new Map([
  ['compute', computeHandlers],
  ['tpu', tpuHandlers],
  ['iam', iamHandlers],
  ['cloudresourcemanager', resourceManagerHandlers],
  ['oslogin', osLoginHandlers],
]);

/** What the world calls a method; the rest are calls that ask, or that change something. */
const callNames: ReadonlyMap<string, CallName> = new Map(
  Object.entries({
    'instances.insert': 'launch',
    'instances.bulkInsert': 'launch',
    'nodes.create': 'launch',
    'queuedResources.create': 'launch',
    'instances.list': 'list',
    'instances.aggregatedList': 'list',
    'nodes.list': 'list',
    'queuedResources.list': 'list',
    'instances.get': 'get',
    'nodes.get': 'get',
    'instances.delete': 'terminate',
    'nodes.delete': 'terminate',
    'queuedResources.delete': 'terminate',
    'instances.setLabels': 'tag',
    'nodes.patch': 'tag',
    'instances.stop': 'stop',
    'nodes.stop': 'stop',
    'instances.start': 'start',
    'nodes.start': 'start',
    'instances.getSerialPortOutput': 'console',
    'machineTypes.list': 'machine-types',
    'machineTypes.get': 'machine-types',
    'machineTypes.aggregatedList': 'machine-types',
    'regions.list': 'regions',
    'zones.list': 'regions',
  } as const),
);

/** Methods that an API has here, as the log names them. */
export const methodsOf = (api: string): readonly string[] => [...(apis.get(api)?.keys() ?? [])];

/** Serves all of Google on one port: its names tell them apart where they are used, and else their paths. */
export class GoogleServer {
  readonly #world: GoogleWorld;
  readonly #desk: CallDesk;

  constructor(world: GoogleWorld, desk: CallDesk) {
    this.#world = world;
    this.#desk = desk;
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = this.#world.now();
    const url = new URL(request.url ?? '/', 'http://google');
    const host = (request.headers.host ?? '').replace(/:\d+$/, '');
    const verb = request.method ?? 'GET';
    const found = isArtifactHost(host) ? undefined : findRoute(verb, host, url.pathname);
    const body = await readText(request).catch(() => undefined);
    if (body === undefined) return send(response, 413, JSON.stringify({ error: { code: 413, message: 'too large' } }));
    if (found === undefined)
      return serveOther(this.#world, { host, url, verb, body, headers: request.headers }, response);
    await this.#call(found, url, body, { request, response, at });
  }

  async #call(
    found: Found,
    url: URL,
    body: string,
    { request, response, at }: { request: IncomingMessage; response: ServerResponse; at: number },
  ): Promise<void> {
    const { route, path } = found;
    const api = route.api.split('.')[0]!;
    const named = path.get('project') ?? path.get('resource') ?? '';
    const known = this.#world.project(named) ?? [...this.#world.projects.values()][0]!;
    const refuse = (error: CloudError): void => sendError(response, api, inWordsOf(api, known, error));
    let call: Call;
    try {
      const bearer = this.#bearer(request);
      const asked = read(found, url, body);
      await waitsFor(this.#world, route.name, asked, request);
      call = this.#understood(found, api, named, bearer, asked);
    } catch (error) {
      refuse(asCloudError(error));
      return;
    }
    const outcome = await this.#desk.carryOut(call, known.id, at);
    if (outcome === 'lost') request.socket.destroy();
    if (typeof outcome === 'string') return;
    if ('error' in outcome) return refuse(outcome.error);
    const text = outcome.body as string;
    if (outcome.cut) answerCut(response, 'application/json; charset=UTF-8', text, outcome.cut);
    else send(response, text === '' ? 204 : 200, text);
  }

  #understood({ route }: Found, api: string, named: string, bearer: Bearer, request: Request): Call {
    const { name, method, document } = route;
    const handler = apis.get(api)?.get(name);
    const asked = launchAsked(api, name, request);
    const made = new Set<string>();
    return {
      name: callNames.get(name) ?? (method.httpMethod === 'GET' ? 'describe' : 'change'),
      operation: name,
      ...(asked && { asked }),
      inWords: (error) => inWordsOf(api, this.#world.project(named) ?? { number: 0 }, error),
      make: () => {
        if (handler === undefined)
          throw googleError('notImplemented', `The fake does not have the method ${method.id}`);
        const before = asked === undefined ? 0 : this.#world.cloud.truth().length;
        const reads = method.httpMethod === 'GET';
        const caller = new Caller(this.#world, bearer, { api, name, project: named, reads });
        const answer = handler(request, caller);
        caller.close();
        if (asked) for (const { id } of this.#world.cloud.truth().slice(before)) made.add(id);
        // Written here, so that what its document does not have is a failure of the call.
        return writeAnswer(document, method, answer);
      },
      ...(asked && { instances: () => [...made] }),
    };
  }

  #bearer(request: IncomingMessage): Bearer {
    const given = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    const bearer = given === undefined ? undefined : this.#world.tokens.holder(given);
    if (bearer !== undefined) return bearer;
    const why =
      given === undefined
        ? 'Request is missing required authentication credential.'
        : 'Request had invalid authentication credentials.';
    throw googleError(
      'authError',
      `${why} Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.`,
      errorInfo(given === undefined ? 'CREDENTIALS_MISSING' : 'ACCESS_TOKEN_INVALID', 'googleapis.com'),
    );
  }
}

function read({ route, path }: Found, url: URL, text: string): Request {
  const { document, method } = route;
  let body: unknown;
  try {
    body = text.trim() === '' ? undefined : JSON.parse(text);
  } catch {
    throw googleError('invalid', 'Invalid JSON payload received. Unexpected token.');
  }
  return { path, query: readQuery(document, method, url.searchParams), body: readBody(document, method, body) };
}

/** What a launch asks for, as far as the request itself says. */
function launchAsked(api: string, name: string, request: Request): LaunchAsked | undefined {
  if (callNames.get(name) !== 'launch') return undefined;
  return api === 'compute' ? askedOfInsert(request) : askedOf(request);
}

function sendError(response: ServerResponse, api: string, error: GoogleError): void {
  const { status, body } = writeError(api, error);
  send(response, status, JSON.stringify(body, undefined, 2));
}
