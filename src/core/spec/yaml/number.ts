/** Python turns no longer text into a decimal integer, nor an integer into longer text. */
const LONGEST = 4300;
const SAFE = BigInt(Number.MAX_SAFE_INTEGER);

const prefixes: Readonly<Record<number, RegExp>> = { 2: /^0b/i, 8: /^0o/i, 16: /^0x/i };
const digits: Readonly<Record<number, RegExp>> = { 2: /^[01]+$/, 8: /^[0-7]+$/, 10: /^[0-9]+$/, 16: /^[0-9a-f]+$/i };
const literal: Readonly<Record<number, string>> = { 2: '0b', 8: '0o', 10: '', 16: '0x' };

/** Python's `int(text, base)`, without underscores and digits beyond ASCII; undefined where it refuses. */
function parseInteger(text: string, base: 2 | 8 | 10 | 16): bigint | undefined {
  let rest = text.trim();
  const negative = rest.startsWith('-');
  if (negative || rest.startsWith('+')) rest = rest.slice(1);
  const prefix = prefixes[base];
  if (prefix !== undefined) rest = rest.replace(prefix, '');
  if (!(digits[base] as RegExp).test(rest)) return undefined;
  const value = BigInt(literal[base] + rest);
  return negative ? -value : value;
}

function splitSign(text: string): { sign: 1 | -1; rest: string } {
  const signed = text.startsWith('-') || text.startsWith('+');
  return { sign: text.startsWith('-') ? -1 : 1, rest: signed ? text.slice(1) : text };
}

/** The integer a scalar stands for: `12`, `-0x1F`, `0b11`, `017`, `1_000`, `1:30` (minutes and seconds). */
export function readInteger(text: string): number | bigint | undefined {
  const { sign, rest } = splitSign(text.replaceAll('_', ''));
  const value = rest.length > LONGEST ? undefined : readMagnitude(rest);
  if (value === undefined) return undefined;
  const signed = sign === -1 ? -value : value;
  return signed >= -SAFE && signed <= SAFE ? Number(signed) : signed;
}

function readMagnitude(text: string): bigint | undefined {
  if (text.startsWith('0b')) return parseInteger(text.slice(2), 2);
  if (text.startsWith('0x')) return parseInteger(text.slice(2), 16);
  if (text === '0') return 0n;
  if (text.startsWith('0')) return parseInteger(text, 8);
  let value = 0n;
  for (const part of text.split(':')) {
    const digit = parseInteger(part, 10);
    if (digit === undefined) return undefined;
    value = value * 60n + digit;
  }
  return value;
}

const floatForm = /^[-+]?(?:[0-9]+(?:\.[0-9]*)?(?:e[-+]?[0-9]+)?|\.[0-9]+(?:e[-+]?[0-9]+)?)$/;

function parseFloatText(text: string): number | undefined {
  const trimmed = text.trim();
  if (floatForm.test(trimmed)) return Number(trimmed);
  const word = /^([-+]?)(inf|infinity|nan)$/.exec(trimmed);
  if (word === null) return undefined;
  if (word[2] === 'nan') return Number.NaN;
  return word[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/** The number a float scalar stands for: `1.5`, `1.5e+3`, `.inf`, `-.inf`, `.nan`, `1:30.5`. */
export function readFloat(text: string): number | undefined {
  const { sign, rest } = splitSign(text.replaceAll('_', '').toLowerCase());
  if (rest === '.inf') return sign * Number.POSITIVE_INFINITY;
  if (rest === '.nan') return Number.NaN;
  if (!rest.includes(':')) {
    const value = parseFloatText(rest);
    return value === undefined ? undefined : sign * value;
  }
  let value = 0;
  let base = 1n;
  for (const part of rest.split(':').reverse()) {
    const digit = parseFloatText(part);
    const factor = Number(base);
    if (digit === undefined || factor === Number.POSITIVE_INFINITY) return undefined;
    value += digit * factor;
    base *= 60n;
  }
  return sign * value;
}
