import { MantaError, messageOf } from '../../../base/errors.ts';
import type { CommandEnvironment } from '../../descriptor.ts';
import { providerErrors } from '../../errors.ts';
import { awsCode } from '../client/refusals.ts';
import { awsErrors } from '../errors.ts';

/** What the SDK threw, below what Manta made of it. */
function sdkErrorOf(error: unknown): unknown {
  let below = error;
  while (below instanceof MantaError) below = below.cause;
  return below;
}

/** Whether a call failed with one of these codes, which are written without `Exception` at their end. */
export const isCode =
  (...codes: readonly string[]) =>
  (error: unknown): boolean =>
    codes.includes(awsCode(error) ?? '');

export const isDenied = isCode('UnauthorizedOperation', 'AccessDenied');

export const spotRoleStep =
  "ask an administrator to run 'aws iam create-service-linked-role --aws-service-name spot.amazonaws.com' once";

const steps: ReadonlyMap<string, string> = new Map([
  [
    'OptInRequired',
    'sign in to the AWS console as the owner of the account, and finish signing up for the service or accept its terms',
  ],
  [
    'PendingVerification',
    'AWS is verifying the account, which can take up to four hours; repeat the command later, and write to AWS support if it takes longer',
  ],
  ['AuthFailure.ServiceLinkedRoleCreationNotPermitted', spotRoleStep],
]);

/** The words of AWS name what was refused: `… is not authorized to perform: ec2:X on resource: ARN …`. */
export function refusedAction(error: unknown, action: string): { readonly action: string; readonly resource?: string } {
  const text = messageOf(sdkErrorOf(error));
  const resource = / on resource: (\S+)/.exec(text)?.[1];
  return {
    action: / to perform: (\w+:\w+)/.exec(text)?.[1] ?? action,
    ...(resource !== undefined && { resource }),
  };
}

/** What the user is told of a refusal that no caller expects; undefined where the client's own error says enough. */
export function explain(error: unknown, action: string, env: CommandEnvironment): MantaError | undefined {
  if (!providerErrors.Denied.is(error) && !providerErrors.Unreachable.is(error)) return undefined;
  const detail = messageOf(sdkErrorOf(error));
  const profile = env['AWS_PROFILE'] || undefined;
  const step = steps.get(awsCode(error) ?? '');
  if (step !== undefined) return awsErrors.AccountNotReady({ call: action, detail, step }, error);
  if (isDenied(error)) return awsErrors.MissingPermission(refusedAction(error, action), error);
  if (
    isCode(
      'AuthFailure',
      'InvalidClientTokenId',
      'UnrecognizedClient',
      'SignatureDoesNotMatch',
      'InvalidSignature',
    )(error)
  )
    return awsErrors.LoginRefused({ profile, detail }, error);
  return undefined;
}
