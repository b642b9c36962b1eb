import type { EventSink } from '../base/events.ts';
import { wallClock } from '../base/wall-clock.ts';
import type { EventAnswer, NodeAnswer } from '../head/api/types.ts';
import { HttpClient } from '../head/client/http.ts';
import { readStream } from '../head/client/stream.ts';
import type { Target } from '../head/client/target.ts';

export interface Waited {
  readonly wanted: number;
  readonly running: readonly NodeAnswer[];
  /** Why workers are missing, by what mantad said of them; empty when none is. */
  readonly troubles: readonly string[];
}

const askEvery = 250;
/** Events that say of a worker that it will not come without help. */
const fatal = new Set(['MANTA_AUTOSCALER_SETUP_FAILED', 'MANTA_AUTOSCALER_REFUSED']);
const shown = /^MANTA_(?:BRINGUP|AUTOSCALER|LOCAL|RAY|HEAD)_/;

/** mantad asks a Ray that is not there yet, which is no news to whoever is starting it. */
const expected = new Set(['MANTA_AUTOSCALER_PARTIAL_VIEW']);

/** What mantad does, told here from the moment it serves; and what it said of workers that failed. */
export class MantadTold {
  readonly #troubles = new Map<string, string>();
  readonly #ending = new AbortController();
  readonly #telling: Promise<void>;

  constructor(target: Target, since: number, events: EventSink, signal: AbortSignal) {
    const all = AbortSignal.any([signal, this.#ending.signal]);
    const http = new HttpClient(target, all);
    this.#telling = tell(http, since, events, this.#troubles, all).catch(() => {});
  }

  get troubles(): readonly string[] {
    return [...this.#troubles.values()];
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await this.#telling;
  }
}

/**
 * Waits until as many workers run as were promised. Ends early when those that are missing have all failed: mantad goes
 * on trying, but nobody has to wait for it.
 */
export async function waitForWorkers(
  http: HttpClient,
  wanted: number,
  told: MantadTold,
  signal: AbortSignal,
): Promise<Waited> {
  for (;;) {
    const { nodes } = await http.json<{ nodes: NodeAnswer[] }>('GET', '/api/manta/v1/nodes', { signal });
    const workers = nodes.filter((node) => node.kind === 'worker');
    const running = workers.filter((node) => node.node !== undefined && node.status === 'running');
    if (running.length >= wanted) return { wanted, running, troubles: [] };
    const trying = workers.filter((node) => pending.has(node.status)).length;
    if (told.troubles.length >= wanted - running.length && trying === 0)
      return { wanted, running, troubles: told.troubles };
    await wallClock.sleep(askEvery, signal);
  }
}

const pending: ReadonlySet<string> = new Set(['queued', 'requested', 'allocated', 'setting-up']);

async function tell(
  http: HttpClient,
  since: number,
  events: EventSink,
  troubles: Map<string, string>,
  signal: AbortSignal,
): Promise<void> {
  for await (const message of readStream(http, 0, { signal, events })) {
    if (message.kind !== 'event') continue;
    const event = message.data as EventAnswer;
    if (event.at < since || !shown.test(event.code) || expected.has(event.code)) continue;
    const kind = { code: event.code, level: event.level, text: () => event.text };
    events.emit(kind, event, progressOf(event));
    if (fatal.has(event.code)) troubles.set(event.text, event.text);
  }
}

/** Lines of one node are one line on a live terminal. */
function progressOf(event: EventAnswer): { id: string; state: 'running' | 'done' } | undefined {
  const node = /^(\S+): /.exec(event.text)?.[1];
  if (node === undefined || !event.code.startsWith('MANTA_BRINGUP_')) return undefined;
  return { id: `node ${node}`, state: event.code === 'MANTA_BRINGUP_STARTED' ? 'done' : 'running' };
}
