/** Negative where `a` is the earlier version of Manta. What is not a version of the form 1.2.3 is equal to everything. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  if (left === undefined || right === undefined) return 0;
  const at = left.findIndex((number, index) => number !== right[index]);
  return at < 0 ? 0 : (left[at] as number) - (right[at] as number);
}

function numbersOf(version: string): readonly number[] | undefined {
  const found = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:[-+].*)?$/.exec(version);
  return found?.slice(1).map(Number);
}
