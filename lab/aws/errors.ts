import type { AwsService } from '../../scripts/botocore-models.ts';
import { CloudError } from '../cloud/errors.ts';

/** What AWS answers with a status other than 400. */
const statuses: Readonly<Record<string, number>> = {
  AuthFailure: 401,
  UnauthorizedOperation: 403,
  'AuthFailure.ServiceLinkedRoleCreationNotPermitted': 403,
  AccessDenied: 403,
  SignatureDoesNotMatch: 403,
  InvalidClientTokenId: 403,
  ExpiredToken: 403,
  OptInRequired: 401,
  DryRunOperation: 412,
  NoSuchEntity: 404,
  EntityAlreadyExists: 409,
  DeleteConflict: 409,
  LimitExceeded: 409,
  InsufficientInstanceCapacity: 500,
  InternalError: 500,
  InternalServerError: 500,
  ServiceFailure: 500,
  RequestLimitExceeded: 503,
  Unavailable: 503,
  UnknownOperationException: 404,
};

/** An error that is in AWS's own words. */
class AwsError extends CloudError {}

export const awsError = (code: string, message: string): CloudError =>
  new AwsError(statuses[code] ?? 400, code, message);

type Words = Readonly<Record<'throttled' | 'internal' | 'denied' | 'invalid', string>>;

/** How each service calls what the cloud says of its own accord. */
const words: Readonly<Record<AwsService, Words>> = {
  ec2: {
    throttled: 'RequestLimitExceeded',
    internal: 'InternalError',
    denied: 'UnauthorizedOperation',
    invalid: 'InvalidParameterValue',
  },
  iam: { throttled: 'Throttling', internal: 'ServiceFailure', denied: 'AccessDenied', invalid: 'ValidationError' },
  sts: { throttled: 'Throttling', internal: 'InternalFailure', denied: 'AccessDenied', invalid: 'ValidationError' },
  ssm: {
    throttled: 'ThrottlingException',
    internal: 'InternalServerError',
    denied: 'AccessDeniedException',
    invalid: 'ValidationException',
  },
  pricing: {
    throttled: 'ThrottlingException',
    internal: 'InternalErrorException',
    denied: 'AccessDeniedException',
    invalid: 'InvalidParameterException',
  },
};

export const wordsOf = (service: AwsService): Words => words[service];

const quotaCodes = {
  instances: 'InstanceLimitExceeded',
  cpus_on_demand: 'VcpuLimitExceeded',
  cpus_spot: 'MaxSpotInstanceCountExceeded',
  disk_gib: 'VolumeLimitExceeded',
} as const;

/** An error of the cloud itself in the words of a service. One that is in AWS's words stays. */
export function inWordsOf(service: AwsService, error: CloudError): CloudError {
  if (error instanceof AwsError) return error;
  const say = (code: string): CloudError => awsError(code, error.message);
  switch (error.code) {
    case 'Throttled':
      return say(words[service].throttled);
    case 'InternalError':
      return new CloudError(500, words[service].internal, error.message);
    case 'AccessDenied':
      return say(words[service].denied);
    case 'QuotaExceeded':
      return say(quotaCodes[error.quota ?? 'cpus_on_demand']);
    case 'InsufficientCapacity':
      return say('InsufficientInstanceCapacity');
    case 'IncorrectState':
      return say('IncorrectInstanceState');
    case 'InvalidParameter':
      return say(words[service].invalid);
    case 'NotFound':
      return say('InvalidInstanceID.NotFound');
    default:
      return say(error.code);
  }
}
