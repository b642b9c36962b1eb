/** Steps (insert, delete, replace, swap of neighbours) from one word to the other. */
function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min((last[j] as number) + 1, (row[j - 1] as number) + 1, (last[j - 1] as number) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        best = Math.min(best, (beforeLast[j - 2] as number) + 1);
      }
      row.push(best);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] as number;
}

const plain = (word: string): string => word.toLowerCase().replace(/[-\s]/g, '_');

/** The candidate the user most likely meant; undefined when none is close. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > 80) return undefined;
  let best: string | undefined;
  const longer =
    word.length < 5
      ? undefined
      : [...candidates].find((candidate) => candidate.endsWith(`_${word}`) || candidate.startsWith(`${word}_`));
  let bestDistance = Math.floor(word.length / 3) + 1;
  const wanted = plain(word);
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const steps = distance(wanted, plain(candidate));
    if (steps < bestDistance) {
      best = candidate;
      bestDistance = steps;
    }
  }
  return best ?? longer;
}
