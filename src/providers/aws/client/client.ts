import { EC2Client } from '@aws-sdk/client-ec2';
import { IAMClient } from '@aws-sdk/client-iam';
import { PricingClient } from '@aws-sdk/client-pricing';
import { SSMClient } from '@aws-sdk/client-ssm';
import { DecodeAuthorizationMessageCommand, STSClient } from '@aws-sdk/client-sts';
import { messageOf } from '../../../base/errors.ts';
import type { Clock, Duration } from '../../../base/time/clock.ts';
import { orAborted } from '../../../base/time/deadline.ts';
import { doubling, retry } from '../../../base/time/retry.ts';
import { wallClock } from '../../../base/time/wall-clock.ts';
import type { PlainMap } from '../../../core/spec/cluster.ts';
import { CallBucket } from '../../call-bucket.ts';
import type { CloudIdentity } from '../../clouds.ts';
import { providerErrors } from '../../errors.ts';
import { credentialsFor } from './credentials.ts';
import { type AboutCall, awsCode, isThrottle, refusalOf } from './refusals.ts';

export interface AwsClientOptions {
  readonly region: string;
  readonly identity: CloudIdentity;
  /** `aws_credentials` of the cluster file. */
  readonly given?: PlainMap | undefined;
  /** @default that of this machine */
  readonly clock?: Clock;
  /** Shared by all clients of one cluster. @default one of its own */
  readonly bucket?: CallBucket;
  /** How long one call may take. @default 30 s */
  readonly deadline?: Duration;
}

/** The price list has its endpoint in few regions. */
const pricingRegion = 'us-east-1';

/** How long a call that can wait is repeated while AWS throttles. */
const patience: Duration = 60_000;

/** How often one is made whose answer gets lost. */
const lostTries = 4;

/** Stands before what only AWS can read. */
const encodedPart = 'Encoded authorization failure message: ';

type Send<Result> = (options: { readonly abortSignal: AbortSignal }) => Promise<Result>;

/** The official clients under one identity, behind one bucket. Each call is made once: who calls knows how long the answer is wanted. */
export class AwsClient {
  readonly ec2: EC2Client;
  readonly iam: IAMClient;
  readonly ssm: SSMClient;
  readonly sts: STSClient;
  readonly pricing: PricingClient;
  readonly #clock: Clock;
  readonly #bucket: CallBucket;
  readonly #deadline: Duration;
  readonly #profile: string | undefined;

  constructor(options: AwsClientOptions) {
    const { region, identity, given, clock = wallClock, bucket, deadline = 30_000 } = options;
    const env = identity.kind === 'user' ? identity.env : process.env;
    const credentials = credentialsFor(identity, given);
    const shared = (service: string) => {
      const endpoint = env[`AWS_ENDPOINT_URL_${service}`] || env['AWS_ENDPOINT_URL'];
      return { region, maxAttempts: 1, ...(credentials && { credentials }), ...(endpoint && { endpoint }) };
    };
    this.ec2 = new EC2Client(shared('EC2'));
    this.iam = new IAMClient(shared('IAM'));
    this.ssm = new SSMClient(shared('SSM'));
    this.sts = new STSClient(shared('STS'));
    this.pricing = new PricingClient({ ...shared('PRICING'), region: pricingRegion });
    this.#clock = clock;
    this.#bucket = bucket ?? new CallBucket({ clock });
    this.#deadline = deadline;
    this.#profile = identity.kind === 'user' ? env['AWS_PROFILE'] || undefined : undefined;
  }

  /** Makes one call. Every failure is one of `providers/errors.ts` or `errors.ts`, with AWS's own error as its cause. */
  async ask<Result>(about: AboutCall, send: Send<Result>, signal: AbortSignal): Promise<Result> {
    signal.throwIfAborted();
    return await this.#bucket.call(
      async () => {
        const late = AbortSignal.timeout(this.#deadline);
        try {
          const abortSignal = AbortSignal.any([signal, late]);
          // Looking for a login, which a program or another server may give, the SDK does not hear of the signal.
          return await orAborted(send({ abortSignal }), abortSignal);
        } catch (error) {
          signal.throwIfAborted();
          const { call } = about;
          if (late.aborted && awsCode(error) === undefined)
            throw providerErrors.Unreachable({ call, detail: `no response within ${this.#deadline} ms` }, error);
          throw refusalOf({ profile: this.#profile, ...about }, error, await this.#wordsOf(error, signal));
        }
      },
      isThrottle,
      signal,
    );
  }

  /** The same for a call that may be repeated: while AWS throttles, or where its answer was lost, it is made again. */
  askPatiently<Result>(about: AboutCall, send: Send<Result>, signal: AbortSignal): Promise<Result> {
    return this.#repeat(about, send, lostTries, signal);
  }

  /** The same for one part of a whole: it is made again while AWS throttles, and a lost answer fails the whole. */
  askUnthrottled<Result>(about: AboutCall, send: Send<Result>, signal: AbortSignal): Promise<Result> {
    return this.#repeat(about, send, 1, signal);
  }

  async #repeat<Result>(about: AboutCall, send: Send<Result>, mostLost: number, signal: AbortSignal): Promise<Result> {
    const until = this.#clock.now() + patience;
    return await retry(() => this.ask(about, send, signal), {
      clock: this.#clock,
      signal,
      pause: doubling(250, 4_000),
      again: (error, tries) =>
        (providerErrors.Throttled.is(error) || (providerErrors.Unreachable.is(error) && tries < mostLost)) &&
        this.#clock.now() < until,
    });
  }

  close(): void {
    for (const each of [this.ec2, this.iam, this.ssm, this.sts, this.pricing]) each.destroy();
  }

  /** What is not allowed is told in a form that AWS alone can read, to those who may ask for it. */
  async #wordsOf(error: unknown, signal: AbortSignal): Promise<string> {
    const words = messageOf(error);
    if (awsCode(error) !== 'UnauthorizedOperation') return words;
    const [told = '', encoded = ''] = words.split(encodedPart);
    const plain = told.trim();
    if (encoded === '') return plain;
    try {
      const decode = new DecodeAuthorizationMessageCommand({ EncodedMessage: encoded });
      const { DecodedMessage = '' } = await this.sts.send(decode, {
        abortSignal: AbortSignal.any([signal, AbortSignal.timeout(5_000)]),
      });
      return missingPermission(JSON.parse(DecodedMessage)) ?? plain;
    } catch {
      return plain;
    }
  }
}

interface Decoded {
  readonly explicitDeny?: boolean;
  readonly context?: { readonly action?: string; readonly resource?: string; readonly principal?: { arn?: string } };
}

function missingPermission(decoded: unknown): string | undefined {
  const { explicitDeny, context: { action, resource, principal } = {} } = decoded as Decoded;
  if (action === undefined || resource === undefined) return undefined;
  const why = explicitDeny === true ? 'a policy denies' : 'no policy allows';
  return `${why} ${principal?.arn ?? 'you'} the action ${action} on ${resource}`;
}
