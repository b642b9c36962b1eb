import type { Instant } from '../../base/time/clock.ts';
import type { InstanceView } from '../../core/instance.ts';
import { isFinal } from '../../core/lifecycle.ts';

const hour = 3_600_000;

/** Adds up what the instances have cost since mantad started, where prices are known. */
export class CostMeter {
  #last: Instant | undefined;
  #spent = 0;

  get spent(): number {
    return this.#spent;
  }

  /** Charges the time since the last call for what is there now. A clock that was set back charges nothing. */
  charge(
    now: Instant,
    instances: readonly InstanceView[],
    priceOf: (instance: InstanceView) => number | undefined,
  ): void {
    const passed = this.#last === undefined ? 0 : Math.max(0, now - this.#last);
    this.#last = now;
    for (const instance of instances) {
      if (isFinal(instance.status) || instance.status === 'queued' || instance.status === 'requested') continue;
      this.#spent += ((priceOf(instance) ?? 0) * passed) / hour;
    }
  }
}
