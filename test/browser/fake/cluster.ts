import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter } from 'node:events';
import type {
  ClusterAnswer,
  DemandAnswer,
  EventAnswer,
  JobRow,
  Mark,
  NodeAnswer,
  SamplePoint,
  StreamKind,
  SubmitBody,
  WhyAnswer,
} from '../../../src/api/types.ts';
import { isOver, type Job, type JobState } from '../../../src/core/jobs/job.ts';
import { byNewest, matchesFilter } from '../../../src/web/state/job-query.ts';
import { FakeLog } from './log.ts';
import { nodeTypes, randomFrom, seedDemand, seedEvents, seedHistory, seedJobs, seedNodes } from './seed.ts';

export interface SeedOptions {
  readonly seed: number;
  readonly nodes: number;
  readonly jobs: number;
  /** Jobs, nodes and samples change by themselves. */
  readonly lively: boolean;
}

const tickEvery = 500;

/** What a head would know. It outlives the server in front of it, as the journal outlives mantad. */
export class FakeCluster {
  readonly changes = new EventEmitter<{ change: [kind: StreamKind, data: unknown] }>();
  readonly startedAt: number;
  nodes: NodeAnswer[];
  events: EventAnswer[];
  history: { samples: SamplePoint[]; marks: Mark[] };
  demand: DemandAnswer;
  /** What a side that does not answer leaves unknown. */
  unknown: readonly string[] = [];
  readonly #jobs = new Map<string, Job>();
  readonly #logs = new Map<string, FakeLog>();
  readonly #processes = new Map<string, ChildProcess>();
  readonly #random: () => number;
  readonly #timers: NodeJS.Timeout[] = [];
  #made = 0;

  constructor(options: SeedOptions) {
    const now = Date.now();
    this.#random = randomFrom(options.seed);
    this.startedAt = now - 26 * 3_600_000;
    this.nodes = seedNodes(options.nodes, now, this.#random);
    for (const job of seedJobs(options.jobs, now, this.nodes, this.#random)) this.#jobs.set(job.id, job);
    const jobsOf = Map.groupBy(
      this.jobs().filter((job) => job.state === 'running'),
      (job) => job.attempts.at(-1)?.node,
    );
    this.nodes = this.nodes.map((node) => ({ ...node, jobs: (jobsOf.get(node.node) ?? []).map((job) => job.id) }));
    this.events = options.jobs === 0 ? [] : seedEvents(1500, now, this.nodes, this.jobs(), this.#random);
    this.history = options.nodes > 1 ? seedHistory(options.nodes, now, this.#random) : { samples: [], marks: [] };
    this.demand =
      options.jobs === 0
        ? { demand: { tasks: [], gangs: [], standing: [] }, waiting: [], infeasible: [] }
        : seedDemand(now);
    if (options.lively) this.#timers.push(setInterval(() => this.tick(), tickEvery));
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
    for (const child of this.#processes.values()) endGroup(child);
  }

  jobs(): Job[] {
    return [...this.#jobs.values()];
  }

  job(id: string): Job | undefined {
    return this.#jobs.get(id);
  }

  /** Newest first. */
  list(states: readonly JobState[], search: string): JobRow[] {
    const filter = { states, search };
    return this.jobs()
      .reverse()
      .map(rowOf)
      .filter((row) => matchesFilter(row, filter))
      .sort(byNewest);
  }

  cluster(): ClusterAnswer {
    const jobs: Record<JobState, number> = {
      held: 0,
      queued: 0,
      starting: 0,
      running: 0,
      stopping: 0,
      succeeded: 0,
      failed: 0,
      stopped: 0,
    };
    for (const job of this.#jobs.values()) jobs[job.state] += 1;
    const usage: Record<string, { used: number; total: number }> = {};
    let perHour = 0;
    const count = { running: 0, pending: 0, draining: 0, failed: 0 };
    for (const node of this.nodes) {
      if (node.status === 'running') count.running += 1;
      else if (node.status === 'draining') count.draining += 1;
      else if (node.status.endsWith('failed')) count.failed += 1;
      else count.pending += 1;
      if (node.status.endsWith('failed')) continue;
      perHour += node.pricePerHour ?? 0;
      if (node.node === undefined) continue;
      for (const [name, total] of Object.entries(node.total)) {
        const entry = (usage[name] ??= { used: 0, total: 0 });
        entry.total += total;
        entry.used += total - (node.available[name] ?? 0);
      }
    }
    return {
      name: 'demo',
      engine: 'embedded',
      mantaVersion: '0.1.0',
      startedAt: this.startedAt,
      now: Date.now(),
      user: 'default',
      nodeTypes,
      nodes: count,
      usage,
      jobs,
      cost: { perHour, spent: perHour * 17.4 },
      synced: this.unknown.length === 0,
      ...(this.unknown.length > 0 && { unknown: this.unknown }),
      turnOff: {
        until: this.startedAt + 48 * 3_600_000,
        at: this.startedAt + 48 * 3_600_000,
        because: 'until',
        soon: false,
        text: 'shuts down in 22h (--until, --for)',
      },
    };
  }

  why(kind: string, id: string): WhyAnswer {
    const job = kind === 'job' ? this.#jobs.get(id) : undefined;
    const at = job?.submittedAt ?? Date.now() - 600_000;
    return {
      subject: id,
      state: job?.state ?? 'running',
      chain:
        kind === 'job'
          ? [
              { at, text: 'submitted, admitted: cpu-large and cpu-spot could hold it' },
              { at: at + 200, text: 'no node had 4 CPU free; demand for 1 × {CPU: 4}' },
              {
                at: at + 700,
                text: 'launched 6 × cpu-large; cpu-spot was passed over: no capacity in zone b until 12:31',
              },
              ...(job?.startedAt === undefined
                ? []
                : [{ at: job.startedAt, text: 'placed on a node that became ready' }]),
            ]
          : [
              { at, text: '48 × {CPU: 4} of queued jobs found no room' },
              { at: at + 300, text: 'cpu-large chosen: cheapest per CPU among types with capacity' },
              { at: at + 41_000, text: 'running 41 s after it was asked for' },
            ],
      next: job?.state === 'queued' ? ['raise max_workers of cpu-large (now 600)', 'allow spot in another zone'] : [],
    };
  }

  log(job: string, attempt: number): FakeLog | undefined {
    const known = this.#logs.get(`${job}.${attempt}`);
    const owner = this.#jobs.get(job);
    if (known !== undefined || owner?.attempts[attempt - 1] === undefined) return known;
    const log = new FakeLog();
    this.#logs.set(`${job}.${attempt}`, log);
    for (let step = 1; step <= 3000; step += 1) log.append(trainingLine(step));
    if (isOver(owner.state)) log.end();
    else {
      let step = 3000;
      const timer = setInterval(() => {
        step += 1;
        if (log.ended) clearInterval(timer);
        else log.append(trainingLine(step));
      }, 250);
      this.#timers.push(timer);
    }
    return log;
  }

  /** Runs the entrypoint for real, by /bin/sh, in a process group of its own. */
  submit(body: SubmitBody): Job {
    this.#made += 1;
    const id = body.id ?? `job-${this.#made}-${Math.floor(this.#random() * 1e6).toString(36)}`;
    const job: Job = {
      id,
      user: 'default',
      entrypoint: body.entrypoint,
      runtimeEnv: body.runtime_env ?? {},
      metadata: body.metadata ?? {},
      resources: body.resources ?? {},
      labels: {},
      priority: body.priority ?? 0,
      retries: { failed: body.retries?.failed ?? 0, nodeLost: 3, preempted: 3, setupFailed: 0 },
      dependsOn: body.depends_on ?? [],
      submittedAt: Date.now(),
      state: 'queued',
      attempts: [],
      message: '',
    };
    this.#put(job);
    this.say('info', 'MANTA_JOB_SUBMITTED', `${id} submitted by default`, { job: id });
    setTimeout(() => this.#start(id), 150);
    return job;
  }

  stop(id: string): Job | undefined {
    const job = this.#jobs.get(id);
    if (job === undefined || isOver(job.state)) return job;
    this.#put({ ...job, state: 'stopping', stopAskedAt: Date.now() });
    const child = this.#processes.get(id);
    if (child !== undefined) endGroup(child);
    else setTimeout(() => this.#finish(id, 'stopped', undefined), 200);
    return this.#jobs.get(id);
  }

  retry(id: string): Job | undefined {
    const job = this.#jobs.get(id);
    if (job === undefined) return undefined;
    return this.submit({ entrypoint: job.entrypoint, resources: job.resources, runtime_env: job.runtimeEnv });
  }

  remove(id: string): boolean {
    return this.#jobs.delete(id);
  }

  say(level: EventAnswer['level'], code: string, text: string, about: Partial<EventAnswer> = {}): void {
    const event: EventAnswer = { ...about, seq: (this.events.at(-1)?.seq ?? 0) + 1, at: Date.now(), code, level, text };
    this.events.push(event);
    this.changes.emit('change', 'event', event);
  }

  /** One step of life: some jobs move on, some nodes get other work. */
  tick(): void {
    const jobs = this.jobs();
    const seeded = (state: JobState): Job | undefined =>
      jobs.findLast((job) => job.state === state && !this.#processes.has(job.id) && this.#random() < 0.3);
    const running = this.#random() < 0.3 ? seeded('running') : undefined;
    if (running !== undefined) {
      this.#finish(running.id, 'succeeded', 0);
      this.say('info', 'MANTA_JOB_OVER', `${running.id} succeeded`, { job: running.id });
    }
    const queued = this.#random() < 0.3 ? seeded('queued') : undefined;
    if (queued !== undefined) {
      const node = this.nodes.find((each) => each.node !== undefined && each.kind === 'worker')?.node;
      const attempt = {
        id: `${queued.id}.1`,
        number: 1,
        startedAt: Date.now(),
        ...(node === undefined ? {} : { node }),
      };
      this.#put({ ...queued, state: 'running', startedAt: Date.now(), attempts: [attempt] });
    }
    this.nodes = this.nodes.map((node, index) => {
      if (node.node === undefined || index === 0 || this.#random() > 0.02) return node;
      const share = Math.floor(this.#random() * 9) / 8;
      const available = Object.fromEntries(
        Object.entries(node.total).map(([name, total]) => [name, total - Math.round(total * share)]),
      );
      return { ...node, available };
    });
    this.changes.emit('change', 'nodes', this.nodes);
    this.changes.emit('change', 'cluster', this.cluster());
    const last = this.history.samples.at(-1);
    if (last !== undefined && Date.now() - last.at > 2000) {
      const sample = { ...last, at: Date.now(), usage: this.cluster().usage };
      this.history.samples.push(sample);
      this.changes.emit('change', 'sample', sample);
    }
  }

  #start(id: string): void {
    const job = this.#jobs.get(id);
    if (job?.state !== 'queued') return;
    const log = new FakeLog();
    this.#logs.set(`${id}.1`, log);
    const node = this.nodes.find((each) => each.node !== undefined)?.node;
    const attempt = { id: `${id}.1`, number: 1, startedAt: Date.now(), ...(node === undefined ? {} : { node }) };
    this.#put({ ...job, state: 'running', startedAt: Date.now(), attempts: [attempt] });
    const child = spawn('/bin/sh', ['-c', job.entrypoint], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#processes.set(id, child);
    child.stdout.on('data', (bytes: Buffer) => log.append(bytes));
    child.stderr.on('data', (bytes: Buffer) => log.append(bytes));
    child.on('close', (code) => {
      this.#processes.delete(id);
      const stopped = this.#jobs.get(id)?.state === 'stopping';
      this.#finish(id, stopped ? 'stopped' : code === 0 ? 'succeeded' : 'failed', code ?? undefined);
    });
  }

  #finish(id: string, state: 'succeeded' | 'failed' | 'stopped', exitCode: number | undefined): void {
    const job = this.#jobs.get(id);
    if (job === undefined) return;
    const endedAt = Date.now();
    const exit = exitCode === undefined ? {} : { exitCode };
    const attempts = job.attempts.map((attempt, index) =>
      index === job.attempts.length - 1 ? { ...attempt, endedAt, cause: state, ...exit } : attempt,
    );
    const message = state === 'failed' ? `Job entrypoint command failed with exit code ${exitCode}` : '';
    this.#put({ ...job, state, endedAt, attempts, message, ...exit });
    this.#logs.get(attempts.at(-1)?.id ?? '')?.end();
  }

  #put(job: Job): void {
    this.#jobs.set(job.id, job);
    this.changes.emit('change', 'job', rowOf(job));
  }
}

function rowOf(job: Job): JobRow {
  const node = job.attempts.at(-1)?.node;
  return {
    id: job.id,
    user: job.user,
    entrypoint: job.entrypoint,
    state: job.state,
    message: job.message,
    priority: job.priority,
    resources: job.resources,
    attempts: job.attempts.length,
    submittedAt: job.submittedAt,
    ...(job.startedAt === undefined ? {} : { startedAt: job.startedAt }),
    ...(job.endedAt === undefined ? {} : { endedAt: job.endedAt }),
    ...(job.exitCode === undefined ? {} : { exitCode: job.exitCode }),
    ...(node === undefined ? {} : { node }),
  };
}

function trainingLine(step: number): string {
  const colour = step % 50 === 0 ? '\u001b[33mwarn\u001b[0m slow batch:' : '\u001b[32minfo\u001b[0m';
  return `${colour} step ${String(step).padStart(6)}  loss ${(2.3 / Math.sqrt(step)).toFixed(4)}  ${(310 + (step % 17)).toFixed(0)} img/s\n`;
}

function endGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
  } catch {
    // It ended by itself in the meantime.
  }
}
