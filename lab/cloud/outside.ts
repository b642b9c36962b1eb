import type { Lab, LabHost } from '../lab.ts';

/**
 * Addresses under which hosts are reached from the laptop alone, as from another network: the hosts do not reach one
 * another by them, and the laptop does not reach their inside addresses.
 */
export class OutsideAddresses {
  readonly #lab: Lab;
  readonly #network: string;
  readonly #given = new Set<number>();
  #next = 0;

  private constructor(lab: Lab) {
    this.#lab = lab;
    this.#network = `10.78.${lab.id}`;
  }

  static async open(lab: Lab): Promise<OutsideAddresses> {
    const addresses = new OutsideAddresses(lab);
    await lab.laptop.must(`ip address replace ${addresses.#laptop}/24 dev eth0`, { user: 'root' });
    return addresses;
  }

  get #laptop(): string {
    return `${this.#network}.10`;
  }

  /** Those that were given back come again as late as can be. */
  take(): string {
    for (let tried = 0; tried < most; tried++) {
      const number = 11 + (this.#next++ % most);
      if (this.#given.has(number)) continue;
      this.#given.add(number);
      return `${this.#network}.${number}`;
    }
    throw new Error(`there are no more than ${most} outside addresses`);
  }

  giveBack(address: string): void {
    this.#given.delete(Number(address.split('.').at(-1)));
  }

  /** From another network the inside address leads nowhere. */
  async hide(inside: string): Promise<void> {
    await this.#lab.laptop.must(`ip route replace unreachable ${inside}/32`, { user: 'root' });
  }

  async show(inside: string): Promise<void> {
    await this.#lab.laptop.exec(`ip route del unreachable ${inside}/32`, { user: 'root' }).catch(() => undefined);
  }

  /** Gives a host that is up its outside address. */
  async connect(host: LabHost, address: string): Promise<void> {
    const to = `ip address replace ${address}/32 dev eth0; ip route replace ${this.#laptop}/32 dev eth0 src ${address}`;
    await host.must(to, { user: 'root' });
  }
}

const most = 239;
