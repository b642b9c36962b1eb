import { Agent, get } from 'node:http';
import { OAuth2Client } from 'google-auth-library';
import * as v from 'valibot';
import { readWhole } from '../../../base/read-whole.ts';
import type { Duration } from '../../../base/time/clock.ts';
import { googleErrors } from '../errors.ts';
import { metadataUrl } from './links.ts';

const url = `${metadataUrl}/instance/service-accounts/default/token`;
const answersWithin: Duration = 10_000;
const largestAnswer = 64 << 10;

const tokenSchema = v.object({ access_token: v.string(), expires_in: v.number() });

/**
 * The service account of this machine. The library's own client for it sends what is meant for the metadata server through the
 * proxy of the environment, where there is one, and no proxy reaches it.
 */
export function machineLogin(): OAuth2Client {
  const client = new OAuth2Client();
  client.refreshHandler = async () => {
    const { access_token, expires_in } = v.parse(tokenSchema, JSON.parse(await ask()));
    return { access_token, expiry_date: Date.now() + 1000 * expires_in };
  };
  return client;
}

async function ask(): Promise<string> {
  const agent = new Agent();
  try {
    const [status, said] = await new Promise<readonly [number, string]>((resolve, reject) => {
      const options = { agent, headers: { 'Metadata-Flavor': 'Google' }, signal: AbortSignal.timeout(answersWithin) };
      get(url, options, (response) => {
        readWhole(response, largestAnswer).then((body) => resolve([response.statusCode ?? 0, body.toString()]), reject);
      }).on('error', reject);
    });
    if (status === 200) return said;
    throw googleErrors.NoLogin({ detail: `the metadata server has no token for this machine (${status})` });
  } finally {
    agent.destroy();
  }
}
