import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readShell, shellCommand } from '../../src/base/shell/shell-file.ts';
import type { HostOptions, Lab, LabHost } from '../lab.ts';
import type { Hypervisor, Machine, MachineOrder } from './hypervisor.ts';
import type { OutsideAddresses } from './outside.ts';

const firstBoot = readShell(new URL('./first-boot.sh', import.meta.url));

/** Machines that are hosts of a lab. `image` is what each of them has; `outside` gives addresses for the laptop. */
export function labHypervisor(
  lab: Lab,
  image: HostOptions,
  outside?: OutsideAddresses,
): Hypervisor & { host(address: string): LabHost | undefined } {
  const hosts = new Map<string, LabHost>();
  return {
    host: (address) => hosts.get(address),
    make: async (order) => {
      const host = await lab.addHost(
        { ...image, sshd: order.sshd, keys: [], first: firstBootOf(order, image.first) },
        order.poweredOff,
      );
      hosts.set(host.address, host);
      await outside?.hide(host.address);
      const machine = machineOf(lab, host, () => hosts.delete(host.address));
      return outside === undefined ? machine : withOutside(machine, host, outside, order.outside);
    },
  };
}

/** Each boot but the first gets another address, as after a stop. */
function withOutside(machine: Machine, host: LabHost, all: OutsideAddresses, wanted: boolean): Machine {
  let address = wanted ? all.take() : undefined;
  let booted = false;
  const renew = (): void => {
    if (address !== undefined) all.giveBack(address);
    address = wanted ? all.take() : undefined;
  };
  return {
    ...machine,
    get outside() {
      return address;
    },
    boot: async () => {
      if (booted) renew();
      booted = true;
      await machine.boot();
      if (address !== undefined) await all.connect(host, address);
    },
    discard: async () => {
      if (address !== undefined) all.giveBack(address);
      await machine.discard();
      await all.show(host.address);
    },
  };
}

function machineOf(lab: Lab, host: LabHost, gone: () => void): Machine {
  return {
    address: host.address,
    boot: () => host.boot(),
    kill: () => host.kill(),
    discard: async () => {
      gone();
      await lab.removeHost(host);
    },
    console: () =>
      host.up
        ? ['var/log/console.log', 'var/log/sshd.log']
            .map((file) => join(host.root, file))
            .filter((file) => existsSync(file))
            .map((file) => readFileSync(file, 'utf8'))
            .join('')
        : '',
  };
}

/** What cloud-init would do: the user with the key, then the program that was given. */
const firstBootOf = ({ instance, login, userData }: MachineOrder, image: string | undefined): string =>
  shellCommand(firstBoot, {
    instance,
    image_program: image,
    login_user: login?.user,
    login_key: login?.public_key,
    user_data: userData,
  });
