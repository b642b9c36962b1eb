/** So many ids at once, in order. */
export function batchesOf<Item>(items: readonly Item[], most: number): readonly (readonly Item[])[] {
  const batches: (readonly Item[])[] = [];
  for (let start = 0; start < items.length; start += most) batches.push(items.slice(start, start + most));
  return batches;
}

/**
 * Does the work with all ids at once. EC2 refuses a call as a whole for one bad id: where `isAboutOne` says so, the halves
 * are tried by themselves, and `alone` is told of each id that is refused alone.
 */
export async function inHalves(
  ids: readonly string[],
  work: (ids: readonly string[]) => Promise<void>,
  isAboutOne: (error: unknown) => boolean,
  alone: (id: string, error: unknown) => void,
): Promise<void> {
  try {
    if (ids.length > 0) await work(ids);
  } catch (error) {
    if (!isAboutOne(error)) throw error;
    if (ids.length === 1) return alone(ids[0]!, error);
    const middle = Math.ceil(ids.length / 2);
    await inHalves(ids.slice(0, middle), work, isAboutOne, alone);
    await inHalves(ids.slice(middle), work, isAboutOne, alone);
  }
}
