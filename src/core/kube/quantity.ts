const suffixes = new Map<string, number>([
  ['', 1],
  ['n', 1e-9],
  ['u', 1e-6],
  ['m', 1e-3],
  ['k', 1e3],
  ['M', 1e6],
  ['G', 1e9],
  ['T', 1e12],
  ['P', 1e15],
  ['E', 1e18],
  ['Ki', 2 ** 10],
  ['Mi', 2 ** 20],
  ['Gi', 2 ** 30],
  ['Ti', 2 ** 40],
  ['Pi', 2 ** 50],
  ['Ei', 2 ** 60],
]);

/** A quantity as Kubernetes writes it (`500m`, `28G`, `1e3`, `4Gi`); undefined for what is none. */
export function readQuantity(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return undefined;
  const match = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+))([eE][+-]?\d+|[A-Za-z]{0,2})$/.exec(value);
  if (match === null) return undefined;
  const [, digits = '', unit = ''] = match;
  if (/^[eE][+-]?\d/.test(unit)) return Number(digits + unit);
  const factor = suffixes.get(unit);
  return factor === undefined ? undefined : Number(digits) * factor;
}

const steps = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi'];

/** Bytes in the largest unit that leaves a number below 1,024. */
export function bytesText(bytes: number): string {
  const step = Math.min(steps.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  return `${Number((bytes / 2 ** (10 * step)).toFixed(1))}${steps[step]}`;
}
