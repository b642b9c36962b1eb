import { readFileSync } from 'node:fs';
import { GoogleAuth, JWT, OAuth2Client } from 'google-auth-library';
import type { PlainMap } from '../../../core/spec/cluster.ts';
import { isText } from '../../../core/spec/plain.ts';
import type { CloudIdentity } from '../../clouds.ts';
import type { CommandEnvironment } from '../../descriptor.ts';
import { agentFor, authFor, environmentOf } from '../client/credentials.ts';

function projectIn(text: string): string | undefined {
  try {
    const { project_id: project } = JSON.parse(text) as { readonly project_id?: unknown };
    return typeof project === 'string' && project !== '' ? project : undefined;
  } catch {
    // What is wrong with a key is said when it is used.
    return undefined;
  }
}

/** The project of the credentials; undefined where they have none. */
export async function projectOfLogin(identity: CloudIdentity, given: PlainMap): Promise<string | undefined> {
  const { type, credentials } = given;
  const env = environmentOf(identity);
  const key = type === 'service_account' && isText(credentials) ? projectIn(credentials) : undefined;
  const named = key ?? (env['GOOGLE_CLOUD_PROJECT'] || env['GCLOUD_PROJECT'] || projectOfFile(env));
  if (named !== undefined) return named;
  try {
    return await new GoogleAuth().getProjectId();
  } catch {
    return undefined;
  }
}

function projectOfFile({ GOOGLE_APPLICATION_CREDENTIALS: file }: CommandEnvironment): string | undefined {
  if (!file) return undefined;
  try {
    return projectIn(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** The address of who asks; undefined where that cannot be learned. */
export async function addressOfLogin(identity: CloudIdentity, given: PlainMap): Promise<string | undefined> {
  const agent = agentFor(environmentOf(identity));
  try {
    const client = await authFor(identity, given, agent);
    if (client instanceof JWT) return client.email;
    if (!(client instanceof OAuth2Client)) return undefined;
    const { token } = await client.getAccessToken();
    return token ? (await client.getTokenInfo(token)).email : undefined;
  } catch {
    return undefined;
  } finally {
    agent.destroy();
  }
}
