import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const manta = fileURLToPath(new URL('../../bin/manta', import.meta.url));

export interface Ended {
  readonly exit: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the real program from this checkout. */
export function runManta(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return runNode([manta, ...words], env);
}

export function runNode(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, words, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.on('error', reject);
    child.on('close', (exit, signal) => resolve({ exit, signal, stdout, stderr }));
  });
}
