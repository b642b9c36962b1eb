import { amountOf, type Resources } from '../resources.ts';

/** Amounts are kept to four decimals, as Ray keeps them, so that sums of fractions come out even. */
export const rounded = (amount: number): number => Math.round(amount * 10_000) / 10_000;

export function fits(asked: Resources, available: Resources): boolean {
  return Object.entries(asked).every(([name, amount]) => amount <= amountOf(available, name));
}

export function minus(from: Resources, asked: Resources): Resources {
  const left: Record<string, number> = { ...from };
  for (const [name, amount] of Object.entries(asked)) left[name] = rounded(amountOf(left, name) - amount);
  return left;
}

export function plus(...parts: readonly Resources[]): Resources {
  const sum = new Map<string, number>();
  for (const part of parts)
    for (const [name, amount] of Object.entries(part)) sum.set(name, rounded((sum.get(name) ?? 0) + amount));
  return Object.fromEntries(sum);
}

export const asksForNothing = (asked: Resources): boolean => Object.values(asked).every((amount) => amount === 0);

/**
 * Graphics devices of one node. Whole devices are given alone; a fraction shares the fullest device that still has
 * room for it, so that whole ones stay free.
 */
export class DeviceBook {
  readonly #free: Map<number, number>;
  readonly #taken = new Map<string, ReadonlyMap<number, number>>();

  constructor(devices: readonly number[]) {
    this.#free = new Map(devices.map((device) => [device, 1]));
  }

  /** Numbers of the devices for `owner`; undefined when there is no room. The same owner again keeps what it has. */
  take(owner: string, amount: number): readonly number[] | undefined {
    const held = this.#taken.get(owner);
    if (held) return [...held.keys()];
    const share = new Map<number, number>();
    const whole = Math.floor(amount);
    const part = rounded(amount - whole);
    const untouched = [...this.#free].filter(([, left]) => left === 1).map(([device]) => device);
    if (untouched.length < whole) return undefined;
    for (const device of untouched.slice(0, whole)) share.set(device, 1);
    if (part > 0) {
      const shared = [...this.#free]
        .filter(([device, left]) => left >= part && !share.has(device))
        .sort((a, b) => a[1] - b[1])[0];
      if (!shared) return undefined;
      share.set(shared[0], part);
    }
    for (const [device, taken] of share) this.#free.set(device, rounded((this.#free.get(device) ?? 0) - taken));
    this.#taken.set(owner, share);
    return [...share.keys()];
  }

  release(owner: string): void {
    for (const [device, taken] of this.#taken.get(owner) ?? [])
      this.#free.set(device, rounded((this.#free.get(device) ?? 0) + taken));
    this.#taken.delete(owner);
  }
}
