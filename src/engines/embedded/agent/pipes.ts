import { execFile } from 'node:child_process';
import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Pipe {
  readonly read: number;
  readonly write: number;
}

const batch = 8;
const low = 4;
const run = promisify(execFile);

/**
 * Real pipes for the output of attempts. What Node makes for a child are sockets, and a program cannot open
 * `/dev/stdout` when that is a socket. Made ahead in batches through named pipes that lose their names at once.
 */
export class PipePool {
  readonly #folder: string;
  readonly #ready: Pipe[] = [];
  #filling: Promise<void> | undefined;
  #made = 0;
  #closed = false;

  constructor(folder: string) {
    this.#folder = folder;
    this.#fill().catch(() => {});
  }

  async take(): Promise<Pipe> {
    for (;;) {
      const pipe = this.#ready.pop();
      if (this.#ready.length < low) {
        const filled = this.#fill();
        if (pipe) filled.catch(() => {});
        else await filled;
      }
      if (pipe) return pipe;
    }
  }

  close(): void {
    this.#closed = true;
    for (const pipe of this.#ready.splice(0)) {
      closeSync(pipe.read);
      closeSync(pipe.write);
    }
  }

  #fill(): Promise<void> {
    this.#filling ??= this.#make().finally(() => {
      this.#filling = undefined;
    });
    return this.#filling;
  }

  async #make(): Promise<void> {
    const names = Array.from({ length: batch }, () => join(this.#folder, `pipe-${process.pid}-${this.#made++}`));
    await run('mkfifo', ['-m', '600', ...names]);
    for (const name of names) {
      const read = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK);
      const write = openSync(name, constants.O_WRONLY);
      unlinkSync(name);
      this.#ready.push({ read, write });
    }
    if (this.#closed) this.close();
  }
}
