import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { AwsService } from '../../scripts/botocore-models.ts';
import type { Disk } from '../cloud/belongings.ts';
import { awsError, wordsOf } from './errors.ts';
import { type Conditions, judge, type Request } from './policy.ts';
import type { Principal } from './principals.ts';
import type { AwsWorld } from './world.ts';

/** One call on its way through a handler: who makes it, where, and what they may do. */
export class Caller {
  readonly world: AwsWorld;
  readonly principal: Principal;
  readonly region: string;
  readonly service: AwsService;
  readonly operation: string;
  readonly #dryRun: boolean;
  #disks: Map<string | undefined, readonly Disk[]> | undefined;
  #judged = false;
  #committed = false;

  constructor(
    world: AwsWorld,
    principal: Principal,
    at: { readonly region: string; readonly service: AwsService; readonly operation: string },
    dryRun: boolean,
  ) {
    this.world = world;
    this.principal = principal;
    ({ region: this.region, service: this.service, operation: this.operation } = at);
    this.#dryRun = dryRun;
  }

  /** Disks of an instance. */
  disksOf(instance: string): readonly Disk[] {
    this.#disks ??= Map.groupBy(this.world.cloud.has.disks.of(this.account), (disk) => disk.instance);
    return this.#disks.get(instance) ?? [];
  }

  get account(): string {
    return this.principal.account;
  }

  /** ARN of something of EC2: `instance/i-1`, `volume/*`. */
  arn(what: string): string {
    return `arn:aws:ec2:${this.region}:${this.account}:${what}`;
  }

  /** Throws where no policy of the caller allows it. Without a resource it is about nothing in particular. */
  may(resource = '*', conditions: Conditions = {}, action = `${this.service}:${this.operation}`): void {
    this.#judged = true;
    const request = { action, resource, conditions: { ...conditions, 'aws:RequestedRegion': [this.region] } };
    const verdict = judge(this.principal.policies(), request);
    if (verdict !== 'allowed') throw this.#refusal(request, verdict === 'denied');
  }

  /** What everybody may. */
  free(): void {
    this.#judged = true;
  }

  /** From here on the call changes something; one that only wanted to know whether it may ends here. */
  commit(): void {
    this.#committed = true;
    if (this.#dryRun) throw awsError('DryRunOperation', 'Request would have succeeded, but DryRun flag is set.');
  }

  /** Holds handlers to asking before they answer. */
  close(): void {
    if (!this.#judged) throw new Error(`${this.operation} does not ask whether it is allowed`);
    if (this.#committed) return;
    if (!/^(?:Describe|Get|List|Decode|Simulate|Assume)/.test(this.operation))
      throw new Error(`${this.operation} does not say when it changes something`);
    this.commit();
  }

  #refusal({ action, resource, conditions }: Request, denied: boolean) {
    const why = denied ? 'with an explicit deny in an' : 'because no';
    const base = `User: ${this.principal.arn} is not authorized to perform: ${action} on resource: ${resource} ${why} identity-based policy${denied ? '' : ` allows the ${action} action`}`;
    if (this.service !== 'ec2') return awsError(wordsOf(this.service).denied, base);
    const items = Object.entries(conditions).map(([key, values]) => ({
      key,
      values: { items: values.map((value) => ({ value })) },
    }));
    const message = encodeMessage({
      allowed: false,
      explicitDeny: denied,
      matchedStatements: { items: [] },
      failures: { items: [] },
      context: {
        principal: { id: this.principal.id, arn: this.principal.arn },
        action,
        resource,
        conditions: { items },
      },
    });
    return awsError(
      'UnauthorizedOperation',
      `You are not authorized to perform this operation. ${base}. Encoded authorization failure message: ${message}`,
    );
  }
}

/** Whoever is told may not read why without asking; the key is this process's. */
const key = randomBytes(32);

function encodeMessage(message: object): string {
  const start = randomBytes(16);
  const cipher = createCipheriv('aes-256-cbc', key, start);
  return Buffer.concat([start, cipher.update(JSON.stringify(message)), cipher.final()]).toString('base64url');
}

export function decodeMessage(text: string): string {
  try {
    const all = Buffer.from(text, 'base64url');
    const decipher = createDecipheriv('aes-256-cbc', key, all.subarray(0, 16));
    return Buffer.concat([decipher.update(all.subarray(16)), decipher.final()]).toString();
  } catch {
    throw awsError('InvalidAuthorizationMessageException', 'Message is not valid');
  }
}
