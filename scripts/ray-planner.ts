// needs: ray-client

import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ensureRay } from './ray-venv.ts';

/** Ray's own planner in one Python process: requests in, replies out, both in the form of `manta dev plan`. */
export class RayPlanner {
  private readonly child: ChildProcess;
  private readonly waiting: { resolve: (line: string) => void; reject: (error: Error) => void }[] = [];

  static async start(...flags: readonly string[]): Promise<RayPlanner> {
    return new RayPlanner(await ensureRay(), flags);
  }

  private constructor(python: string, flags: readonly string[]) {
    const script = fileURLToPath(new URL('../src/simulation/ray/ray_planner.py', import.meta.url));
    this.child = spawn(python, [script, ...flags], { stdio: ['pipe', 'pipe', 'inherit'] });
    createInterface({ input: this.child.stdout! }).on('line', (line) => this.waiting.shift()?.resolve(line));
    this.child.on('error', (error) => this.fail(error));
    this.child.on('close', (code) => this.fail(new Error(`Ray's planner ended with exit code ${code}`)));
  }

  /** Replies come in the order of the requests; many may be under way. */
  plan(request: object): Promise<Record<string, unknown>> {
    return new Promise<string>((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      this.child.stdin!.write(`${JSON.stringify(request)}\n`);
    }).then((line) => JSON.parse(line) as Record<string, unknown>);
  }

  stop(): void {
    this.child.stdin!.end();
  }

  private fail(error: Error): void {
    for (const { reject } of this.waiting.splice(0)) reject(error);
  }
}
