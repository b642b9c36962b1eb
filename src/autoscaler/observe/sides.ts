import { messageOf } from '../../base/errors.ts';
import type { Silence } from '../../core/view.ts';
import type { EngineState } from '../../engines/engine.ts';
import { engineErrors } from '../../engines/errors.ts';
import { providerErrors } from '../../providers/errors.ts';
import type { ProviderInstance } from '../../providers/provider.ts';
import type { Calls } from '../act/calls.ts';
import type { Edges } from '../act/executor.ts';
import { autoscalerEvents as events } from '../events.ts';

type Side = 'provider' | 'engine';

/** Asks provider and engine, and remembers which of them is silent. */
export class Sides {
  readonly #edges: Edges;
  readonly #calls: Calls;
  readonly #silent = new Map<Side, Silence>();

  constructor(edges: Edges, calls: Calls) {
    this.#edges = edges;
    this.#calls = calls;
  }

  isSilent(side: Side): boolean {
    return this.#silent.has(side);
  }

  get anySilent(): boolean {
    return this.#silent.size > 0;
  }

  /** The silent ones, each with its reason. */
  get silent(): Readonly<Partial<Record<Side, Silence>>> {
    return Object.fromEntries(this.#silent);
  }

  /** Undefined when the provider did not answer in full. */
  list(): Promise<readonly ProviderInstance[] | undefined> {
    const late = (): Error => providerErrors.Unreachable({ call: 'list' });
    return this.#calls
      .make(late, (signal) => this.#edges.provider.list(signal))
      .then((answer) => this.#answered('provider', answer))
      .catch((error: unknown) => this.#missing('provider', error));
  }

  /** Undefined when the engine did not answer in full. */
  engineState(): Promise<EngineState | undefined> {
    const late = (): Error => engineErrors.Unreachable({ call: 'state' });
    return this.#calls
      .make(late, (signal) => this.#edges.engine.state(signal))
      .then((answer) => this.#answered('engine', answer))
      .catch((error: unknown) => this.#missing('engine', error));
  }

  /** Told once, and again only when the reason is another or the side has answered in between. */
  #missing(side: Side, error: unknown): undefined {
    const reason = messageOf(error);
    const known = this.#silent.get(side);
    if (known?.reason === reason) return;
    this.#silent.set(side, { since: known?.since ?? this.#edges.clock.now(), reason });
    this.#edges.events.emit(events.partialView, { side, reason });
  }

  #answered<Answer>(side: Side, answer: Answer): Answer {
    this.#silent.delete(side);
    return answer;
  }
}
