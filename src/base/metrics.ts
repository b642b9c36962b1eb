/** The Prometheus text format, as far as Manta needs it. */

export type MetricLabels = Readonly<Record<string, string>>;

export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly samples: readonly MetricSample[];
}

export interface MetricSample {
  /** Added to the metric's name: `_bucket`, `_sum`, `_count`. */
  readonly suffix?: string;
  readonly labels: MetricLabels;
  readonly value: number;
}

export function metricsText(metrics: readonly Metric[]): string {
  return metrics
    .filter((metric) => metric.samples.length > 0)
    .map(({ name, help, type, samples }) =>
      [
        `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
        `# TYPE ${name} ${type}`,
        ...samples.map(({ suffix = '', labels, value }) => `${name}${suffix}${labelText(labels)} ${numberText(value)}`),
        '',
      ].join('\n'),
    )
    .join('');
}

function labelText(labels: MetricLabels): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`,
  );
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const numberText = (value: number): string =>
  value === Number.POSITIVE_INFINITY ? '+Inf' : value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);

/** Counts by label. */
export class Counter {
  readonly #counts = new Map<string, { labels: MetricLabels; value: number }>();

  add(labels: MetricLabels = {}, by = 1): void {
    const key = JSON.stringify(labels);
    const entry = this.#counts.get(key);
    if (entry) entry.value += by;
    else this.#counts.set(key, { labels, value: by });
  }

  samples(common: MetricLabels): MetricSample[] {
    return [...this.#counts.values()].map(({ labels, value }) => ({ labels: { ...common, ...labels }, value }));
  }
}

/** How often a value fell under each bound. */
export class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    this.#sum += value;
    this.#count += 1;
    this.#bounds.forEach((bound, index) => {
      if (value <= bound) this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    });
  }

  samples(common: MetricLabels): MetricSample[] {
    return [
      ...this.#bounds.map((bound, index) => ({
        suffix: '_bucket',
        labels: { ...common, le: String(bound) },
        value: this.#counts[index] ?? 0,
      })),
      { suffix: '_bucket', labels: { ...common, le: '+Inf' }, value: this.#count },
      { suffix: '_sum', labels: common, value: this.#sum },
      { suffix: '_count', labels: common, value: this.#count },
    ];
  }
}
