import type { IncomingMessage } from 'node:http';
import { MantaError } from '../errors.ts';
import { readOutsideJson } from '../outside-json.ts';
import type { Clock, Duration } from '../time/clock.ts';
import { doubling } from '../time/retry.ts';
import type { KubeCall, KubeClient } from './client.ts';
import { kubeErrors } from './errors.ts';
import { listAll } from './list.ts';

export interface KubeObject {
  readonly metadata?: { readonly uid?: string; readonly name?: string; readonly resourceVersion?: string };
}

export interface ObjectChange {
  readonly kind: 'added' | 'changed' | 'deleted';
  readonly object: unknown;
}

/** What a list is now, by the objects' uids, and what made it so; the first step has all objects as added. */
export interface WatchStep {
  readonly items: ReadonlyMap<string, unknown>;
  readonly changes: readonly ObjectChange[];
}

export interface WatchOptions {
  readonly clock: Clock;
  /** How long the server may be away before its error is thrown. @default 2 minutes */
  readonly patience?: Duration;
}

/** The server ends a watch after this time, so that one whose connection died in silence does not stay. */
const longest = 60;

/** No object that etcd holds is longer by far. */
const longestLine = 64 << 20;

/**
 * Follows a list until the signal aborts. It begins with the list itself, survives closed connections and servers that are away
 * for a while, and lists again when the server no longer knows where it was (410): what changed meanwhile is told all the same.
 */
export async function* watch(
  client: KubeClient,
  call: KubeCall,
  { clock, patience = 120_000 }: WatchOptions,
): AsyncGenerator<WatchStep, never> {
  const pause = doubling(100, 5_000);
  const list = new Followed();
  let version: string | undefined;
  let failed = { tries: 0, since: 0 };
  for (;;) {
    try {
      if (version === undefined) {
        const all = await listAll(client, call);
        version = all.resourceVersion;
        yield list.replace(all.items);
      }
      for await (const batch of batches(client, call, version)) {
        failed = { tries: 0, since: 0 };
        const changes = batch.flatMap((event) => list.take(event) ?? []);
        version = newest(batch) ?? version;
        if (changes.length > 0) yield { items: list.items, changes };
      }
    } catch (error) {
      call.signal.throwIfAborted();
      if (kubeErrors.Expired.is(error)) {
        version = undefined;
        continue;
      }
      const now = clock.now();
      failed = { tries: failed.tries + 1, since: failed.tries === 0 ? now : failed.since };
      if (!mayPass(error) || now - failed.since >= patience) throw error;
      await clock.sleep(pause(failed.tries), call.signal);
    }
  }
}

class Followed {
  readonly items = new Map<string, unknown>();

  replace(objects: readonly unknown[]): WatchStep {
    const gone = new Map(this.items);
    const changes = objects.flatMap((object): ObjectChange[] => {
      const id = idOf(object);
      const known = gone.get(id);
      gone.delete(id);
      this.items.set(id, object);
      if (known === undefined) return [{ kind: 'added', object }];
      return versionOf(known) === versionOf(object) ? [] : [{ kind: 'changed', object }];
    });
    for (const [id, object] of gone) {
      this.items.delete(id);
      changes.push({ kind: 'deleted', object });
    }
    return { items: this.items, changes };
  }

  take({ type, object }: WatchEvent): ObjectChange | undefined {
    const id = idOf(object);
    if (type === 'DELETED') return this.items.delete(id) ? { kind: 'deleted', object } : undefined;
    if (type !== 'ADDED' && type !== 'MODIFIED') return undefined;
    const kind = this.items.has(id) ? 'changed' : 'added';
    this.items.set(id, object);
    return { kind, object };
  }
}

const metadataOf = (object: unknown): NonNullable<KubeObject['metadata']> => (object as KubeObject).metadata ?? {};
const idOf = (object: unknown): string => metadataOf(object).uid ?? metadataOf(object).name ?? '';
const versionOf = (object: unknown): string | undefined => metadataOf(object).resourceVersion;

interface WatchEvent {
  readonly type: string;
  readonly object: unknown;
}

/** Bookmarks count too: they are there for that. */
const newest = (events: readonly WatchEvent[]): string | undefined => {
  const last = events.at(-1);
  return last && versionOf(last.object);
};

/** One watch request, read until the server ends it; events that came together are handed over together. */
async function* batches(client: KubeClient, call: KubeCall, resourceVersion: string): AsyncGenerator<WatchEvent[]> {
  const query = { ...call.query, watch: true, resourceVersion, allowWatchBookmarks: true, timeoutSeconds: longest };
  const response = await client.stream({ ...call, query });
  const silence = setTimeout(() => response.destroy(new Error('the watch went silent')), (longest + 15) * 1_000);
  try {
    for await (const lines of lineBatches(response)) {
      const events = lines.map((line) => readOutsideJson(line) as WatchEvent);
      const error = events.find(({ type }) => type === 'ERROR')?.object as
        | { readonly code?: number; readonly message?: string }
        | undefined;
      if (error?.code === 410) throw kubeErrors.Expired({ call: call.call, detail: error.message ?? '' });
      if (error !== undefined)
        throw kubeErrors.Failed({ call: call.call, detail: error.message ?? '', status: error.code ?? 0 });
      yield events;
    }
  } finally {
    clearTimeout(silence);
    response.destroy();
  }
}

/** A line that the end cuts off is not handed over: the next watch begins before it. */
async function* lineBatches(response: IncomingMessage): AsyncGenerator<string[]> {
  let rest = '';
  response.setEncoding('utf8');
  for await (const piece of response as AsyncIterable<string>) {
    const lines = piece.split('\n');
    lines[0] = `${rest}${lines[0]}`;
    rest = lines.pop() ?? '';
    if (rest.length > longestLine) throw new RangeError(`a line of the watch has more than ${longestLine} characters`);
    const whole = lines.filter((line) => line !== '');
    if (whole.length > 0) yield whole;
  }
}

/** A connection that broke, or a server that cannot answer now; every refusal stays one. */
const mayPass = (error: unknown): boolean =>
  kubeErrors.Unreachable.is(error) || kubeErrors.Failed.is(error) || !(error instanceof MantaError);
