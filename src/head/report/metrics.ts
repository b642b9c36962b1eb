import { autoscalerEvents } from '../../autoscaler/events.ts';
import type { EventKind, EventSink } from '../../base/events.ts';
import type { Metric, MetricLabels, MetricSample } from '../../base/metrics.ts';
import { Counter, Histogram, metricsText } from '../../base/metrics.ts';
import type { InstanceView } from '../../core/instance.ts';
import { endCauses, type JobState } from '../../core/jobs/job.ts';
import { mayRun } from '../../core/lifecycle.ts';
import { type Resources, sumResources } from '../../core/resources.ts';
import type { ScalingSpec } from '../../core/scaling.ts';
import type { JobChange } from '../../jobs/queue/store.ts';

/** What the gauges are made from, at the moment of a scrape. */
export interface Gauges {
  readonly instances: readonly InstanceView[];
  readonly spec: ScalingSpec;
  readonly jobs: Readonly<Record<JobState, number>>;
  readonly residentBytes: number;
}

const seconds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 1800];

/** Counts over the life of this mantad. Ray's autoscaler names first, Manta's own after them. */
export class HeadMetrics {
  readonly #session: MetricLabels;
  readonly started = new Counter();
  readonly stopped = new Counter();
  readonly failedCreates = new Counter();
  readonly failedUpdates = new Counter();
  readonly updateLoopExceptions = new Counter();
  readonly launchExceptions = new Counter();
  readonly passTime = new Histogram(seconds);
  readonly createTime = new Histogram(seconds);
  readonly jobsEnded = new Counter();
  readonly jobWait = new Histogram(seconds);

  constructor(session: string) {
    this.#session = { SessionName: session };
    // A counter that is not there yet cannot be told from one that is gone.
    for (const counter of [this.updateLoopExceptions, this.launchExceptions]) counter.add({}, 0);
    for (const cause of endCauses) this.jobsEnded.add({ cause }, 0);
  }

  /** Takes in what has become of jobs. */
  countJobs(changes: readonly JobChange[]): void {
    for (const { before, after } of changes) {
      if (after === undefined) continue;
      if (before?.startedAt === undefined && after.startedAt !== undefined)
        this.jobWait.observe(Math.max(0, after.startedAt - after.submittedAt) / 1000);
      const ended = after.attempts.at(-1);
      if (ended?.cause !== undefined && before?.attempts[ended.number - 1]?.cause === undefined)
        this.jobsEnded.add({ cause: ended.cause });
    }
  }

  text(gauges: Gauges): string {
    return metricsText(this.metrics(gauges));
  }

  metrics(gauges: Gauges): readonly Metric[] {
    const common = this.#session;
    for (const { name } of gauges.spec.nodeTypes)
      for (const counter of [this.started, this.stopped, this.failedCreates, this.failedUpdates])
        counter.add({ NodeType: name }, 0);
    const one = (value: number, labels: MetricLabels = {}): MetricSample => ({
      labels: { ...common, ...labels },
      value,
    });
    const perType = (wanted: (instance: InstanceView) => boolean): MetricSample[] =>
      gauges.spec.nodeTypes.map((type) =>
        one(gauges.instances.filter((instance) => instance.type === type.name && wanted(instance)).length, {
          NodeType: type.name,
        }),
      );
    const running = (instance: InstanceView): boolean => instance.node !== undefined;
    const pending = (instance: InstanceView): boolean => instance.node === undefined && mayRun(instance.status);
    const failed = (instance: InstanceView): boolean =>
      instance.status.endsWith('failed') || instance.status === 'launch-timeout';
    const perResource = (sum: Resources): MetricSample[] =>
      Object.entries(sum).map(([resource, amount]) => one(amount, { resource }));

    return [
      gauge('autoscaler_pending_nodes', 'Number of pending nodes, by type.', perType(pending)),
      gauge('autoscaler_active_nodes', 'Number of running nodes, by type.', perType(running)),
      gauge(
        'autoscaler_recently_failed_nodes',
        'Number of failed instances being terminated, by type.',
        perType(failed),
      ),
      gauge('autoscaler_running_workers_nodes', 'Number of running worker nodes.', [
        one(gauges.instances.filter((instance) => running(instance) && instance.kind === 'worker').length),
      ]),
      gauge('autoscaler_cluster_resources', 'Resources of the running nodes.', perResource(sumOf(gauges, running))),
      gauge('autoscaler_pending_resources', 'Resources of the pending nodes.', perResource(sumOf(gauges, pending))),
      counter('autoscaler_started_nodes_total', 'Instances requested.', this.started.samples(common)),
      counter('autoscaler_stopped_nodes_total', 'Instances terminated.', this.stopped.samples(common)),
      counter(
        'autoscaler_failed_create_nodes_total',
        'Launches refused by the provider.',
        this.failedCreates.samples(common),
      ),
      counter('autoscaler_failed_updates_total', 'Failed setups.', this.failedUpdates.samples(common)),
      counter(
        'autoscaler_update_loop_exceptions_total',
        'Failed passes of the autoscaler.',
        this.updateLoopExceptions.samples(common),
      ),
      counter('autoscaler_node_launch_exceptions_total', 'Failed launch calls.', this.launchExceptions.samples(common)),
      histogram(
        'autoscaler_update_time_seconds',
        'Duration of one pass of the autoscaler.',
        this.passTime.samples(common),
      ),
      histogram(
        'autoscaler_worker_create_node_time_seconds',
        'Time from requesting an instance to its running node.',
        this.createTime.samples(common),
      ),
      gauge(
        'manta_jobs',
        'Jobs, by state.',
        Object.entries(gauges.jobs).map(([state, count]) => one(count, { state })),
      ),
      counter('manta_job_attempts_ended_total', 'Ended attempts, by cause.', this.jobsEnded.samples(common)),
      histogram('manta_job_wait_seconds', 'Time from submission to the first start.', this.jobWait.samples(common)),
      gauge('manta_head_resident_bytes', 'Memory used by mantad.', [one(gauges.residentBytes)]),
    ];
  }
}

function sumOf({ instances, spec }: Gauges, wanted: (instance: InstanceView) => boolean): Resources {
  return sumResources(
    instances
      .filter(wanted)
      .map(
        (instance) =>
          instance.node?.total ?? spec.nodeTypes.find((type) => type.name === instance.type)?.resources ?? {},
      ),
  );
}

const gauge = (name: string, help: string, samples: readonly MetricSample[]): Metric => ({
  name,
  help,
  type: 'gauge',
  samples,
});
const counter = (name: string, help: string, samples: readonly MetricSample[]): Metric => ({
  name,
  help,
  type: 'counter',
  samples,
});
const histogram = (name: string, help: string, samples: readonly MetricSample[]): Metric => ({
  name,
  help,
  type: 'histogram',
  samples,
});

/** Counts what the metrics want to know as it is told. */
export function countingSink(
  log: EventSink,
  metrics: HeadMetrics,
  ageOf: (instance: string) => number | undefined,
): EventSink {
  return {
    emit<Data>(kind: EventKind<Data>, data: Data) {
      log.emit(kind, data);
      const { type = '', count = 1, instance = '' } = data as { type?: string; count?: number; instance?: string };
      switch (kind.code) {
        case autoscalerEvents.launching.code:
          return metrics.started.add({ NodeType: type }, count);
        case autoscalerEvents.refused.code:
        case autoscalerEvents.givenUp.code:
          return metrics.failedCreates.add({ NodeType: type });
        case autoscalerEvents.running.code: {
          const age = ageOf(instance);
          return age === undefined ? undefined : metrics.createTime.observe(age / 1000);
        }
        case autoscalerEvents.setupFailed.code:
          return metrics.failedUpdates.add({ NodeType: type });
        case autoscalerEvents.failed.code:
          return metrics.updateLoopExceptions.add();
        case autoscalerEvents.ended.code:
          return metrics.stopped.add({ NodeType: type });
      }
    },
  };
}
