/** What makes the machines behind the instances of the cloud. */
export interface Hypervisor {
  /** A machine with a disk and an address of its own, not switched on yet. */
  make(order: MachineOrder): Promise<Machine>;
}

export interface MachineOrder {
  readonly instance: string;
  readonly machineType: string;
  /** Who may log in, with which key; the user is made where there is none of that name, and may use sudo. */
  readonly login: Login | undefined;
  /** An sh program for the first boot, run as root before anybody can log in. */
  readonly userData: string | undefined;
  readonly sshd: boolean;
  readonly tags: Readonly<Record<string, string>>;
  /** It gets an address that is reached from elsewhere. */
  readonly outside: boolean;
  /** Called when the machine has switched itself off. */
  readonly poweredOff: () => void;
}

export interface Login {
  readonly user: string;
  readonly public_key: string;
}

export interface Machine {
  readonly address: string;
  /** Another one after each boot. */
  readonly outside?: string | undefined;
  /** Resolves when it is up. The disk is that of before. */
  boot(): Promise<void>;
  /** Power cut; the disk stays. */
  kill(): Promise<void>;
  /** Power cut, and the disk and the address are given back. */
  discard(): Promise<void>;
  /** What it has said while it booted, and since. */
  console(): string;
}
