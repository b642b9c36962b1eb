import { GoogleAuth, JWT, OAuth2Client } from 'google-auth-library';
import type { PlainMap } from '../../../core/spec/cluster.ts';
import type { CloudIdentity } from '../../clouds.ts';
import { agentFor, authFor, environmentOf } from '../client/credentials.ts';
import { projectInEnvironment } from '../client/project.ts';

/** The project of the credentials; undefined where they have none. */
export async function projectOfLogin(identity: CloudIdentity, given: PlainMap): Promise<string | undefined> {
  const named = projectInEnvironment(identity, given);
  if (named !== undefined) return named;
  try {
    return await new GoogleAuth().getProjectId();
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
