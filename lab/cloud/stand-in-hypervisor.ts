import type { Hypervisor, MachineOrder } from './hypervisor.ts';

/** Machines that are nothing but their order: for what needs many of them, or none that does anything. */
export class StandInHypervisor implements Hypervisor {
  /** In the order in which they were made. */
  readonly orders: MachineOrder[] = [];
  /** Ids of instances that are switched on. */
  readonly up = new Set<string>();
  #made = 0;
  #boots = 0;

  make(order: MachineOrder) {
    this.orders.push(order);
    const { up } = this;
    const address = `172.31.${addressOf(++this.#made)}`;
    const next = (): string | undefined => (order.outside ? `54.${addressOf(++this.#boots + 65_536)}` : undefined);
    let outside = next();
    let booted = false;
    return Promise.resolve({
      address,
      get outside() {
        return outside;
      },
      boot: async () => {
        if (booted) outside = next();
        booted = true;
        up.add(order.instance);
      },
      kill: async () => void up.delete(order.instance),
      discard: async () => void up.delete(order.instance),
      console: () => `${order.instance} booted\n`,
    });
  }
}

const addressOf = (number: number): string => {
  const low = `${(number >> 8) & 255}.${number & 255}`;
  return number < 65_536 ? low : `${(number >> 16) & 255}.${low}`;
};
