import type { Checks } from '../autoscaler/check.ts';
import type { Journal, ScalingFact } from '../autoscaler/journal.ts';
import { Autoscaler, type Planner } from '../autoscaler/loop.ts';
import { MemoryJournal } from '../autoscaler/memory-journal.ts';
import type { LoopSettings } from '../autoscaler/settings.ts';
import type { NodeStarter } from '../autoscaler/starter.ts';
import { type EventSink, silent } from '../base/events.ts';
import type { Clock, Instant } from '../base/time/clock.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { View } from '../core/view.ts';
import type { Engine } from '../engines/engine.ts';
import type { Provider } from '../providers/provider.ts';
import type { Decider } from './decider.ts';
import type { World } from './world.ts';

export interface MantaDeciderOptions {
  readonly planner: Planner;
  readonly checks?: Checks;
  readonly settings?: Partial<LoopSettings>;
  readonly events?: EventSink;
  readonly onPass?: (view: View, plan: Plan) => void;
  /** Hears whether a side answered the loop that lives now. */
  readonly onAnswer?: (side: 'list' | 'state', complete: boolean) => void;
  readonly onFacts?: (facts: readonly ScalingFact[]) => void;
  /** Facts take a moment to be kept, so that a crash may come before. */
  readonly slowJournal?: boolean;
  /** Replaces an edge, to see what the rules make of a broken one. */
  readonly tamper?: (edges: { provider: Provider; engine: Engine }) => { provider: Provider; engine: Engine };
}

/** Manta's own loop, planner and executor. Only the clock and the edges are simulated. */
export class MantaDecider implements Decider {
  readonly name = 'manta';
  passes = 0;
  contentSince: Instant | undefined;
  readonly journal = new MemoryJournal();
  readonly #world: World;
  readonly #options: MantaDeciderOptions;
  #life: Life | undefined;
  #ids = 0;

  constructor(world: World, options: MantaDeciderOptions) {
    this.#world = world;
    this.#options = options;
  }

  start(): void {
    this.#life = this.#begin();
  }

  wake(): void {
    this.#life?.autoscaler.wake();
  }

  crash(): void {
    if (this.#life === undefined) return;
    this.#life.alive = false;
    this.#life = this.#begin();
  }

  async stop(): Promise<void> {
    const life = this.#life;
    this.#life = undefined;
    life?.controller.abort();
    await life?.done;
  }

  #begin(): Life {
    const life: Life = {
      alive: true,
      controller: new AbortController(),
      autoscaler: undefined as never,
      done: undefined as never,
    };
    const { scenario, time } = this.#world;
    const { planner, checks, settings, events = silent } = this.#options;
    life.autoscaler = new Autoscaler({
      ...this.#edges(life),
      events,
      planner,
      journal: this.#journalOf(life),
      spec: () => scenario.spec,
      newId: () => (++this.#ids).toString(36).padStart(4, '0'),
      ...(settings === undefined ? {} : { settings }),
      ...(checks === undefined ? {} : { checks }),
      onPass: (view, plan) => {
        this.passes++;
        const complete = view.complete.engine && view.complete.provider;
        if (plan.actions.length > 0) this.contentSince = undefined;
        else if (complete) this.contentSince ??= time.now;
        this.#options.onPass?.(view, plan);
      },
    });
    life.done = life.autoscaler.run(life.controller.signal);
    return life;
  }

  /** The edges of one life: what is called after its end does nothing, what is answered after its end is not heard. */
  #edges(life: Life): { clock: Clock; provider: Provider; engine: Engine; starter: NodeStarter } {
    const { clock, cloud, engine: world, starter } = this.#world;
    const { onAnswer, tamper } = this.#options;
    onAnswer?.('list', false);
    onAnswer?.('state', false);
    const noted = async <T>(side: 'list' | 'state', answer: Promise<T>): Promise<T> => {
      try {
        const value = await answer;
        if (life.alive) onAnswer?.(side, true);
        return value;
      } catch (error) {
        if (life.alive) onAnswer?.(side, false);
        throw error;
      }
    };
    const raw = {
      provider: {
        list: (signal: AbortSignal) => noted('list', cloud.list(signal)),
        launch: (request, signal) => cloud.launch(request, signal),
        terminate: (ids, signal) => cloud.terminate(ids, signal),
        tag: (id, tags, signal) => cloud.tag(id, tags, signal),
        stop: (ids: readonly string[], signal: AbortSignal) => cloud.stop(ids, signal),
        slices: true as const,
      } satisfies Provider,
      engine: {
        state: (signal: AbortSignal) => noted('state', world.state(signal)),
        drain: (node, reason, signal) => world.drain(node, reason, signal),
        reportInfeasible: () => world.reportInfeasible(),
      } satisfies Engine,
    };
    const { provider, engine } = tamper?.(raw) ?? raw;
    const heard = <T>(call: () => Promise<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        if (!life.alive) return;
        call().then(
          (value) => life.alive && resolve(value),
          (error: unknown) => life.alive && reject(error),
        );
      });
    return {
      clock: {
        now: () => clock.now(),
        elapsed: () => clock.elapsed(),
        sleep: (duration, signal) => heard(() => clock.sleep(duration, signal)),
      },
      provider: {
        list: (signal) => heard(() => provider.list(signal)),
        launch: (request, signal) => heard(() => provider.launch(request, signal)),
        terminate: (ids, signal) => heard(() => provider.terminate(ids, signal)),
        tag: (id, tags, signal) => heard(() => provider.tag(id, tags, signal)),
        ...(provider.stop && { stop: (ids, signal) => heard(async () => provider.stop?.(ids, signal)) }),
        ...(provider.slices && { slices: true }),
      },
      engine: {
        state: (signal) => heard(() => engine.state(signal)),
        drain: (node, reason, signal) => heard(() => engine.drain(node, reason, signal)),
        reportInfeasible: (infeasible, signal) => heard(() => engine.reportInfeasible(infeasible, signal)),
      },
      starter: {
        bringUp: (instance, signal) => heard(() => starter.bringUp(instance, signal)),
        halt: (id, signal) => heard(() => starter.halt(id, signal)),
      },
    };
  }

  #journalOf(life: Life): Journal {
    const { journal } = this;
    const { time } = this.#world;
    const keep = (facts: readonly ScalingFact[]): Promise<void> => {
      this.#options.onFacts?.(facts);
      return journal.append(facts);
    };
    if (this.#options.slowJournal !== true) {
      return { read: () => journal.read(), append: (facts) => (life.alive ? keep(facts) : new Promise(() => {})) };
    }
    return {
      read: () => journal.read(),
      append: (facts) =>
        new Promise((resolve) => {
          if (!life.alive) return;
          time.after(2, () => {
            if (!life.alive) return;
            time.settled();
            resolve(keep(facts));
          });
        }),
    };
  }
}

interface Life {
  alive: boolean;
  controller: AbortController;
  autoscaler: Autoscaler;
  done: Promise<void>;
}
