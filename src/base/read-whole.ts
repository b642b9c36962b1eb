/** No answer that is read whole has a reason to be longer. */
const largestAnswer = 256 << 20;

/** All pieces of an answer from elsewhere, which would not know an end by itself. Throws a RangeError for one that is longer. */
export async function readWhole(pieces: AsyncIterable<unknown>, most: number = largestAnswer): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const bytes of pieces as AsyncIterable<Buffer>) {
    size += bytes.length;
    if (size > most) throw new RangeError(`the response has more than ${most} bytes`);
    parts.push(bytes);
  }
  return Buffer.concat(parts, size);
}
