import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AwsService, awsServices } from '../../scripts/botocore-models.ts';
import { asCloudError, type Call, type CallDesk } from '../cloud/call-desk.ts';
import type { LaunchAsked } from '../cloud/call-log.ts';
import type { CloudError } from '../cloud/errors.ts';
import type { CallName } from '../cloud/faults.ts';
import { answerCut, readText } from '../cloud/http.ts';
import { Caller } from './caller.ts';
import { ec2Handlers } from './ec2/ec2.ts';
import { awsError, inWordsOf } from './errors.ts';
import { iamHandlers } from './iam.ts';
import { type Model, modelOf, type Operation } from './models.ts';
import { pricingHandlers } from './pricing.ts';
import { type Principal, unsigned } from './principals.ts';
import { readJson, writeJson } from './protocol/json.ts';
import { readQuery } from './protocol/query.ts';
import { writeXml, writeXmlError } from './protocol/xml.ts';
import { readSignature, type Signed } from './signature.ts';
import { ssmHandlers } from './ssm.ts';
import { stsHandlers } from './sts.ts';
import type { AwsWorld } from './world.ts';

type Handler = (request: Record<string, unknown>, caller: Caller) => unknown;

/** The model has held requests and answers to the types of the client; here they are of many operations at once. */
const handlers: Readonly<Record<AwsService, Readonly<Record<string, Handler | undefined>>>> = {
  ec2: ec2Handlers as unknown as Record<string, Handler>,
  iam: iamHandlers as unknown as Record<string, Handler>,
  sts: stsHandlers as unknown as Record<string, Handler>,
  ssm: ssmHandlers as unknown as Record<string, Handler>,
  pricing: pricingHandlers as unknown as Record<string, Handler>,
};

/** What the world calls an operation; the rest are calls that ask, or that change something. */
const callNames: Readonly<Record<string, CallName>> = {
  RunInstances: 'launch',
  DescribeInstances: 'list',
  TerminateInstances: 'terminate',
  CreateTags: 'tag',
  DeleteTags: 'tag',
  StopInstances: 'stop',
  StartInstances: 'start',
  GetConsoleOutput: 'console',
  DescribeInstanceTypes: 'machine-types',
  DescribeRegions: 'regions',
  DescribeAvailabilityZones: 'regions',
  GetProducts: 'prices',
  DescribeSpotPriceHistory: 'prices',
};

export const operationsOf = (service: AwsService): readonly string[] => Object.keys(handlers[service]);

interface Understood {
  readonly operation: Operation;
  readonly input: Record<string, unknown>;
}

/** Serves all services of AWS on one port: which one is meant stands in the signature. */
export class AwsServer {
  readonly #world: AwsWorld;
  readonly #desk: CallDesk;

  constructor(world: AwsWorld, desk: CallDesk) {
    this.#world = world;
    this.#desk = desk;
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = this.#world.now();
    const id = randomUUID();
    const signed = readSignature(request);
    const service = awsServices.find((each) => each === signed?.service) ?? 'ec2';
    const model = modelOf(service);
    const refuse = (error: CloudError): void => sendError(response, model, inWordsOf(service, error), id);
    let principal: Principal;
    let understood: Understood;
    try {
      const body = await readText(request);
      principal = this.#principal(signed, service, request, body);
      if (this.#world.zonesOf(signed!.region).length === 0 && service === 'ec2')
        throw awsError('AuthFailure', `The region ${signed!.region} is not enabled for this account`);
      understood = read(model, request, body);
    } catch (error) {
      refuse(asCloudError(error));
      return;
    }
    const { operation, input } = understood;
    const where = { region: signed!.region, service, operation: operation.name };
    const handler = handlers[service][operation.name];
    const call: Call = {
      name: callNames[operation.name] ?? (/^(?:Describe|Get|List)/.test(operation.name) ? 'describe' : 'change'),
      operation: operation.name,
      ...(operation.name === 'RunInstances' && { asked: askedOf(input, this.#world) }),
      inWords: (error) => inWordsOf(service, error),
      make: () => {
        if (handler === undefined)
          throw awsError('InvalidAction', `The fake does not have the operation ${operation.name}`);
        const caller = new Caller(this.#world, principal, where, input['DryRun'] === true);
        const body = handler(input, caller);
        caller.close();
        // Written here, so that what the model does not have is a failure of the call, and shows all pages of one moment.
        return { text: write(model, operation, body, id), body };
      },
      ...(/^(?:Run|Terminate)Instances$/.test(operation.name) && {
        instances: (made: unknown) => instancesOf((made as { body: object }).body),
      }),
    };
    const outcome = await this.#desk.carryOut(call, principal.account, at);
    if (outcome === 'lost') request.socket.destroy();
    if (typeof outcome === 'string') return;
    if ('error' in outcome) return refuse(outcome.error);
    const { text } = outcome.body as { text: string };
    if (outcome.cut) answerCut(response, contentType(model), text, outcome.cut);
    else send(response, 200, contentType(model), text, id);
  }

  #principal(signed: Signed | undefined, service: AwsService, request: IncomingMessage, body: string): Principal {
    if (signed === undefined) throw unsigned(service);
    if (signed.service !== service)
      throw awsError('InvalidAction', `The fake does not have the service ${signed.service}`);
    return this.#world.principals.of(signed, service, request, body);
  }
}

function read(model: Model, request: IncomingMessage, body: string): Understood {
  if (model.metadata.protocol === 'json') {
    const [prefix, name = ''] = String(request.headers['x-amz-target'] ?? '').split('.');
    const operation = prefix === model.metadata.targetPrefix ? model.operations[name] : undefined;
    if (operation === undefined) throw awsError('UnknownOperationException', '');
    return { operation, input: readJson(model, operation, body) };
  }
  const form = new URLSearchParams(body === '' ? new URL(request.url ?? '/', 'http://aws').search : body);
  const name = form.get('Action') ?? '';
  const operation = Object.hasOwn(model.operations, name) ? model.operations[name] : undefined;
  if (operation === undefined) throw awsError('InvalidAction', `The action ${name} is not valid for this web service.`);
  if (form.get('Version') !== model.metadata.apiVersion)
    throw awsError('NoSuchVersion', `The requested version (${form.get('Version')}) is not valid`);
  return { operation, input: readQuery(model, operation, form) };
}

const write = (model: Model, operation: Operation, body: unknown, id: string): string =>
  model.metadata.protocol === 'json' ? writeJson(model, operation, body) : writeXml(model, operation, body, id);

const contentType = ({ metadata }: Model): string =>
  metadata.protocol === 'json' ? 'application/x-amz-json-1.1' : 'text/xml;charset=UTF-8';

function send(response: ServerResponse, status: number, type: string, text: string, id: string): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(text),
    'x-amzn-requestid': id,
  });
  response.end(text);
}

function sendError(response: ServerResponse, model: Model, error: CloudError, id: string): void {
  const text =
    model.metadata.protocol === 'json'
      ? JSON.stringify({ __type: error.code, message: error.message })
      : writeXmlError(model, error, id);
  send(response, error.status, contentType(model), text, id);
}

/** What a launch asks for, as far as the request itself says. */
function askedOf(input: Record<string, unknown>, world: AwsWorld): LaunchAsked {
  const request = input as {
    InstanceType?: string;
    MaxCount?: number;
    ClientToken?: string;
    SubnetId?: string;
    NetworkInterfaces?: { SubnetId?: string }[];
    Placement?: { AvailabilityZone?: string };
    InstanceMarketOptions?: { MarketType?: string };
    CapacityReservationSpecification?: { CapacityReservationTarget?: object };
  };
  const subnet = request.SubnetId ?? request.NetworkInterfaces?.[0]?.SubnetId;
  const zone = request.Placement?.AvailabilityZone ?? world.subnets.all().find(({ id }) => id === subnet)?.zone;
  const { MarketType: market } = request.InstanceMarketOptions ?? {};
  const reserved = request.CapacityReservationSpecification?.CapacityReservationTarget !== undefined;
  return {
    type: request.InstanceType ?? 'm1.small',
    ...(zone !== undefined && { zone }),
    market: reserved ? 'reserved' : market === 'spot' ? 'spot' : 'on-demand',
    count: request.MaxCount ?? 1,
    ...(request.ClientToken !== undefined && { token: request.ClientToken }),
  };
}

function instancesOf(body: object): readonly string[] {
  const answer = body as { Instances?: { InstanceId?: string }[]; TerminatingInstances?: { InstanceId?: string }[] };
  return (answer.Instances ?? answer.TerminatingInstances ?? []).flatMap(({ InstanceId: id }) => id ?? []);
}
