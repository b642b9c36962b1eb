/**
 * As `Promise.all`, but it waits for all of them: none is under way any more when it throws. Where several fail, the first in
 * the list counts, whichever was faster.
 */
export async function allOf<const Asked extends readonly unknown[]>(
  asked: Asked,
): Promise<{ -readonly [Index in keyof Asked]: Awaited<Asked[Index]> }> {
  const ended = await Promise.allSettled(asked);
  const failed = ended.find((each) => each.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return ended.map((each) => (each as PromiseFulfilledResult<unknown>).value) as never;
}
