const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;

export type Paint = (text: string) => string;
export type Style = Readonly<Record<keyof typeof codes, Paint>>;

export function styleFor(color: boolean): Style {
  const paint =
    (code: number): Paint =>
    (text) =>
      color ? `\u001b[${code}m${text}\u001b[0m` : text;
  return {
    bold: paint(codes.bold),
    dim: paint(codes.dim),
    red: paint(codes.red),
    green: paint(codes.green),
    yellow: paint(codes.yellow),
    cyan: paint(codes.cyan),
  };
}

/** Whether to colour a stream: what was asked for, then NO_COLOR and FORCE_COLOR, then what the terminal can do. */
export function wantsColor(
  asked: boolean | undefined,
  env: Readonly<Record<string, string | undefined>>,
  terminal: boolean,
): boolean {
  if (asked !== undefined) return asked;
  if (env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '') return false;
  const force = env['FORCE_COLOR'];
  if (force !== undefined && force !== '') return force !== '0' && force !== 'false';
  return terminal && env['TERM'] !== 'dumb';
}
