/** Who calls: keys of service accounts, refresh tokens of users, and the access tokens that both give. */
import {
  createPrivateKey,
  createPublicKey,
  createSign,
  createVerify,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

export const cloudPlatform = 'https://www.googleapis.com/auth/cloud-platform';

/** Somebody with an access token. */
export interface Bearer {
  readonly email: string;
  /** What the token is good for, beside what its holder may do. */
  readonly scopes: readonly string[];
  readonly until: number;
}

/** A key file, as `gcloud iam service-accounts keys create` writes it. */
export interface ServiceAccountKey {
  readonly type: 'service_account';
  readonly project_id: string;
  readonly private_key_id: string;
  readonly private_key: string;
  readonly client_email: string;
  readonly client_id: string;
  readonly auth_uri: string;
  readonly token_uri: string;
  readonly universe_domain: string;
}

/** What `gcloud auth application-default login` writes. */
export interface UserCredentials {
  readonly type: 'authorized_user';
  readonly client_id: string;
  readonly client_secret: string;
  readonly refresh_token: string;
  readonly quota_project_id?: string;
  readonly universe_domain: string;
}

/** What the token endpoint answers in place of a token. */
export class OauthError extends Error {
  readonly status: number;
  readonly code: string;
  constructor(code: string, description: string, status = 400) {
    super(description);
    this.code = code;
    this.status = status;
  }
}

interface Claims {
  readonly iss?: string;
  readonly sub?: string;
  readonly aud?: string;
  readonly scope?: string;
  readonly iat?: number;
  readonly exp?: number;
}

/** One pair for the whole process: to make one takes a tenth of a second. */
let pair: { readonly private: string; readonly public: KeyObject } | undefined;
function keyPair(): { readonly private: string; readonly public: KeyObject } {
  if (pair !== undefined) return pair;
  const made = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const text = made.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  return (pair = { private: text, public: made.publicKey });
}

const tokenUrl = 'https://oauth2.googleapis.com/token';
const client = { id: '764086051850-lab.apps.googleusercontent.com', secret: 'd-lab' };

export class Tokens {
  readonly #now: () => number;
  readonly #bearers = new Map<string, Bearer>();
  readonly #refresh = new Map<string, string>();
  /** Emails by the id of their key. */
  readonly #keys = new Map<string, string>();
  /** Seconds that a token lives. */
  lifetime = 3600;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** An access token. */
  give(email: string, scopes: readonly string[] = [cloudPlatform], seconds = this.lifetime): string {
    const token = `ya29.${randomBytes(48).toString('base64url')}`;
    this.#bearers.set(token, { email, scopes, until: this.#now() + 1000 * seconds });
    return token;
  }

  /** Whose token it is; undefined for one that is not known or has expired. */
  holder(token: string): Bearer | undefined {
    const found = this.#bearers.get(token) ?? this.#ownSigned(token);
    return found !== undefined && found.until > this.#now() ? found : undefined;
  }

  revoke(email: string): void {
    for (const [token, bearer] of this.#bearers) if (bearer.email === email) this.#bearers.delete(token);
    for (const [id, owner] of this.#keys) if (owner === email) this.#keys.delete(id);
  }

  addKey(project: string, email: string, clientId: string): ServiceAccountKey {
    const id = randomBytes(20).toString('hex');
    this.#keys.set(id, email);
    return {
      type: 'service_account',
      project_id: project,
      private_key_id: id,
      private_key: keyPair().private,
      client_email: email,
      client_id: clientId,
      auth_uri: 'https://accounts.google.com/o/oauth2/auth',
      token_uri: tokenUrl,
      universe_domain: 'googleapis.com',
    };
  }

  addUser(email: string): UserCredentials {
    const token = `1//${randomBytes(32).toString('base64url')}`;
    this.#refresh.set(token, email);
    return {
      type: 'authorized_user',
      client_id: client.id,
      client_secret: client.secret,
      refresh_token: token,
      universe_domain: 'googleapis.com',
    };
  }

  /** The token endpoint: a signed claim of a service account, or a refresh token of a user. */
  exchange(form: URLSearchParams): Readonly<Record<string, string | number>> {
    const answer = (email: string, scopes: readonly string[]) => ({
      access_token: this.give(email, scopes),
      expires_in: this.lifetime - 1,
      token_type: 'Bearer',
      scope: scopes.join(' '),
    });
    switch (form.get('grant_type')) {
      case 'urn:ietf:params:oauth:grant-type:jwt-bearer': {
        const { email, claims } = this.#verify(form.get('assertion') ?? '');
        if (claims.aud !== tokenUrl && claims.aud !== 'https://www.googleapis.com/oauth2/v4/token')
          throw new OauthError('invalid_grant', `Invalid JWT: audience ${claims.aud}`);
        const scopes = (claims.scope ?? '').split(' ').filter(Boolean);
        if (scopes.length === 0)
          throw new OauthError('invalid_scope', 'Invalid OAuth scope or ID token audience provided.');
        return answer(email, scopes);
      }
      case 'refresh_token': {
        if (form.get('client_id') !== client.id || form.get('client_secret') !== client.secret)
          throw new OauthError('invalid_client', 'The OAuth client was not found.', 401);
        const email = this.#refresh.get(form.get('refresh_token') ?? '');
        if (email === undefined) throw new OauthError('invalid_grant', 'Bad Request');
        return answer(email, [cloudPlatform]);
      }
      default:
        throw new OauthError('unsupported_grant_type', `Invalid grant_type: ${form.get('grant_type')}`);
    }
  }

  /** An identity token, signed by Google. */
  identity(email: string, subject: string, audience: string, more: object = {}): string {
    const now = Math.floor(this.#now() / 1000);
    const claims = { aud: audience, azp: subject, email, email_verified: true, exp: now + 3600, iat: now };
    return sign({ ...claims, iss: 'https://accounts.google.com', sub: subject, ...more });
  }

  /** A service account may sign its own access token, for one API. */
  #ownSigned(token: string): Bearer | undefined {
    try {
      const { email, claims } = this.#verify(token);
      return { email, scopes: claims.scope?.split(' ') ?? [cloudPlatform], until: 1000 * (claims.exp ?? 0) };
    } catch {
      return undefined;
    }
  }

  #verify(token: string): { readonly email: string; readonly claims: Claims } {
    const [head = '', body = '', signature = ''] = token.split('.');
    let header: { alg?: string; kid?: string };
    let claims: Claims;
    try {
      header = JSON.parse(Buffer.from(head, 'base64url').toString()) as typeof header;
      claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Claims;
    } catch {
      throw new OauthError('invalid_request', 'Bad Request');
    }
    const email = header.kid === undefined ? claims.iss : this.#keys.get(header.kid);
    const known = email !== undefined && [...this.#keys.values()].includes(email) && email === claims.iss;
    if (!known) throw new OauthError('invalid_grant', 'Invalid grant: account not found');
    const verify = createVerify('RSA-SHA256').update(`${head}.${body}`);
    if (header.alg !== 'RS256' || !verify.verify(keyPair().public, signature, 'base64url'))
      throw new OauthError('invalid_grant', 'Invalid JWT Signature.');
    const now = this.#now() / 1000;
    if (!((claims.exp ?? 0) > now - 300 && (claims.iat ?? 0) < now + 300 && claims.exp! - claims.iat! <= 3600))
      throw new OauthError(
        'invalid_grant',
        'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim.',
      );
    return { email, claims };
  }
}

/** The key by which identity tokens are checked. */
export const identityKeys = (): object => ({
  keys: [{ ...createPublicKey(keyPair().private).export({ format: 'jwk' }), kid: 'lab', alg: 'RS256', use: 'sig' }],
});

function sign(claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part({ alg: 'RS256', kid: 'lab', typ: 'JWT' })}.${part(claims)}`;
  return `${text}.${createSign('RSA-SHA256').update(text).sign(createPrivateKey(keyPair().private), 'base64url')}`;
}
