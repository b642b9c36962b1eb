import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { cloudErrors } from './errors.ts';
import { bearerIs } from './http.ts';
import type { Settings } from './settings.ts';

/** Who may call, and how often. */
export class Accounts {
  readonly #tokens = new Map<string, string>();
  readonly #buckets = new Map<string, { left: number; at: number }>();

  /** Makes an account; the answer is its token. One that is there already gets another token, and the old one is void. */
  open(name: string): string {
    const token = randomBytes(18).toString('base64url');
    this.#tokens.set(name, token);
    return token;
  }

  names(): readonly string[] {
    return [...this.#tokens.keys()];
  }

  of(request: IncomingMessage): string {
    for (const [name, token] of this.#tokens) if (bearerIs(request, token)) return name;
    throw cloudErrors.unauthorized();
  }

  /** Takes one call out of the account's bucket; false when it is empty. */
  mayCall(account: string, limit: Settings['rate_limit'], now: number): boolean {
    if (limit === null) {
      this.#buckets.delete(account);
      return true;
    }
    const { left, at } = this.#buckets.get(account) ?? { left: limit.burst, at: now };
    const filled = Math.min(limit.burst, left + ((now - at) / 1000) * limit.per_s);
    this.#buckets.set(account, { left: filled >= 1 ? filled - 1 : filled, at: now });
    return filled >= 1;
  }
}
