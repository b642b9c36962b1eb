import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { readShell } from '../../../base/shell/shell-file.ts';

const script = readShell(new URL('./lifeline.sh', import.meta.url));

/** Ends the agent's work when the agent dies, however it dies. */
export class Lifeline {
  readonly #word: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #sessions = new Set<number>();
  #watcher: ChildProcess;
  #ended = false;

  /** `word` is in the mark of everything that the agent starts, and in nothing else. */
  constructor(word: string, env: NodeJS.ProcessEnv) {
    this.#word = word;
    this.#env = env;
    this.#watcher = this.#start();
  }

  add(session: number): void {
    this.#sessions.add(session);
    this.#watcher.stdin?.write(`+${session}\n`);
  }

  remove(session: number): void {
    this.#sessions.delete(session);
    this.#watcher.stdin?.write(`-${session}\n`);
  }

  /** The agent ends in good order, with nothing left to kill. */
  end(): void {
    this.#ended = true;
    this.#watcher.stdin?.end('end\n');
  }

  #start(): ChildProcess {
    const args = ['-c', script, 'manta-lifeline', this.#word];
    const watcher = spawn('/bin/sh', args, {
      env: this.#env,
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    watcher.stdin?.on('error', () => {});
    watcher.on('error', () => {});
    for (const session of this.#sessions) watcher.stdin?.write(`+${session}\n`);
    // A job that kills every shell it may kill takes the watcher with it: another one takes its place.
    watcher.on('close', () => {
      if (!this.#ended)
        setTimeout(() => {
          if (!this.#ended) this.#watcher = this.#start();
        }, 50);
    });
    return watcher;
  }
}
