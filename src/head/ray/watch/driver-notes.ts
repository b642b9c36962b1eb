import { autoscalerEvents } from '../../../autoscaler/events.ts';
import type { EventKind } from '../../../base/events.ts';
import type { Clock, Duration } from '../../../base/time/clock.ts';
import type { InfeasibleDemand } from '../../../core/plan/plan.ts';
import { infeasibleWords } from '../../../core/plan/words.ts';
import type { DriverNote } from '../../../engines/ray/event-file.ts';
import { endedWords } from '../../journal/history-facts.ts';

type DataOf<Kind> = Kind extends EventKind<infer Data> ? Data : never;

/** What happens within this long is told together. */
const gathered: Duration = 500;
/** The same trouble again is news only after this long. */
const newsAgainAfter: Duration = 300_000;
/** Lines for drivers within a minute; the rest is counted. */
const linesAMinute = 30;

/** What the autoscaler does, in the lines that Ray prints in the output of every driver: few, however much happens. */
export class DriverNotes {
  readonly #clock: Clock;
  readonly #tell: (notes: readonly DriverNote[]) => void;
  /** Nodes that come and go, by the words for them. */
  readonly #counts = new Map<string, { readonly words: (count: number) => string; count: number }>();
  readonly #troubles = new Set<string>();
  /** Instances whose drain was told, and whose end follows. */
  readonly #drained = new Set<string>();
  readonly #toldAt = new Map<string, number>();
  #infeasible = new Set<string>();
  #minute = { from: Number.NEGATIVE_INFINITY, lines: 0, left: 0 };
  #gathering = false;

  constructor(clock: Clock, tell: (notes: readonly DriverNote[]) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  /** An event of the autoscaler; those that concern nobody's driver are passed over. */
  hear<Data>({ code }: EventKind<Data>, data: Data): void {
    switch (code) {
      case autoscalerEvents.launching.code: {
        const { type, count } = data as DataOf<typeof autoscalerEvents.launching>;
        return this.#count(`+${type}`, (sum) => `Adding ${sum} node(s) of type ${type}.`, count);
      }
      case autoscalerEvents.ended.code: {
        const ended = data as DataOf<typeof autoscalerEvents.ended>;
        const why = this.#whyEnded(ended);
        if (why === undefined) return;
        const words = (sum: number): string => `Removing ${sum} nodes of type ${ended.type} (${why}).`;
        return this.#count(`-${ended.type} ${why}`, words, 1);
      }
      case autoscalerEvents.refused.code: {
        const { type, zone, market, reason, detail } = data as DataOf<typeof autoscalerEvents.refused>;
        return this.#trouble(
          `Could not launch nodes of type ${type} (${placeOf(market, zone)}): ${reason}${detail === undefined ? '' : ` (${detail})`}.`,
        );
      }
      case autoscalerEvents.givenUp.code: {
        const { type, zone, market, said } = data as DataOf<typeof autoscalerEvents.givenUp>;
        return this.#trouble(
          `No response to a launch of nodes of type ${type} (${placeOf(market, zone)})${said === undefined ? '' : ` (${said})`}.`,
        );
      }
      case autoscalerEvents.setupFailed.code: {
        const { type, reason } = data as DataOf<typeof autoscalerEvents.setupFailed>;
        return this.#trouble(`Setup of a node of type ${type} failed: ${reason.split('\n')[0] ?? ''}.`);
      }
    }
  }

  /** Demand that can never be met at this time: each is told when it appears. */
  infeasible(now: readonly InfeasibleDemand[]): void {
    const all = new Set(now.map((each) => `${capital(infeasibleWords(each, this.#clock.now()))}.`));
    for (const text of all) if (!this.#infeasible.has(text)) this.#trouble(text);
    this.#infeasible = all;
  }

  /** Undefined of what follows from an end that was told. */
  #whyEnded({ instance, how, because }: DataOf<typeof autoscalerEvents.ended>): string | undefined {
    if (because.kind === 'follow-up') {
      if (this.#drained.delete(instance) || because.status === 'terminating') return undefined;
      if (because.status === 'stopped') return 'its node was lost';
    } else if (how === 'drain') this.#drained.add(instance);
    return because.kind === 'idle' ? 'idle' : endedWords({ because, at: this.#clock.now() });
  }

  #count(key: string, words: (count: number) => string, count: number): void {
    this.#counts.set(key, { words, count: (this.#counts.get(key)?.count ?? 0) + count });
    this.#gather();
  }

  #trouble(text: string): void {
    const now = this.#clock.now();
    if (now - (this.#toldAt.get(text) ?? Number.NEGATIVE_INFINITY) < newsAgainAfter) return;
    for (const [other, at] of this.#toldAt) if (now - at >= newsAgainAfter) this.#toldAt.delete(other);
    this.#toldAt.set(text, now);
    this.#troubles.add(text);
    this.#gather();
  }

  #gather(): void {
    if (this.#gathering) return;
    this.#gathering = true;
    void this.#clock.sleep(gathered).then(() => {
      this.#gathering = false;
      this.#send();
    });
  }

  #send(): void {
    const at = this.#clock.now();
    const notes: DriverNote[] = [
      ...[...this.#counts.values()].map(({ words, count }) => ({ level: 'info', text: words(count), at }) as const),
      ...[...this.#troubles].map((text) => ({ level: 'warn', text, at }) as const),
    ];
    this.#counts.clear();
    this.#troubles.clear();
    if (at - this.#minute.from >= 60_000) {
      const { left } = this.#minute;
      if (left > 0)
        notes.unshift({
          level: 'info',
          text: `${left} more lines were left out; see 'manta events' for all of them.`,
          at,
        });
      this.#minute = { from: at, lines: 0, left: 0 };
    }
    const room = Math.max(0, linesAMinute - this.#minute.lines);
    const told = notes.slice(0, room);
    this.#minute.lines += told.length;
    this.#minute.left += notes.length - told.length;
    if (told.length > 0) this.#tell(told);
  }
}

const placeOf = (market: string, zone: string | undefined): string =>
  zone === undefined ? market : `${market}, ${zone}`;

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
