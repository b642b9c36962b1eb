// needs: cluster

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { namesIn } from '../../../src/base/files/json-file.ts';
import { findMarked, identify, isAlive } from '../../../src/base/process.ts';
import type { Clock } from '../../../src/base/time/clock.ts';
import type { Labels, Resources } from '../../../src/core/resources.ts';
import type { EmbeddedEngineOptions } from '../../../src/engines/embedded/engine.ts';
import { EmbeddedEngine } from '../../../src/engines/embedded/engine.ts';
import { agentCommand } from '../../../src/engines/embedded/paths.ts';
import type { AttemptOrder, AttemptReport } from '../../../src/engines/runner.ts';
import type { FaultRule } from '../../../src/providers/process/faults.ts';
import type { ProcessProviderOptions } from '../../../src/providers/process/provider.ts';
import { kindTag, ProcessProvider } from '../../../src/providers/process/provider.ts';
import { readProcess } from '../../../src/providers/process/record.ts';
import { never, until } from '../../contract/waiting.ts';

const wallClock: Clock = {
  now: () => Date.now(),
  sleep: (duration, signal) => sleep(duration, undefined, signal ? { signal } : {}),
};

export interface NodeTypeOfTest {
  readonly resources: Resources;
  readonly labels?: Labels;
}

const types: Readonly<Record<string, NodeTypeOfTest>> = {
  head: { resources: { CPU: 2 } },
  small: { resources: { CPU: 1, memory: 1e9 } },
  large: { resources: { CPU: 4, memory: 4e9, disk: 2 }, labels: { zone: 'a' } },
  gpu: { resources: { CPU: 4, GPU: 2 }, labels: { zone: 'b' } },
};

/** A folder with a process provider and an embedded engine; everything in it has ended when the test has. */
export class TestCluster {
  readonly folder: string;
  readonly types: Record<string, NodeTypeOfTest>;
  provider: ProcessProvider;
  #engine: EmbeddedEngine | undefined;
  readonly #instances = new Set<string>();
  #launches = 0;

  constructor(t: Pick<TestContext, 'after'>, options: Partial<ProcessProviderOptions> & { folder?: string } = {}) {
    this.folder = options.folder ?? mkdtempSync(join(tmpdir(), 'manta-test-'));
    this.types = { ...types };
    this.provider = this.makeProvider(options.faults ?? [], options);
    t.after(() => this.cleanUp());
  }

  makeProvider(faults: readonly FaultRule[] = [], options: Partial<ProcessProviderOptions> = {}): ProcessProvider {
    this.provider = new ProcessProvider({
      clock: wallClock,
      endGrace: 5_000,
      ...options,
      folder: join(this.folder, 'instances'),
      agent: agentCommand(this.folder),
      typeOf: (name) => {
        const type = this.types[name];
        return type && { resources: type.resources, labels: type.labels ?? {} };
      },
      faults,
    });
    return this.provider;
  }

  async open(options: Partial<EmbeddedEngineOptions> = {}): Promise<EmbeddedEngine> {
    this.#engine?.close();
    this.#engine = await EmbeddedEngine.open({ folder: this.folder, clock: wallClock, ...options });
    return this.#engine;
  }

  get engine(): EmbeddedEngine {
    if (!this.#engine) throw new Error('open the engine first');
    return this.#engine;
  }

  /** Launches and returns the ids; waits until the engine shows them, unless told otherwise. */
  async launch(type: string, count = 1, wait = true): Promise<string[]> {
    const tags = type === 'head' ? { [kindTag]: 'head' } : {};
    const request = { token: `t${this.#launches++}`, type, count, market: 'on-demand' as const, tags };
    const ids = (await this.provider.launch(request, never)).map((instance) => instance.id);
    for (const id of ids) this.#instances.add(id);
    if (wait)
      await until('the nodes have registered', async () => {
        const { nodes } = await this.engine.state(never);
        return ids.every((id) => nodes.some((node) => node.providerId === id && node.state === 'alive'));
      });
    return ids;
  }

  order(id: string, entrypoint: string, more: Partial<AttemptOrder> = {}): AttemptOrder {
    const log = join(this.folder, 'logs', encodeURIComponent(id));
    const plain = { id, job: id, number: 1, own: {}, metadata: {}, environment: {}, env: {}, setup: [], labels: {} };
    return { ...plain, entrypoint, resources: { CPU: 1 }, log, ...more };
  }

  async report(id: string): Promise<AttemptReport | undefined> {
    return (await this.engine.attempts(never)).find((report) => report.id === id);
  }

  running(id: string): Promise<AttemptReport> {
    return until(`${id} runs`, async () => {
      const report = await this.report(id);
      return report?.state === 'running' && report;
    });
  }

  ended(id: string): Promise<AttemptReport> {
    return until(`${id} has ended`, async () => {
      const report = await this.report(id);
      return report?.state === 'ended' && report;
    });
  }

  agentPid(instance: string): number {
    const agent = readProcess(join(this.folder, 'instances', instance));
    if (!agent) throw new Error(`the agent of ${instance} has not signed in`);
    return agent.pid;
  }

  /** Processes of this cluster that still run. */
  leftovers(): number[] {
    const ids = new Set([...this.#instances, ...this.#folders()]);
    return [...ids].flatMap((id) => findMarked(id));
  }

  async cleanUp(): Promise<void> {
    this.#engine?.close();
    this.#engine = undefined;
    const agents = this.#folders().flatMap((id) => readProcess(join(this.folder, 'instances', id)) ?? []);
    for (const agent of agents) if (isAlive(agent)) process.kill(agent.pid, 'SIGKILL');
    await until('nothing of the cluster runs', () => {
      for (const pid of this.leftovers()) if (identify(pid)) process.kill(pid, 'SIGKILL');
      return this.leftovers().length === 0 && !agents.some(isAlive);
    });
    await this.provider.settled();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #folders(): string[] {
    return namesIn(join(this.folder, 'instances')).filter((name) => !name.startsWith('.'));
  }
}
