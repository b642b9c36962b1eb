import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { openLogWriter } from '../../src/base/files/log-segments.ts';
import type { Duration } from '../../src/base/time/clock.ts';
import { embeddedEnvironments } from '../../src/engines/embedded/environments.ts';
import type { AttemptOrder, AttemptReport, EnvironmentSupport, Runner } from '../../src/engines/runner.ts';

/** The smallest engine that really runs entrypoints: on this machine, each in a session and a folder of its own. */
export class ShellRunner implements Runner {
  readonly environments: EnvironmentSupport;
  #known = new Map<string, { order: AttemptOrder; report: AttemptReport; child?: ChildProcess; stopped?: boolean }>();
  #listeners = new Set<(report: AttemptReport) => void>();
  #root = mkdtempSync(join(tmpdir(), 'manta-shell-'));
  #cpus: number;

  constructor(cpus: number, environments: EnvironmentSupport = embeddedEnvironments) {
    this.#cpus = cpus;
    this.environments = environments;
  }

  hasRoom(order: Pick<AttemptOrder, 'resources'>): boolean {
    const used = [...this.#known.values()]
      .filter((each) => each.report.state !== 'ended')
      .reduce((sum, each) => sum + (each.order.resources['CPU'] ?? 0), 0);
    return (order.resources['CPU'] ?? 0) <= this.#cpus - used;
  }

  async start(order: AttemptOrder): Promise<void> {
    if (this.#known.has(order.id)) return;
    this.#known.set(order.id, { order, report: { id: order.id, state: 'waiting', logSize: 0 } });
    void this.#run(order);
  }

  async stop(attempt: string, grace: Duration): Promise<void> {
    const known = this.#known.get(attempt);
    if (!known || known.report.state === 'ended') return;
    known.stopped = true;
    const { child } = known;
    if (!child) return;
    this.#signal(child, 'SIGTERM');
    const hard = setTimeout(() => this.#signal(child, 'SIGKILL'), grace);
    child.once('close', () => clearTimeout(hard));
  }

  async attempts(): Promise<readonly AttemptReport[]> {
    return [...this.#known.values()].map((each) => each.report);
  }

  async forget(attempt: string): Promise<void> {
    this.#known.delete(attempt);
  }

  watch(listener: (report: AttemptReport) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  close(): void {
    for (const { child } of this.#known.values()) if (child) this.#signal(child, 'SIGKILL');
    rmSync(this.#root, { recursive: true, force: true });
  }

  async #run(order: AttemptOrder): Promise<void> {
    const folder = join(this.#root, order.id);
    await cp(order.workingDir ?? mkdtempSync(join(this.#root, 'empty-')), folder, { recursive: true });
    const writer = openLogWriter(order.log, { now: () => Date.now() });
    const paths = order.setup.flatMap((step) => (step.kind === 'python-path' && step.path ? [step.path] : []));
    const child = spawn('/bin/sh', ['-c', order.entrypoint], {
      cwd: folder,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: this.#root,
        ...order.env,
        ...order.own,
        ...(paths.length > 0 && { PYTHONPATH: paths.join(delimiter) }),
      },
    });
    const known = this.#known.get(order.id);
    if (known) known.child = child;
    if (known?.stopped) this.#signal(child, 'SIGTERM');
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => writer.write(bytes));
    child.once('spawn', () =>
      this.#report(order.id, { state: 'running', node: 'this-machine', startedAt: Date.now() }),
    );
    child.once('close', (code, signal) => {
      writer.end();
      const cause = this.#known.get(order.id)?.stopped ? 'stopped' : code === 0 ? 'succeeded' : 'failed';
      this.#report(order.id, {
        state: 'ended',
        cause,
        exitCode: code ?? (signal ? 128 + 15 : 1),
        endedAt: Date.now(),
        logSize: writer.size,
      });
    });
  }

  #report(id: string, news: Partial<AttemptReport>): void {
    const known = this.#known.get(id);
    if (!known) return;
    known.report = { ...known.report, ...news };
    for (const listener of this.#listeners) listener(known.report);
  }

  #signal(child: ChildProcess, signal: NodeJS.Signals): void {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // Its session is gone already.
    }
  }
}
