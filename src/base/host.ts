import type { ChildProcess, StdioOptions } from 'node:child_process';

/** What a program on a host came to. A code other than 0 is a result, not an error: the caller knows what it means. */
export interface HostResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** An abort ends the waiting at once; what was begun on a host over SSH may run on there. */
  readonly signal: AbortSignal;
  /** Silence is not an error, but the whole run may not take longer. `Infinity` for no bound. @default 60 s */
  readonly within?: number;
  /** Standard output goes here as it comes, byte for byte, and is then not part of the result. */
  readonly onStdout?: (bytes: Uint8Array) => void;
}

/**
 * A machine that programs are run on: over SSH, or this one. Every call throws the errors of `ssh/errors.ts` when the
 * host cannot be reached or the connection is lost; it never runs a program twice.
 */
export interface Host {
  /** As users know it: its address, or its name in `~/.ssh/config`. */
  readonly name: string;

  /**
   * Connects, if that is not done yet. Tries again, at first quickly, while the host may still be booting (refused,
   * timeout, unreachable, closed); gives up at once where waiting does not help (host key, authentication).
   */
  connect(options: {
    readonly signal: AbortSignal;
    readonly within: number;
    readonly onWait?: (why: Error) => void;
  }): Promise<void>;

  /** A connection stands ready, most likely: `open` may be called without `connect`. */
  isKept?(): boolean;

  /**
   * Runs a POSIX sh program, which is sent on standard input: it stands in no process table. Its own standard input is
   * empty. It is over when it has ended, also where it leaves processes behind that hold its output.
   */
  sh(program: string, options: RunOptions): Promise<HostResult>;

  /** Writes a file whole or not at all, with this mode, and the folders above it. `~/` is the home of the user there. */
  put(path: string, content: Uint8Array, mode: number, options: RunOptions): Promise<void>;

  /**
   * Starts a command line for `sh -c` with its streams open: pipes, terminals (`tty` asks for one), tunnels. Connect
   * first: what goes wrong here is told by the child's exit code and standard error alone.
   */
  open(
    command: string,
    options: { readonly stdio: StdioOptions; readonly tty?: boolean; readonly forwards?: readonly Forward[] },
  ): ChildProcess;

  /**
   * What rsync needs to reach it: the `--rsh` value and what stands before a path (`address:`, or nothing). `failure`
   * tells the lost or refused connection that the standard error of such an rsync speaks of, if it does.
   */
  rsync(): {
    readonly shell?: string;
    readonly prefix: string;
    readonly failure?: (stderr: string) => Error | undefined;
  };

  /**
   * Lets connections through to the host, for as long as this host is open, also when the connection is lost meanwhile.
   * Resolves with the local end: a unix socket, 0600, of this process alone, so that no other command ends it.
   */
  forward(remote: { readonly port: number } | { readonly socket: string }, signal: AbortSignal): Promise<string>;

  /** Gives up the kept connection: the next program runs in a new login, with the groups that the user has by then. */
  renew(): Promise<void>;

  /** Ends what this process holds of it. A shared master connection may stay for the next command. */
  close(): Promise<void>;
}

/** A port of this machine that leads to one on the host. */
export interface Forward {
  readonly localPort: number;
  readonly remotePort: number;
}
