import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { AwsService } from '../../scripts/botocore-models.ts';
import type { Role } from '../cloud/belongings.ts';
import type { CloudError } from '../cloud/errors.ts';
import { awsError } from './errors.ts';
import type { Policy } from './policy.ts';
import { isSignedBy, type Signed, signedAt } from './signature.ts';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}

/** Who calls. */
export interface Principal {
  readonly account: string;
  readonly arn: string;
  /** `AIDA…` of a user, `AROA…:session` of a role that was taken on. */
  readonly id: string;
  readonly credentials: Credentials;
  /** As they are when a call is judged: a role may lose one at any time. */
  readonly policies: () => readonly Policy[];
}

const skew = 5 * 60_000;

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
export const randomId = (prefix: string, length = 17): string =>
  prefix + [...randomBytes(length)].map((byte) => letters[byte % 32]).join('');

/** Users and sessions, by the ids of their keys. */
export class Principals {
  readonly #byKey = new Map<string, Principal>();

  /** A user with a key that does not expire. */
  addUser(account: string, name: string, policies: readonly Policy[]): Principal {
    return this.#add({
      account,
      arn: `arn:aws:iam::${account}:user/${name}`,
      id: randomId('AIDA'),
      credentials: { accessKeyId: randomId('AKIA', 16), secretAccessKey: randomBytes(30).toString('base64') },
      policies: () => policies,
    });
  }

  /** Somebody who has taken on a role, for a while. */
  addSession(role: Role, session: string, seconds: number, policies: () => readonly Policy[]): Principal {
    return this.#add({
      account: role.account,
      arn: `arn:aws:sts::${role.account}:assumed-role/${role.name}/${session}`,
      id: `${role.id}:${session}`,
      credentials: {
        accessKeyId: randomId('ASIA', 16),
        secretAccessKey: randomBytes(30).toString('base64'),
        sessionToken: randomBytes(96).toString('base64'),
        expiration: new Date(1000 * Math.floor(Date.now() / 1000 + seconds)),
      },
      policies,
    });
  }

  #add(principal: Principal): Principal {
    this.#byKey.set(principal.credentials.accessKeyId, principal);
    return principal;
  }

  /** Who signed the request. Throws what the service says to others. */
  of(signed: Signed, service: AwsService, request: IncomingMessage, body: string): Principal {
    const refuse = refusals(service);
    const principal = this.#byKey.get(signed.keyId);
    if (principal === undefined) throw refuse.unknown();
    const { secretAccessKey, sessionToken, expiration } = principal.credentials;
    if (sessionToken !== undefined && !sameText(request.headers['x-amz-security-token'], sessionToken))
      throw refuse.unknown();
    if (!isSignedBy(signed, secretAccessKey, request, body)) throw refuse.signature();
    if (expiration !== undefined && expiration.getTime() <= Date.now()) throw refuse.expired();
    const at = signedAt(request);
    if (!(Math.abs(Date.now() - at) <= skew)) throw refuse.skewed(new Date(Number.isNaN(at) ? 0 : at));
    return principal;
  }
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
const sameText = (given: unknown, wanted: string): boolean =>
  typeof given === 'string' && digest(given) === digest(wanted);

interface Refusals {
  readonly unknown: () => CloudError;
  readonly signature: () => CloudError;
  readonly expired: () => CloudError;
  readonly skewed: (at: Date) => CloudError;
}

/** Each service has its own words for the same. */
function refusals(service: AwsService): Refusals {
  const mismatch =
    'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.';
  const invalid = 'The security token included in the request is invalid.';
  const expired = 'The security token included in the request is expired';
  if (service === 'ec2')
    return {
      unknown: () => awsError('AuthFailure', 'AWS was not able to validate the provided access credentials'),
      signature: () => awsError('SignatureDoesNotMatch', mismatch),
      expired: () => awsError('RequestExpired', 'Request has expired.'),
      skewed: () => awsError('RequestExpired', 'Request has expired.'),
    };
  if (service === 'iam' || service === 'sts')
    return {
      unknown: () => awsError('InvalidClientTokenId', invalid),
      signature: () => awsError('SignatureDoesNotMatch', mismatch),
      expired: () => awsError('ExpiredToken', expired),
      skewed: (at) =>
        awsError('SignatureDoesNotMatch', `Signature expired: ${at.toISOString()} is now earlier than allowed`),
    };
  return {
    unknown: () => awsError('UnrecognizedClientException', invalid),
    signature: () => awsError('InvalidSignatureException', mismatch),
    expired: () => awsError('ExpiredTokenException', expired),
    skewed: (at) =>
      awsError('InvalidSignatureException', `Signature expired: ${at.toISOString()} is now earlier than allowed`),
  };
}

/** Without any signature at all. */
export function unsigned(service: AwsService): CloudError {
  if (service === 'ec2') return awsError('AuthFailure', 'AWS was not able to validate the provided access credentials');
  const text = 'Request is missing Authentication Token';
  return awsError(
    service === 'iam' || service === 'sts' ? 'MissingAuthenticationToken' : 'MissingAuthenticationTokenException',
    text,
  );
}
