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

/** The same tags for several instances at the same time are one call. */
export class Tagging {
  readonly #calls: AwsCalls;
  readonly #batches = new Map<string, Batch>();

  constructor(calls: AwsCalls) {
    this.#calls = calls;
  }

  async tag(id: string, tags: Tags, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!isInstanceId(id)) throw providerErrors.NotFound({ id });
    const key = JSON.stringify(Object.entries(tags));
    let batch = this.#batches.get(key);
    if (batch === undefined) {
      const ids = new Set<string>();
      batch = { ids, result: this.#send(key, ids, tags, signal) };
      this.#batches.set(key, batch);
    }
    batch.ids.add(id);
    const failed = (await batch.result).get(id);
    if (failed !== undefined) throw failed;
  }

  async #send(
    key: string,
    waiting: ReadonlySet<string>,
    tags: Tags,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Error>> {
    await nextTurn();
    this.#batches.delete(key);
    const failed = new Map<string, Error>();
    const { aws, young, clock } = this.#calls;
    const put = (ids: readonly string[]): Promise<void> =>
      inHalves(
        ids,
        async (some) => {
          const command = new CreateTagsCommand({ Resources: [...some], Tags: toAws(tags) });
          await aws.ask({ call: 'CreateTags', id: some[0]! }, (options) => aws.ec2.send(command, options), signal);
        },
        isUnknown,
        (id, error) => {
          if (young.has(id)) throw error;
          failed.set(id, providerErrors.NotFound({ id }, error));
        },
      );
    for (const ids of batchesOf([...waiting], mostPerCall))
      await onceKnown(() => put(ids), isUnknown, clock, signal).catch((error: Error) => {
        for (const id of ids) failed.set(id, error);
      });
    return failed;
  }
}

interface Batch {
  readonly ids: Set<string>;
  readonly result: Promise<ReadonlyMap<string, Error>>;
}
