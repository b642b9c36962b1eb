import type { EventAnswer, NodeAnswer, NodesAnswer } from '../../api/types.ts';
import { autoscalerEvents } from '../../autoscaler/events.ts';
import type { EventSink } from '../../base/events.ts';
import type { Clock } from '../../base/time/clock.ts';
import { wallClock } from '../../base/time/wall-clock.ts';
import { bringupEvents } from '../../bringup/events.ts';
import { HttpClient } from '../../client/http.ts';
import { readStream } from '../../client/stream.ts';
import type { Target } from '../../client/target.ts';
import { isPending } from '../../core/lifecycle.ts';
import { durationWords } from '../../core/plan/words.ts';
import { localEvents } from '../../providers/local/events.ts';
import { launcherEvents } from '../events.ts';

export interface Waited {
  readonly wanted: number;
  readonly running: readonly NodeAnswer[];
  /** Why workers are missing, by what mantad said of them; empty when none is. */
  readonly troubles: readonly string[];
}

const askEvery = 250;
const shown = /^MANTA_(?:BRINGUP|AUTOSCALER|LOCAL|RAY|HEAD)_/;

/** mantad asks a Ray that is not there yet, which is not news to the command that is starting it. */
const expected = new Set([autoscalerEvents.partialView.code]);

/** What mantad said of workers that did not come. */
export class Troubles {
  readonly #failed = new Set<string>();
  readonly #failures = new Map<string, { readonly text: string; readonly times: number }>();
  readonly #passedOver = new Map<string, string>();
  #refused: string | undefined;
  #refusals = 0;

  note(event: EventAnswer): void {
    const { code, text, host = '' } = event;
    if (code === autoscalerEvents.setupFailed.code) this.#fail(event);
    if (code === localEvents.passedOver.code) this.#passedOver.set(host, text);
    if (code !== autoscalerEvents.refused.code && code !== autoscalerEvents.givenUp.code) return;
    this.#refused = text;
    this.#refusals += 1;
  }

  /** Nobody has to wait for this many workers any more. A refusal is for all of a type; the first may be one of haste. */
  explain(missing: number): boolean {
    return this.#failed.size >= missing || this.#refusals >= 2;
  }

  /** Each thing once, as it was said last; hosts that were passed over say why the provider refused. */
  get words(): readonly string[] {
    const refused = this.#refused === undefined ? [] : [this.#refused, ...this.#passedOver.values()];
    const failures = [...this.#failures.values()];
    return [...failures.map(({ text, times }) => (times === 1 ? text : `${times} times: ${text}`)), ...refused];
  }

  /** What failed and where is one thing, however often it fails and whatever is printed each time. */
  #fail({ instance = '', type, host = instance, failure, text }: EventAnswer): void {
    const what = JSON.stringify([type, host, failure]);
    this.#failed.add(instance);
    this.#failures.set(what, { text, times: (this.#failures.get(what)?.times ?? 0) + 1 });
  }
}

/** Reports the events of mantad from the moment it serves, and remembers workers that failed. */
export class MantadFollower {
  readonly troubles = new Troubles();
  readonly events: EventSink;
  readonly #ending = new AbortController();
  readonly #http: HttpClient;
  readonly #telling: Promise<void>;

  constructor(target: Target, since: number, events: EventSink, signal: AbortSignal) {
    this.events = events;
    const all = AbortSignal.any([signal, this.#ending.signal]);
    this.#http = new HttpClient(target, all);
    this.#telling = tell(this.#http, since, events, this.troubles, all).catch(() => {});
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await this.#telling;
    this.#http.close();
  }
}

/**
 * Waits until as many workers run as were promised. Ends early when those that are missing have all failed, or when
 * nothing has moved for long: mantad goes on trying, but nobody has to wait for it.
 */
export async function waitForWorkers(
  http: Pick<HttpClient, 'json'>,
  wanted: number,
  told: Pick<MantadFollower, 'troubles' | 'events'>,
  signal: AbortSignal,
  clock: Clock = wallClock,
): Promise<Waited> {
  const said = new Set<string>();
  let last = { state: '', since: clock.now() };
  for (;;) {
    const { nodes } = await http.json<NodesAnswer>('GET', '/api/manta/v1/nodes', { signal });
    const workers = nodes.filter(({ kind, byHand }) => kind === 'worker' && !byHand);
    const running = workers.filter((node) => node.node !== undefined && node.status === 'running');
    if (running.length >= wanted) return { wanted, running, troubles: [] };
    const trying = workers.filter((node) => isPending(node.status)).length;
    if (trying === 0 && told.troubles.explain(wanted - running.length))
      return { wanted, running, troubles: told.troubles.words };
    const state = JSON.stringify(workers.map(({ instance, status }) => [instance, status]));
    if (state !== last.state || trying > 0) last = { state, since: clock.now() };
    const leaving = workers.filter((node) => !isPending(node.status) && node.status !== 'running');
    const most = leaving.some(({ status }) => drains.has(status)) ? drainWithin : stillWithin;
    const still = clock.now() - last.since;
    if (still >= most) return { wanted, running, troubles: [...told.troubles.words, ...stillWords(leaving, still)] };
    for (const node of still < sayAfter ? [] : leaving) {
      const { instance, status, address: host = instance } = node;
      if (said.has(`${instance} ${status}`)) continue;
      said.add(`${instance} ${status}`);
      told.events.emit(launcherEvents.waitingForEnd, {
        host,
        drains: drains.has(status),
        longest: durationWords(most),
      });
    }
    await clock.sleep(askEvery, signal);
  }
}

function stillWords(leaving: readonly NodeAnswer[], still: number): readonly string[] {
  const ends = leaving.map(({ instance, address = instance, status }) => `the node on ${address} is ${status}`);
  return [...ends, `no progress for ${durationWords(still)}; see 'manta why demand'`];
}

const sayAfter = 5_000;
const stillWithin = 60_000;
/** A node that is emptied first may have work to finish. */
const drainWithin = 600_000;
const drains: ReadonlySet<string> = new Set(['drain-requested', 'draining']);

async function tell(
  http: HttpClient,
  since: number,
  events: EventSink,
  troubles: Troubles,
  signal: AbortSignal,
): Promise<void> {
  for await (const message of readStream(http, 0, { signal, events })) {
    if (message.kind !== 'event') continue;
    const event = message.data as EventAnswer;
    if (event.at < since) continue;
    troubles.note(event);
    if (!shown.test(event.code) || expected.has(event.code)) continue;
    const kind = { code: event.code, level: event.level, text: () => event.text };
    events.emit(kind, event, progressOf(event));
  }
}

/** Lines of one node are one line on a live terminal. */
function progressOf({ code, node }: EventAnswer): { id: string; state: 'running' | 'done' } | undefined {
  if (node === undefined || !bringupCodes.has(code)) return undefined;
  return { id: `node ${node}`, state: code === bringupEvents.started.code ? 'done' : 'running' };
}

const bringupCodes: ReadonlySet<string> = new Set(Object.values(bringupEvents).map(({ code }) => code));
