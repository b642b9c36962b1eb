import { readFileSync, rmSync } from 'node:fs';
import { writeJson } from '../../../base/files/json-file.ts';
import type { Clock, Duration, Instant } from '../../../base/time/clock.ts';
import { listsLag, settlingTime } from '../../../providers/clouds.ts';
import { providerErrors } from '../../../providers/errors.ts';
import type { ProviderInstance } from '../../../providers/provider.ts';

/**
 * Launches whose instances the cloud's lists may not show yet: those that were answered and are in no list so far, and those
 * of which nobody knows. Until when is kept in a file, for the next mantad and for who ends the cluster without one.
 */
export class UnseenLaunches {
  readonly #file: string;
  readonly #clock: Clock;
  readonly #unseen = new Set<string>();
  /** Calls without an answer yet. */
  #open = 0;
  #begunUntil: Instant = 0;
  #doubtUntil: Instant;
  #written: Instant;

  constructor(file: string, clock: Clock) {
    this.#file = file;
    this.#clock = clock;
    this.#doubtUntil = readUntil(file);
    this.#written = this.#doubtUntil;
  }

  async launch(call: () => Promise<readonly ProviderInstance[]>): Promise<readonly ProviderInstance[]> {
    const soon = (): Instant => this.#clock.now() + listsLag;
    this.#open++;
    this.#begunUntil = soon();
    this.#write();
    try {
      const made = await call();
      for (const { id } of made) this.#unseen.add(id);
      this.#begunUntil = soon();
      return made;
    } catch (error) {
      if (!refusals.some((refusal) => refusal.is(error))) this.#doubtUntil = soon();
      throw error;
    } finally {
      this.#open--;
      this.#write();
    }
  }

  listed(instances: readonly ProviderInstance[]): void {
    for (const { id } of instances) this.#unseen.delete(id);
    this.#write();
  }

  /** For how long lists have to show none before there are none. */
  settles(): Duration {
    return settlingTime(this.#until() - this.#clock.now());
  }

  #until(): Instant {
    return Math.max(this.#doubtUntil, this.#open + this.#unseen.size > 0 ? this.#begunUntil : 0);
  }

  #write(): void {
    const until = this.#until() > this.#clock.now() ? this.#until() : 0;
    if (until === this.#written) return;
    try {
      if (until === 0) rmSync(this.#file, { force: true });
      else writeJson(this.#file, until);
      this.#written = until;
    } catch {
      // A full disk keeps nobody from launching; it is tried again with the next list.
    }
  }
}

/** A launch that was answered so has made nothing. */
const refusals = [providerErrors.NoCapacity, providerErrors.Quota, providerErrors.Throttled, providerErrors.Denied];

function readUntil(file: string): Instant {
  try {
    return Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    return 0;
  }
}
