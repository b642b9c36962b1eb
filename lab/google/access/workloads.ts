/** Programs elsewhere, such as builds, that take on a service account with the token of their own identity provider. */
import { randomBytes } from 'node:crypto';
import { cloudPlatform, OauthError, type Tokens } from './tokens.ts';

/** What `gcloud iam workload-identity-pools create-cred-config` writes. */
export interface WorkloadCredentials {
  readonly type: 'external_account';
  readonly audience: string;
  readonly subject_token_type: string;
  readonly token_url: string;
  readonly service_account_impersonation_url: string;
  /** A file with the token of the identity provider. */
  readonly credential_source: { readonly file: string };
  readonly universe_domain: string;
}

const tokenType = 'urn:ietf:params:oauth:token-type:jwt';

export class Workloads {
  readonly #tokens: Tokens;
  /** By the token of their identity provider. */
  readonly #known = new Map<string, { readonly principal: string; readonly audience: string }>();
  /** Whom a principal may be. */
  readonly #accounts = new Map<string, string>();

  constructor(tokens: Tokens) {
    this.#tokens = tokens;
  }

  /** A program that may be this account; it finds the token of its identity provider, which is returned, in a file. */
  add(
    project: { readonly number: number },
    email: string,
    file: string,
  ): { readonly token: string; readonly credentials: WorkloadCredentials } {
    const pool = `iam.googleapis.com/projects/${project.number}/locations/global/workloadIdentityPools/lab`;
    const token = randomBytes(24).toString('base64url');
    const known = { principal: `principal://${pool}/subject/${email}`, audience: `//${pool}/providers/lab` };
    this.#known.set(token, known);
    this.#accounts.set(known.principal, email);
    return {
      token,
      credentials: {
        type: 'external_account',
        audience: known.audience,
        subject_token_type: tokenType,
        token_url: 'https://sts.googleapis.com/v1/token',
        service_account_impersonation_url: `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/${email}:generateAccessToken`,
        credential_source: { file },
        universe_domain: 'googleapis.com',
      },
    };
  }

  /** What sts gives for a token of the identity provider: one that is good for taking on accounts. */
  exchange(form: URLSearchParams): Readonly<Record<string, string | number>> {
    const known = this.#known.get(form.get('subject_token') ?? '');
    if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:token-exchange')
      throw new OauthError('unsupported_grant_type', `Invalid grant_type: ${form.get('grant_type')}`);
    if (known === undefined || form.get('subject_token_type') !== tokenType)
      throw new OauthError('invalid_grant', 'The subject token is not valid.');
    if (form.get('audience') !== known.audience)
      throw new OauthError('invalid_target', 'The audience is not a provider of this pool.');
    return {
      access_token: this.#tokens.give(known.principal, [cloudPlatform]),
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      token_type: 'Bearer',
      expires_in: this.#tokens.lifetime,
    };
  }

  /** A token of the account, for who may be it; undefined for others. */
  takeOn(principal: string, email: string, scopes: readonly string[]): string | undefined {
    return this.#accounts.get(principal) === email ? this.#tokens.give(email, scopes) : undefined;
  }
}
