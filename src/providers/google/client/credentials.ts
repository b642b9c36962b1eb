import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import {
  type AuthClient,
  AwsClient,
  type BaseExternalAccountClientOptions,
  Compute,
  GoogleAuth,
  IdentityPoolClient,
  JWT,
  type JWTInput,
  OAuth2Client,
  PluggableAuthClient,
  UserRefreshClient,
} from 'google-auth-library';
import type { ClusterSpec, PlainMap } from '../../../core/spec/cluster.ts';
import { isText, mapOf } from '../../../core/spec/plain.ts';
import type { CloudIdentity, HeadIdentity } from '../../clouds.ts';
import type { CommandEnvironment } from '../../descriptor.ts';
import { googleErrors } from '../errors.ts';
import { machineLogin } from './machine-login.ts';

const scopes = 'https://www.googleapis.com/auth/cloud-platform';

export const environmentOf = (identity: CloudIdentity): CommandEnvironment =>
  identity.kind === 'user' ? identity.env : process.env;

/** Connections as the environment wants them: through its proxy, and trusting its own authority too. */
export function agentFor(env: CommandEnvironment): Agent {
  const authority = env['NODE_EXTRA_CA_CERTS'];
  return new Agent({
    keepAlive: true,
    proxyEnv: { ...env },
    ...(authority && { secureContext: trusting(readFileSync(authority, 'utf8')) }),
  });
}

/** By the authority's certificate. To read all that a machine trusts takes a tenth of a second, and each connection would. */
const contexts = new Map<string, SecureContext>();

function trusting(authority: string): SecureContext {
  const known = contexts.get(authority) ?? createSecureContext({ ca: [...getCACertificates('default'), authority] });
  contexts.set(authority, known);
  return known;
}

/** What the file says, else what the environment, `gcloud` or the machine gives. */
export async function authFor(identity: CloudIdentity, given: PlainMap, agent: Agent): Promise<AuthClient> {
  switch (identity.kind) {
    case 'machine':
      return machineLogin();
    case 'file':
      return serviceAccount(identity.text, agent);
    case 'user': {
      const { type, credentials } = given;
      if (type === 'credentials_token' && isText(credentials)) {
        const client = new OAuth2Client();
        client.setCredentials({ access_token: credentials });
        return client;
      }
      if (type === 'service_account' && isText(credentials)) return serviceAccount(credentials, agent);
      const file = identity.env['GOOGLE_APPLICATION_CREDENTIALS'];
      const text = file ? readFileSync(file, 'utf8') : undefined;
      const found = text === undefined ? undefined : clientOf(text, agent);
      if (found !== undefined) return found;
      const other = await new GoogleAuth({ scopes, clientOptions: { transporterOptions: { agent } } }).getClient();
      return other instanceof Compute ? machineLogin() : other;
    }
  }
}

/** The client for a file of credentials. Undefined for kinds that the library itself has to find. */
function clientOf(text: string, agent: Agent): AuthClient | undefined {
  const json = objectIn(text) as (JWTInput & BaseExternalAccountClientOptions & PlainMap) | undefined;
  if (json === undefined) throw new Error('the file of GOOGLE_APPLICATION_CREDENTIALS is not a JSON object');
  const transporterOptions = { agent };
  switch (json.type as string) {
    case 'service_account':
      return serviceAccount(text, agent);
    case 'authorized_user': {
      const { client_id: clientId, client_secret: clientSecret, refresh_token: refreshToken } = json as JWTInput;
      return new UserRefreshClient({
        ...(clientId !== undefined && { clientId }),
        ...(clientSecret !== undefined && { clientSecret }),
        ...(refreshToken !== undefined && { refreshToken }),
        transporterOptions,
      });
    }
    case 'external_account':
      return workload(json, agent);
    default:
      return undefined;
  }
}

/** By the identity of a program elsewhere. */
function workload(json: BaseExternalAccountClientOptions & PlainMap, agent: Agent): AuthClient {
  const { environment_id: onAws, executable } = mapOf(json.credential_source);
  const Client = onAws !== undefined ? AwsClient : executable !== undefined ? PluggableAuthClient : IdentityPoolClient;
  const client = new Client({ ...json, transporterOptions: { agent } } as never);
  client.scopes = scopes;
  // The library exchanges tokens past the options that it was given.
  Object.assign((client as unknown as { stsCredential: object }).stsCredential, { transporter: client.transporter });
  return client;
}

function serviceAccount(text: string, agent: Agent): AuthClient {
  const { client_email: email, private_key: key, private_key_id: keyId } = readKey(text);
  return new JWT({ email, key, scopes, ...(keyId !== undefined && { keyId }), transporterOptions: { agent } });
}

interface Key {
  readonly client_email: string;
  readonly private_key: string;
  readonly private_key_id?: string;
}

function readKey(text: string): Key {
  const key: Partial<Key> | undefined = objectIn(text);
  if (key === undefined) throw googleErrors.BadCredentials({ problem: 'have no usable key: it is not a JSON object' });
  if (!isText(key.client_email) || !isText(key.private_key))
    throw googleErrors.BadCredentials({ problem: 'have no usable key: it has no client_email and private_key' });
  return key as Key;
}

/** Without the parser's own error, which shows a part of what it cannot read: it may be a key. */
function objectIn(text: string): object | undefined {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'object' && json !== null ? json : undefined;
  } catch {
    return undefined;
  }
}

/** As what a head will ask: by the service account of its machine, unless the file has a key that lasts. */
export function headIdentity(spec: ClusterSpec): HeadIdentity {
  const { type, credentials } = mapOf(spec.provider.config.gcp_credentials);
  if (type === undefined && credentials === undefined) return { kind: 'machine' };
  if (type === 'credentials_token') throw googleErrors.CredentialsExpire({});
  if (!isText(credentials)) throw googleErrors.BadCredentials({ problem: 'have no credentials' });
  readKey(credentials);
  return { kind: 'file', text: credentials };
}
