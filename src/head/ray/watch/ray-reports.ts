import type { EventKind } from '../../../base/events.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { Plan } from '../../../core/plan/plan.ts';
import type { ScalingSpec, ScalingType } from '../../../core/scaling.ts';
import type { ClusterStatus } from '../../../core/status/status.ts';
import type { RayEngine } from '../../../engines/ray/engine.ts';
import type { AutoscalerReport } from '../../../engines/ray/gcs/autoscaler-report.ts';
import { DriverNotes } from './driver-notes.ts';

export interface RayReportsEdges {
  readonly engine: Pick<RayEngine, 'report' | 'reportConfig' | 'tellDrivers'>;
  readonly clock: Clock;
  readonly spec: () => ScalingSpec;
  readonly log: (line: string) => void;
  /** Aborts when nobody is told any more. */
  readonly ending: AbortSignal;
}

const answerWithin = 10_000;

/** Keeps Ray told, so that its commands, its page and its drivers show what Manta does. */
export class RayReports {
  readonly #edges: RayReportsEdges;
  readonly #notes: DriverNotes;
  /** The limits that Ray was told last. */
  #limits = '';
  /** The newest report, while one is under way. */
  #report: AutoscalerReport | undefined;
  #refused = '';

  constructor(edges: RayReportsEdges) {
    this.#edges = edges;
    this.#notes = new DriverNotes(edges.clock, (notes) => {
      void this.#send('lines for drivers', (signal) => edges.engine.tellDrivers(notes, signal));
    });
  }

  /** After each pass. The limits go with it where they are others: own machines tell what they have when they come. */
  pass(status: ClusterStatus, plan: Plan): void {
    const { engine, spec } = this.#edges;
    const isUnderWay = this.#report !== undefined;
    this.#report = { ...status, infeasible: plan.infeasible };
    if (!isUnderWay) void this.#reportLatest();
    this.#notes.infeasible(plan.infeasible);
    const limits = JSON.stringify([spec().maxWorkers, spec().nodeTypes.map(limitsOf)]);
    if (limits === this.#limits) return;
    this.#limits = limits;
    void this.#send('the limits', (signal) => engine.reportConfig(spec(), signal)).then((taken) => {
      if (!taken) this.#limits = '';
    });
  }

  /** One at a time: a Ray that is slow gets the newest next, and not all that was. */
  async #reportLatest(): Promise<void> {
    for (let sent: AutoscalerReport | undefined; this.#report !== undefined && sent !== this.#report; ) {
      const report = this.#report;
      sent = report;
      await this.#send('the report', (signal) => this.#edges.engine.report(report, signal));
    }
    this.#report = undefined;
  }

  hear<Data>(kind: EventKind<Data>, data: Data): void {
    this.#notes.hear(kind, data);
  }

  /** Whether Ray took it. Why it did not is told once, until it does. */
  async #send(what: string, send: (signal: AbortSignal) => Promise<unknown>): Promise<boolean> {
    const { ending, log } = this.#edges;
    try {
      await send(AbortSignal.any([ending, AbortSignal.timeout(answerWithin)]));
      this.#refused = '';
      return true;
    } catch (error) {
      const why = `${what} to Ray: ${(error as Error).message}`;
      if (!ending.aborted && why !== this.#refused) log(`could not send ${why}`);
      this.#refused = why;
      return false;
    }
  }
}

const limitsOf = ({ name, resources, minWorkers, maxWorkers }: ScalingType): readonly unknown[] => [
  name,
  resources,
  minWorkers,
  maxWorkers,
];
