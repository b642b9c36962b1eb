/** Where a simulation takes chance from: one seed, split by name so that one stream's use does not shift another's. */
export interface Random {
  /** In [0, 1). */
  next(): number;
  chance(probability: number): boolean;
  /** A whole number in [0, below). */
  below(bound: number): number;
  between(min: number, max: number): number;
  pick<T>(values: readonly [T, ...T[]]): T;
  exponential(mean: number): number;
  /** Log-normal by its median and 95th percentile. */
  logNormal(median: number, p95: number): number;
  /** Another stream of the same seed. */
  split(name: string): Random;
}

/** sfc32: small, fast, and good enough for any number of simulated years. */
export function seededRandom(seed: number, stream = ''): Random {
  let a = hash(stream, seed ^ 0x9e3779b9);
  let b = hash(stream, seed ^ 0x243f6a88);
  let c = seed >>> 0;
  let counter = 1;

  const next = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    c |= 0;
    return (sum >>> 0) / 4294967296;
  };
  for (let round = 0; round < 12; round++) next();

  const normal = (): number => {
    const radius = Math.sqrt(-2 * Math.log(1 - next()));
    return radius * Math.cos(2 * Math.PI * next());
  };

  return {
    next,
    chance: (probability) => probability > 0 && next() < probability,
    below: (bound) => Math.floor(next() * bound),
    between: (min, max) => min + next() * (max - min),
    pick: (values) => values[Math.floor(next() * values.length)] ?? values[0],
    exponential: (mean) => -mean * Math.log(1 - next()),
    logNormal: (median, p95) => median * Math.exp((Math.log(p95 / median) / 1.6449) * normal()),
    split: (name) => seededRandom(seed, `${stream}/${name}`),
  };
}

/** FNV-1a, started at `basis`. */
export function hash(text: string, basis = 0x811c9dc5): number {
  let value = basis | 0;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}
