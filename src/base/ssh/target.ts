import type { Duration } from '../time/clock.ts';

/**
 * How one machine is reached. What is not given is left to the user's own setup: `~/.ssh/config`, the agent, default
 * keys; what is given here wins over it.
 */
export interface SshTarget {
  /** As users know it. */
  readonly name: string;
  /** IPv4, IPv6 without brackets, a DNS name, or an alias of `~/.ssh/config`. */
  readonly address: string;
  readonly user?: string;
  readonly port?: number;
  /** Path of the private key, the only one that is offered then. `~/` is the home of this user. */
  readonly key?: string;
  /** For the user's own way there; `%h` and `%p` as in ssh_config(5). Not used where there is a `jump`. */
  readonly proxyCommand?: string;
  /** The connection goes through this machine, whose own key is checked too. */
  readonly jump?: SshTarget;
  /** Sessions there can use the agent of this user. @default what the user's own `~/.ssh/config` says, or not */
  readonly forwardAgent?: boolean;
  readonly pin: HostKeyPin;
  /** Folder for the sockets of master connections; a shorter private one is used where its path is too long. */
  readonly control: string;
  /** The name of its own socket there, where that was worked out before. */
  readonly socket?: string;
  /** How long a master connection stays when nothing uses it. @default 300 s */
  readonly persist?: Duration;
  /** Longest that one attempt to connect may take. @default 10 s */
  readonly connectTimeout?: Duration;
  /** Read in place of `~/.ssh/config` and the system's. */
  readonly config?: string;
}

/** Where the key of one instance is kept, under a name that is not its address: addresses are used again. */
export interface HostKeyPin {
  readonly file: string;
  readonly alias: string;
  /** Command that accepts another key, for the hint of the error. */
  readonly accept?: string;
}
