import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { rayVersion } from '../../core/ray-version.ts';
import { simulationErrors } from '../errors.ts';

/** What Ray's planner answers; of its fields those that a reconciler acts on. */
export interface RayReply {
  readonly to_launch: readonly { readonly instance_type: string; readonly count: number }[];
  readonly to_terminate: readonly { readonly instance_id: string; readonly cause: string }[];
}

/** A Python that can import Ray: what MANTA_RAY_PYTHON names, python3, or the environment that the tests make. */
export function findRayPython(env: Readonly<Record<string, string | undefined>>): string {
  const cache = env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const own = join(cache, 'manta', `ray-${rayVersion}`, 'bin', 'python');
  const named = env['MANTA_RAY_PYTHON'];
  const candidates = named === undefined ? ['python3', ...(existsSync(own) ? [own] : [])] : [named];
  const found = candidates.find(
    (python) => spawnSync(python, ['-c', 'import ray.autoscaler.v2.scheduler'], { stdio: 'ignore' }).status === 0,
  );
  if (found === undefined) throw simulationErrors.NoRay({ tried: named === undefined ? ['python3', own] : [named] });
  return found;
}

/** Ray's own planner in a Python process that answers one request after another. */
export class RayProcess {
  readonly #child: ChildProcess;
  readonly #waiting: { resolve(line: string): void; reject(error: Error): void }[] = [];
  #complaints = '';

  constructor(python: string) {
    const script = fileURLToPath(new URL('./ray_planner.py', import.meta.url));
    this.#child = spawn(python, [script, '--keep'], { stdio: ['pipe', 'pipe', 'pipe'] });
    createInterface({ input: this.#child.stdout as NodeJS.ReadableStream }).on('line', (line) =>
      this.#waiting.shift()?.resolve(line),
    );
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#complaints = (this.#complaints + chunk.toString()).slice(-2_000);
    });
    const end = (detail: string): void => {
      for (const waiter of this.#waiting.splice(0)) waiter.reject(simulationErrors.RayPlannerFailed({ detail }));
    };
    this.#child.on('error', (error) => end(error.message));
    this.#child.on('exit', (code) =>
      end(`it ended with code ${code}: ${this.#complaints.trim().split('\n').at(-1) ?? ''}`),
    );
  }

  /** The plan for one request. A request on which Ray itself fails gives `undefined`, as its loop goes on after that. */
  async plan(request: object): Promise<RayReply | undefined> {
    const line = await new Promise<string>((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#child.stdin?.write(`${JSON.stringify(request)}\n`);
    });
    const reply = JSON.parse(line) as
      | RayReply
      | { readonly error: { readonly type: string; readonly message: string } };
    return 'error' in reply ? undefined : reply;
  }

  close(): void {
    this.#child.stdin?.end();
  }
}
