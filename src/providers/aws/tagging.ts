import { setImmediate as nextTurn } from 'node:timers/promises';
import { CreateTagsCommand } from '@aws-sdk/client-ec2';
import { providerErrors } from '../errors.ts';
import { onceKnown } from '../young.ts';
import { batchesOf, inHalves } from './client/batches.ts';
import type { AwsCalls } from './client/calls.ts';
import { isInstanceId, isUnknown } from './end/ending.ts';
import { type Tags, toAws } from './tags.ts';

/** What one call of EC2 takes. */
const mostPerCall = 1000;

/** The same tags for several instances at the same time are one call; those that come during a call are the next one. */
export class Tagging {
  readonly #calls: AwsCalls;
  /** By their tags: those that wait, and the last that was begun. */
  readonly #gathering = new Map<string, Batch>();
  readonly #last = new Map<string, Batch>();

  constructor(calls: AwsCalls) {
    this.#calls = calls;
  }

  async tag(id: string, tags: Tags, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!isInstanceId(id)) throw providerErrors.NotFound({ id });
    const key = JSON.stringify(Object.entries(tags));
    const batch = this.#gathering.get(key) ?? this.#begin(key, tags);
    await batch.outcomeOf(id, signal);
  }

  #begin(key: string, tags: Tags): Batch {
    const before = this.#last.get(key)?.done ?? nextTurn();
    const batch = new Batch(async ({ ids, nobody }) => {
      await before.catch(() => {});
      this.#gathering.delete(key);
      try {
        return await this.#put([...ids], tags, nobody);
      } finally {
        if (this.#last.get(key) === batch) this.#last.delete(key);
      }
    });
    this.#gathering.set(key, batch);
    this.#last.set(key, batch);
    return batch;
  }

  async #put(waiting: readonly string[], tags: Tags, signal: AbortSignal): Promise<Failures> {
    const failed = new Map<string, Error>();
    const { aws, young, clock } = this.#calls;
    const put = (ids: readonly string[]): Promise<void> =>
      inHalves(
        ids,
        async (some) => {
          const command = new CreateTagsCommand({ Resources: [...some], Tags: toAws(tags) });
          const about = { call: 'CreateTags', id: some[0]! };
          await aws.askPatiently(about, (options) => aws.ec2.send(command, options), signal);
        },
        isUnknown,
        (id, error) => {
          if (young.has(id)) throw error;
          failed.set(id, providerErrors.NotFound({ id }, error));
        },
      );
    for (const ids of batchesOf(waiting, mostPerCall))
      await onceKnown(() => put(ids), isUnknown, clock, signal).catch((error: Error) => {
        for (const id of ids) failed.set(id, error);
      });
    return failed;
  }
}

type Failures = ReadonlyMap<string, Error>;

/** Instances that get the same tags. It goes on for as long as one of its callers wants it to. */
class Batch {
  readonly ids = new Set<string>();
  readonly done: Promise<Failures>;
  readonly #nobody = new AbortController();
  #callers = 0;

  constructor(work: (batch: Batch) => Promise<Failures>) {
    this.done = work(this);
  }

  /** Aborts when no caller is left. */
  get nobody(): AbortSignal {
    return this.#nobody.signal;
  }

  async outcomeOf(id: string, signal: AbortSignal): Promise<void> {
    this.ids.add(id);
    this.#callers++;
    const { promise: left, reject } = Promise.withResolvers<never>();
    const leave = (): void => {
      reject(signal.reason as Error);
      if (--this.#callers === 0) this.#nobody.abort(signal.reason);
    };
    signal.addEventListener('abort', leave, { once: true });
    try {
      const failed = (await Promise.race([this.done, left])).get(id);
      if (failed !== undefined) throw failed;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }
}
