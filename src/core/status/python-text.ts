/** Numbers and bundles as Python prints them: scripts in the field parse `ray status`, so its spelling is a contract. */

/** `repr` of a float: `1.0`, `0.5`, `1e+16`, `1e-05`. */
export function pythonFloat(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const [digits = '', power = ''] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 16) {
    const plain = exponent < 0 ? value.toFixed(digits.replace(/[-.]/g, '').length - 1 - exponent) : String(value);
    return plain.includes('.') ? plain : `${plain}.0`;
  }
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** `repr` of a string, single quotes unless it holds one. */
function pythonString(value: string): string {
  const escaped = value.replace(/\\/g, '\\\\').replace(/\n/g, '\\n');
  return escaped.includes("'") && !escaped.includes('"') ? `"${escaped}"` : `'${escaped.replace(/'/g, "\\'")}'`;
}

/** A dictionary of floats in the order given. */
export function pythonBundle(entries: readonly (readonly [string, number])[]): string {
  return `{${entries.map(([name, amount]) => `${pythonString(name)}: ${pythonFloat(amount)}`).join(', ')}}`;
}

const units: readonly (readonly [string, number])[] = [
  ['TiB', 2 ** 40],
  ['GiB', 2 ** 30],
  ['MiB', 2 ** 20],
  ['KiB', 2 ** 10],
];

export function memoryText(bytes: number): string {
  for (const [suffix, size] of units) if (bytes >= size) return `${(bytes / size).toFixed(2)}${suffix}`;
  return `${Math.trunc(bytes)}B`;
}
