// needs: posix-shells, mounts
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** Shells that a host's `sh` may be. */
export const shells = ['dash', 'busybox sh', 'bash --posix'] as const;

export interface Said {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Programs for hosts, run here in a home of their own. */
export class ShellBed {
  readonly home: string;
  readonly #shell: readonly string[];
  readonly #programs: string;

  constructor(t: TestContext, shell: string) {
    this.#shell = shell.split(' ');
    const folder = mkdtempSync(join(tmpdir(), 'manta-shell-'));
    t.after(() => rmSync(folder, { recursive: true }));
    this.home = join(folder, 'home');
    this.#programs = join(folder, 'bin');
    mkdirSync(this.home);
    mkdirSync(this.#programs);
  }

  /** Puts a program in front of the machine's own of this name. */
  program(name: string, text: string): void {
    const file = join(this.#programs, name);
    writeFileSync(file, `#!/bin/sh\n${text}\n`);
    chmodSync(file, 0o755);
  }

  run(program: string): Said {
    return this.#spawn([...this.#shell, '-s'], program);
  }

  /**
   * Runs it with a disk of `pages` pages as the home, on which `before` has run; then `after`, whose output is the answer.
   * The disk is a mount that nothing else on this machine sees.
   */
  runOnDisk(pages: number, before: string, program: string, after: string): Said {
    const own = process.getuid?.() === 0 ? [] : ['--map-root-user'];
    const words = ['unshare', ...own, '--mount', 'sh', '-c', onDisk, 'sh', String(pages * 4), before, after];
    return this.#spawn([...words, ...this.#shell, '-s'], program);
  }

  #spawn([name = '', ...words]: readonly string[], input: string): Said {
    const env = { ...process.env, HOME: this.home, PATH: `${this.#programs}:${process.env['PATH'] ?? ''}` };
    const { status, stdout, stderr, error } = spawnSync(name, words, { input, encoding: 'utf8', env, timeout: 60_000 });
    if (error) throw error;
    return { code: status, stdout, stderr };
  }
}

const onDisk = `mount -t tmpfs -o "size=$1k" disk "$HOME" && cd "$HOME" || exit 99
sh -c "$2" || exit 98
after=$3
shift 3
"$@"; code=$?
sh -c "$after"
exit $code`;
