import { decodeMessage } from './caller.ts';
import { awsError } from './errors.ts';
import type { StsHandlers } from './handlers.ts';
import { roleArn } from './iam.ts';

export const stsHandlers: StsHandlers = {
  /** Everybody may ask who they are, whatever their policies say. */
  GetCallerIdentity(_request, caller) {
    const { account, principal } = caller;
    caller.free();
    return { Account: account, Arn: principal.arn, UserId: principal.id };
  },

  AssumeRole(request, caller) {
    const { RoleArn: arn = '', RoleSessionName: session = '' } = request;
    caller.may(arn);
    const role = caller.world.cloud.has.roles.all().find((each) => roleArn(each) === arn);
    if (role === undefined)
      throw awsError(
        'AccessDenied',
        `User: ${caller.principal.arn} is not authorized to perform: sts:AssumeRole on resource: ${arn}`,
      );
    const { arn: user, id, credentials } = caller.world.session(role, session, request.DurationSeconds ?? 3600);
    return {
      AssumedRoleUser: { Arn: user, AssumedRoleId: id },
      Credentials: {
        AccessKeyId: credentials.accessKeyId,
        SecretAccessKey: credentials.secretAccessKey,
        SessionToken: credentials.sessionToken,
        Expiration: credentials.expiration,
      },
    };
  },

  DecodeAuthorizationMessage({ EncodedMessage: message = '' }, caller) {
    caller.may();
    return { DecodedMessage: decodeMessage(message) };
  },
};
