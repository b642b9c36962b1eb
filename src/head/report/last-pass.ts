import type { Clock } from '../../base/time/clock.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { View } from '../../core/view.ts';
import type { EngineNode, EngineState } from '../../engines/engine.ts';
import type { HeadMetrics } from './metrics.ts';
import type { Sight } from './observer.ts';

/** What the loop saw and decided last, and what the engine has said since. */
export class LastPass {
  readonly #clock: Clock;
  readonly #metrics: HeadMetrics;
  #last: { readonly view: View; readonly plan: Plan } | undefined;
  #engine: EngineState | undefined;
  #began = performance.now();
  #took: number | undefined;

  constructor(clock: Clock, metrics: HeadMetrics) {
    this.#clock = clock;
    this.#metrics = metrics;
  }

  begin(): void {
    this.#began = performance.now();
  }

  heard(engine: EngineState): void {
    this.#engine = engine;
  }

  made(view: View, plan: Plan): void {
    this.#took = performance.now() - this.#began;
    this.#metrics.passTime.observe(this.#took / 1000);
    this.#last = { view, plan };
  }

  /** How long the last pass and its calls took. */
  get took(): number | undefined {
    return this.#took;
  }

  get nodes(): readonly EngineNode[] {
    return this.#engine?.nodes ?? [];
  }

  get sight(): Pick<Sight, 'view' | 'plan' | 'engine'> {
    return { view: this.#last?.view, plan: this.#last?.plan, engine: this.#engine };
  }

  /** Both sides answered in full. */
  get isComplete(): boolean {
    const { engine, provider } = this.#last?.view.complete ?? { engine: false, provider: false };
    return engine && provider;
  }

  /** How long ago a worker was asked for; undefined where the last pass did not see it. */
  ageOf(instance: string): number | undefined {
    const found = this.#last?.view.instances.find((each) => each.id === instance && each.kind === 'worker');
    return found?.requestedAt === undefined ? undefined : Math.max(0, this.#clock.now() - found.requestedAt);
  }
}
