import { defaultProvider } from '@aws-sdk/credential-provider-node';
import { fromInstanceMetadata } from '@smithy/credential-provider-imds';
import type { ClusterSpec, Plain, PlainMap } from '../../../core/spec/cluster.ts';
import { isText, mapOf } from '../../../core/spec/plain.ts';
import type { CloudIdentity, HeadIdentity } from '../../clouds.ts';
import type { CommandEnvironment } from '../../descriptor.ts';
import { awsErrors } from '../errors.ts';

const credentialsPath = ['provider', 'aws_credentials'];

interface Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** As boto3: what the file says, else what the environment, its profile, SSO or the machine's role give. */
export function credentialsFor(identity: CloudIdentity, given: PlainMap = {}) {
  switch (identity.kind) {
    case 'machine':
      return fromInstanceMetadata({ maxRetries: 3, timeout: 2_000 });
    case 'file':
      return keysInFile(identity.text);
    case 'user': {
      const { env } = identity;
      const keys = keysOf(given) ?? keysOf(fromEnvironment(env));
      const profile = env['AWS_PROFILE'];
      return keys ?? defaultProvider(profile ? { profile } : {});
    }
  }
}

/** As `headIdentity` wrote them. What cannot be read is not shown: it may be a key. */
function keysInFile(text: string): Keys {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {}
  const keys = keysOf(mapOf(given as Plain));
  if (keys === undefined)
    throw awsErrors.BadCredentials({ at: credentialsPath, missing: 'the key that was copied to the head' });
  return keys;
}

/** Those of the environment count more than a profile; the SDK by itself does it the other way round. */
const fromEnvironment = (env: CommandEnvironment): PlainMap => ({
  aws_access_key_id: env['AWS_ACCESS_KEY_ID'] ?? null,
  aws_secret_access_key: env['AWS_SECRET_ACCESS_KEY'] ?? null,
  aws_session_token: env['AWS_SESSION_TOKEN'] ?? null,
});

function keysOf(given: PlainMap): Keys | undefined {
  const { aws_access_key_id: id, aws_secret_access_key: secret, aws_session_token: session } = given;
  if (!isText(id) || !isText(secret)) return undefined;
  return { accessKeyId: id, secretAccessKey: secret, ...(isText(session) && { sessionToken: session }) };
}

/** As what a head will ask: by its own role, unless the file has keys that last. */
export function headIdentity(spec: ClusterSpec, env: CommandEnvironment): HeadIdentity {
  const given = mapOf(spec.provider.config.aws_credentials);
  if (Object.values(given).every((value) => value === null)) return { kind: 'machine' };
  const { aws_access_key_id: id, aws_secret_access_key: secret, aws_session_token: session } = given;
  const at = credentialsPath;
  for (const [name, value] of [
    ['aws_access_key_id', id],
    ['aws_secret_access_key', secret],
  ] as const)
    if (!isText(value)) throw awsErrors.BadCredentials({ at, missing: name });
  if (isText(session)) throw awsErrors.CredentialsExpire({ at, minutes: minutesLeft(session, env) });
  return { kind: 'file', text: JSON.stringify({ aws_access_key_id: id, aws_secret_access_key: secret }) };
}

/** Only the environment may say until when a session lasts; AWS tells nobody. */
function minutesLeft(session: Plain, env: CommandEnvironment): number | undefined {
  const until = Date.parse(env['AWS_CREDENTIAL_EXPIRATION'] ?? '');
  if (env['AWS_SESSION_TOKEN'] !== session || Number.isNaN(until)) return undefined;
  return Math.max(0, Math.floor((until - Date.now()) / 60_000));
}
